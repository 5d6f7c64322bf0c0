//! Writes SVG: shapes, text and the frame of a file. The file is always well-formed and small.

use std::fmt::Write;

use super::palette::{FONT, INK, MUTED, SURFACE};

pub(super) type Point = (f64, f64);

#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    pub(super) width: f64,
    pub(super) opacity: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(super) dashes: &'static str,
}

impl Stroke {
    pub(super) fn new(color: &'static str, width: f64) -> Self {
        Self { color, width, opacity: 1.0, dashes: "" }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) color: &'static str,
    pub(super) anchor: Anchor,
    pub(super) weight: u32,
    /// So that lines do not cross the text.
    pub(super) halo: bool,
}

impl Lettering {
    pub(super) fn new(size: f64) -> Self {
        Self { size, color: INK, anchor: Anchor::Start, weight: 400, halo: false }
    }

    pub(super) fn muted(size: f64) -> Self {
        Self { color: MUTED, ..Self::new(size) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug)]
pub(super) struct Canvas {
    body: String,
    height: f64,
}

impl Default for Canvas {
    fn default() -> Self {
        Self::of_height(HEIGHT)
    }
}

impl Canvas {
    pub(super) fn of_height(height: f64) -> Self {
        Self { body: String::new(), height }
    }

    /// [`Self::close`] ends it.
    pub(super) fn open(&mut self, class: &str) {
        let _ = writeln!(self.body, "<g class=\"{class}\">");
    }

    pub(super) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    pub(super) fn line(&mut self, points: &[Point], stroke: Stroke) {
        let path = path(points);
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"none\"{}/>", attributes(stroke));
        }
    }

    pub(super) fn area(&mut self, points: &[Point], color: &str, opacity: f64) {
        let path = path(points);
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{path}z\" fill=\"{color}\" fill-opacity=\"{opacity}\"/>");
        }
    }

    /// Left, top, right and bottom of each. Rectangles with a common edge leave no gap.
    pub(super) fn cells(&mut self, cells: &[[f64; 4]], color: &str) {
        if cells.is_empty() {
            return;
        }
        let mut path = String::new();
        for cell in cells {
            let [left, top, right, bottom] = cell.map(|edge| (edge * 10.0).round() / 10.0);
            let (left, right) = (short(left), short(right));
            // Edges, not sizes: rounding errors of summed sizes are visible as gaps.
            let _ = write!(path, "M{left} {}H{right}V{}H{left}z", short(top), short(bottom));
        }
        let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"{color}\" shape-rendering=\"crispEdges\"/>");
    }

    pub(super) fn dot(&mut self, (x, y): Point, radius: f64, fill: &str, rim: &str) {
        let _ = writeln!(
            self.body,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{rim}\" stroke-width=\"1.5\"/>",
            short(x),
            short(y),
            short(radius)
        );
    }

    pub(super) fn spots(&mut self, places: &[Point], diameter: f64, color: &str, opacity: f64) {
        let mut path = String::new();
        for (x, y) in places {
            // A line of zero length with round ends is a third as long as a circle element.
            let _ = write!(path, "M{} {}h0", short(*x), short(*y));
        }
        if !path.is_empty() {
            let _ = writeln!(
                self.body,
                "<path d=\"{path}\" stroke=\"{color}\" stroke-width=\"{}\" stroke-linecap=\"round\" \
                 stroke-opacity=\"{opacity}\"/>",
                short(diameter)
            );
        }
    }

    pub(super) fn crosses(&mut self, places: &[Point], size: f64, color: &str) {
        let half = size / 2.0;
        let stroke = |(x, y): &Point, rise: f64| {
            let (left, right) = (short(x - half), short(x + half));
            format!("M{left} {}L{right} {}", short(y + rise), short(y - rise))
        };
        let path: String =
            places.iter().flat_map(|place| [stroke(place, half), stroke(place, -half)]).collect();
        if !path.is_empty() {
            let _ = writeln!(
                self.body,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2.2\"/>"
            );
        }
    }

    /// The middle of the text is at the height of the point.
    pub(super) fn text(&mut self, (x, y): Point, text: &str, lettering: Lettering) {
        let Lettering { size, color, anchor, weight, halo } = lettering;
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if weight == 400 { String::new() } else { format!(" font-weight=\"{weight}\"") };
        // Some programs do not support dominant-baseline: the baseline is 0.35 of the size below.
        let place = format!(
            "x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}{weight}",
            short(x),
            short(y + 0.35 * size),
            short(size)
        );
        let text = escape(text);
        if halo {
            // Some programs do not support paint-order either, so the rim is a separate text.
            let _ = writeln!(
                self.body,
                "<text {place} aria-hidden=\"true\" fill=\"{SURFACE}\" stroke=\"{SURFACE}\" stroke-width=\"4\" \
                 stroke-linejoin=\"round\">{text}</text>"
            );
        }
        let _ = writeln!(self.body, "<text {place} fill=\"{color}\">{text}</text>");
    }

    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (title, description, body) = (escape(title), escape(description), self.body);
        let height = short(self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"{FONT}\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"{SURFACE}\"/>\n{body}</svg>\n"
        )
    }
}

