//! Text inside a drawing: places each label where it covers neither a line nor another label.

use super::{
    canvas::{Canvas, Lettering, Point, Stroke},
    frame::{Frame, fitted, width},
    palette::MUTED,
};

#[derive(Debug)]
pub(super) struct Labels<'f> {
    frame: &'f Frame,
    taken: Vec<Area>,
    obstacles: Vec<Point>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    pub(super) dot: Option<&'static str>,
    pub(super) is_muted: bool,
}

impl<'f> Labels<'f> {
    pub(super) fn new(frame: &'f Frame, lines: &[Vec<Point>]) -> Self {
        Self { frame, taken: Vec::new(), obstacles: lines.iter().flat_map(|line| dense(line)).collect() }
    }

    pub(super) fn keep_off(&mut self, (x, y): Point, radius: f64) {
        self.taken.push(Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
    }

    /// Without a free position the text is left out. The distance from the lines `others` is
    /// larger, so that it is not mistaken for their label.
    pub(super) fn place(
        &mut self,
        canvas: &mut Canvas,
        text: &str,
        anchors: &[Point],
        look: Look,
        others: &[Point],
    ) {
        let dot = if look.dot.is_some() { DOT } else { 0.0 };
        let text = &fitted(text, SIZE, (self.frame.right - self.frame.left) / 2.0 - dot);
        let width = width(text, SIZE) + dot;
        let distances: &[f64] = if anchors.len() == 1 { &[9.0, 24.0, 42.0] } else { &[9.0] };
        let mut best: Option<(f64, Point, Area)> = None;
        for (&anchor, order) in anchors.iter().zip(0_u32..) {
            for (area, nearness) in around(anchor, width, distances).zip(0_u32..) {
                let Some(hits) = self.hits(&area, others) else { continue };
                // Crossing a line is worse than any anchor or distance.
                let cost = f64::from(hits) * 1000.0 + f64::from(order) + f64::from(nearness) / 100.0;
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, anchor, area));
                }
            }
        }
        let Some((_, anchor, area)) = best else { return };
        self.taken.push(area);
        if anchors.len() == 1 {
            lead(canvas, anchor, &area);
        }
        write(canvas, text, (area.left, f64::midpoint(area.top, area.bottom)), look);
    }

    /// `None` if the label does not fit.
    fn hits(&self, area: &Area, others: &[Point]) -> Option<u32> {
        let is_inside =
            self.frame.holds((area.left, area.top)) && self.frame.holds((area.right, area.bottom));
        if !is_inside || self.taken.iter().any(|taken| taken.overlaps(area)) {
            return None;
        }
        let within = |points: &[Point], margin: f64| {
            points.iter().filter(|point| area.is_near(**point, margin)).count()
        };
        u32::try_from(within(&self.obstacles, 4.0) + within(others, 16.0)).ok()
    }
}

/// Counts names that do not fit into the height of the frame.
pub(super) fn end_labels(
    canvas: &mut Canvas,
    frame: &Frame,
    ends: &[(f64, String, Option<&'static str>)],
    edge: f64,
) {
    let line = SIZE * 1.25;
    let mut order: Vec<(f64, String, Look)> = ends
        .iter()
        .map(|(height, text, dot)| (*height, text.clone(), Look { dot: *dot, is_muted: false }))
        .collect();
    order.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let rows = whole((frame.bottom - frame.top) / line) + 1;
    if order.len() > rows {
        let left_out = order.len() - (rows - 1);
        order.truncate(rows - 1);
        order.push((frame.bottom, format!("{left_out} more"), Look { dot: None, is_muted: true }));
    }
    let heights: Vec<f64> = order.iter().map(|(height, ..)| *height).collect();
    let left = frame.right + 10.0;
    for ((_, text, look), height) in order.into_iter().zip(apart(&heights, line, frame.top, frame.bottom)) {
        let dot = if look.dot.is_some() { DOT } else { 0.0 };
        write(canvas, &fitted(&text, SIZE, edge - left - dot), (left, height), look);
    }
}

fn whole(number: f64) -> usize {
    (1..1000_u32).take_while(|&whole| f64::from(whole) <= number).count()
}

fn apart(heights: &[f64], line: f64, top: f64, bottom: f64) -> Vec<f64> {
    let within = |middle: f64, size: f64| {
        let half = (size - 1.0) / 2.0 * line;
        (middle.min(bottom - half).max(top + half), size)
    };
    let mut groups: Vec<(f64, f64)> = Vec::new();
    for &height in heights {
        let mut group = within(height, 1.0);
        while let Some(&(middle, size)) = groups.last() {
            if group.0 - middle >= (group.1 + size) / 2.0 * line {
                break;
            }
            groups.pop();
            let both = group.1 + size;
            group = within((group.0 * group.1 + middle * size) / both, both);
        }
        groups.push(group);
    }
    let members = |(middle, size): (f64, f64)| {
        (0..1000_u32)
            .map(f64::from)
            .take_while(move |&i| i < size)
            .map(move |i| middle + (i - (size - 1.0) / 2.0) * line)
    };
    groups.into_iter().flat_map(members).collect()
}

pub(super) fn dense(line: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = line.first().copied().into_iter().collect();
    for pair in line.windows(2) {
        let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
        let length = (to_x - x).hypot(to_y - y);
        let last = points.last().copied().unwrap_or((x, y));
        if (to_x - last.0).hypot(to_y - last.1) < STEP {
            continue;
        }
        let steps = (length / STEP).clamp(1.0, 1000.0).ceil();
        points.extend((1..=1000_u32).map(f64::from).take_while(|&i| i <= steps).map(|i| {
            let along = i / steps;
            (x + along * (to_x - x), y + along * (to_y - y))
        }));
    }
    points
}

pub(super) fn write(canvas: &mut Canvas, text: &str, (x, y): Point, look: Look) {
    let lettering = if look.is_muted { Lettering::muted(SIZE) } else { Lettering::new(SIZE) };
    let mut start = x;
    if let Some(color) = look.dot {
        canvas.dot((x + 5.0, y), 4.5, color, color);
        start += DOT;
    }
    canvas.text((start, y), text, Lettering { halo: true, ..lettering });
}

#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_near(&self, (x, y): Point, margin: f64) -> bool {
        let across = x > self.left - margin && x < self.right + margin;
        across && y > self.top - margin && y < self.bottom + margin
    }
}