pub(super) const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;

fn attributes(stroke: Stroke) -> String {
    let Stroke { color, width, opacity, dashes } = stroke;
    let opacity = if opacity < 1.0 { format!(" stroke-opacity=\"{opacity}\"") } else { String::new() };
    let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!(
        " stroke=\"{color}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{opacity}{dashes}",
        short(width)
    )
}

/// Characters that XML cannot hold become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // XML 1.0, section 2.2: of control characters only these three, and no U+FFFE and
            // U+FFFF.
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn short(value: f64) -> String {
    let value = (value * 10.0).round() / 10.0;
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

fn path(points: &[Point]) -> String {
    let drawable: Vec<Point> =
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let mut path = String::new();
    for (index, (x, y)) in simplified(&drawable).into_iter().enumerate() {
        let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, short(x), short(y));
    }
    path
}

/// The fewest points whose line stays within [`TOLERANCE`] (Douglas and Peucker, 1973).
fn simplified(points: &[Point]) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut is_kept = vec![false; points.len()];
    (is_kept[0], is_kept[points.len() - 1]) = (true, true);
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let between = (first + 1..last).map(|at| (at, distance(points[at], points[first], points[last])));
        let Some((at, furthest)) = between.max_by(|(_, a), (_, b)| a.total_cmp(b)) else { continue };
        if furthest > TOLERANCE {
            is_kept[at] = true;
            open.extend([(first, at), (at, last)]);
        }
    }
    points.iter().zip(is_kept).filter_map(|(&point, is_kept)| is_kept.then_some(point)).collect()
}

fn distance((x, y): Point, (from_x, from_y): Point, (to_x, to_y): Point) -> f64 {
    let (along_x, along_y) = (to_x - from_x, to_y - from_y);
    let length = along_x.hypot(along_y);
    if length == 0.0 {
        return (x - from_x).hypot(y - from_y);
    }
    let nearest = (((x - from_x) * along_x + (y - from_y) * along_y) / (length * length)).clamp(0.0, 1.0);
    (x - from_x - nearest * along_x).hypot(y - from_y - nearest * along_y)
}

const TOLERANCE: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(
            escape("</text><script>&\"'\u{1}\n"),
            "&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39;\u{fffd} "
        );
    }

    #[test]
    fn a_straight_line_is_two_points_and_a_corner_is_kept() {
        let straight: Vec<Point> = (0..=1000).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect();
        assert_eq!(path(&straight), "M0 0L1000 2000");
        assert_eq!(path(&[(0.0, 0.0), (5.0, 0.04), (10.0, 0.0), (10.0, 7.25)]), "M0 0L10 0L10 7.3");
    }

    #[test]
    fn a_number_that_is_none_is_not_drawn() {
        assert_eq!(path(&[(0.0, f64::NAN), (1.0, -0.01), (f64::INFINITY, 1.0)]), "M1 0");
    }

    #[test]
    fn cells_side_by_side_leave_no_gap() {
        let mut canvas = Canvas::default();
        canvas.cells(&[[0.06, 0.0, 3.33, 1.0], [3.33, 0.0, 6.58, 1.0]], "red");
        assert!(canvas.finish("", "").contains("M0.1 0H3.3V1H0.1zM3.3 0H6.6V1H3.3z"));
    }

    #[test]
    fn a_line_of_many_points_stays_small() {
        let sine: Vec<Point> = (0..100_000)
            .map(|i| f64::from(i) / 100_000.0)
            .map(|t| (900.0 * t, 200.0 * (t * 62.8).sin()))
            .collect();
        assert!(path(&sine).len() < 10_000);
    }
}