/// The best first: right, above and below, left, then the corners.
fn around((x, y): Point, width: f64, distances: &[f64]) -> impl Iterator<Item = Area> {
    let height = SIZE * 1.3;
    distances.iter().flat_map(move |gap| {
        let (right, center, left) = (x + gap, x - width / 2.0, x - gap - width);
        let (above, middle, below) = (y - gap - height, y - height / 2.0, y + gap);
        let places = [
            (right, middle),
            (center, above),
            (center, below),
            (left, middle),
            (right, above),
            (right, below),
            (left, above),
            (left, below),
        ];
        places.map(|(left, top)| Area { left, top, right: left + width, bottom: top + height })
    })
}

fn lead(canvas: &mut Canvas, (x, y): Point, area: &Area) {
    let end = (x.clamp(area.left, area.right), y.clamp(area.top, area.bottom));
    if (end.0 - x).hypot(end.1 - y) >= 16.0 {
        canvas.line(&[(x, y), end], Stroke::new(MUTED, 1.0));
    }
}

const SIZE: f64 = 15.0;
const DOT: f64 = 15.0;
const STEP: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::axis::Scale;

    #[test]
    fn labels_that_meet_share_their_middle() {
        assert_eq!(apart(&[50.0, 100.0], 20.0, 0.0, 200.0), [50.0, 100.0]);
        assert_eq!(apart(&[50.0, 50.0], 20.0, 0.0, 200.0), [40.0, 60.0]);
        assert_eq!(apart(&[195.0, 200.0], 20.0, 0.0, 200.0), [180.0, 200.0]);
    }

    #[test]
    fn names_without_room_are_counted() {
        let scale = Scale::Linear { low: 0.0, high: 1.0 };
        // 50/18.75 is 2.7: two lines between, so three names.
        let frame = Frame { left: 0.0, top: 0.0, right: 400.0, bottom: 50.0, x: scale, y: scale };
        let ends: Vec<_> = (0..5_u32).map(|i| (10.0 * f64::from(i), format!("n{i}"), None)).collect();
        let mut canvas = Canvas::default();
        end_labels(&mut canvas, &frame, &ends, 500.0);
        let svg = canvas.finish("", "");
        assert!(svg.contains(">n1<") && svg.contains(">3 more<") && !svg.contains(">n2<"), "{svg}");
    }

    #[test]
    fn a_label_keeps_off_a_dot() {
        let scale = Scale::Linear { low: 0.0, high: 1.0 };
        let frame = Frame { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0, x: scale, y: scale };
        let mut canvas = Canvas::default();
        let mut labels = Labels::new(&frame, &[]);
        labels.keep_off((120.0, 150.0), 5.0);
        labels.place(&mut canvas, "p50", &[(100.0, 150.0)], Look::default(), &[]);
        assert!(canvas.finish("", "").contains("y=\"136.5\""));
    }

    #[test]
    fn a_label_keeps_off_the_line() {
        let scale = Scale::Linear { low: 0.0, high: 1.0 };
        let frame = Frame { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0, x: scale, y: scale };
        let line = vec![(100.0, 150.0), (400.0, 150.0)];
        let mut canvas = Canvas::default();
        Labels::new(&frame, &[line]).place(&mut canvas, "p50", &[(100.0, 150.0)], Look::default(), &[]);
        let svg = canvas.finish("", "");
        // Above by the gap of 9 and half its height of 19.5: 131.25, and 0.35 x 15 down to the base
        // of the text.
        assert!(svg.contains("y=\"136.5\""), "{svg}");
    }
}
