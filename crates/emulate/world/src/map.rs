//! An SVG map of a world with its cities and links. Self-contained.

mod cities;
mod labels;
mod land;
mod legend;
mod links;
mod overlay;
mod projection;
mod style;

use std::fmt::Write as _;

pub use self::overlay::{Catchment, Overlay};
use self::{
    labels::Labels,
    legend::Legend,
    projection::{Point, Projection},
};
use crate::{Layout, geography::Place};

/// Options of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Width in CSS pixels, 300 to 4000. The font size is fixed, so a small map has fewer labels.
    pub width: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 1200 }
    }
}

/// Draws the world as an SVG document. With more than [`MOST_MESHED`] cities, only the links of the
/// file and of `overlay` are drawn.
pub fn svg(layout: &Layout, options: Options, overlay: &Overlay) -> String {
    let width = f64::from(options.width.clamp(300, 4000));
    let strokes = links::strokes(layout, overlay, MOST_MESHED);
    let is_south = |place: Place| place.lat < SOUTH;
    let is_antarctica_needed = layout.cities.iter().any(|city| is_south(city.place))
        || strokes.iter().flat_map(|stroke| stroke.arc(layout)).any(is_south);
    let projection = Projection::new(width, CAPTION_HEIGHT, if is_antarctica_needed { -90.0 } else { SOUTH });
    let dots = cities::dots(layout, overlay, &projection);

    let mut body = String::new();
    land::draw(&projection, &mut body);
    links::draw(&strokes, layout, &projection, &mut body);
    let mut labels = Labels::new(CAPTION_HEIGHT, width, projection.bottom());
    cities::draw(&dots, &mut labels, &mut body);
    let mut legend = Legend::new(width, projection.bottom() + LEGEND_GAP);
    legend.describe(layout, overlay, &strokes);
    let height = legend.bottom();
    body += &legend.finish();

    let title = escape(&caption(layout));
    let name = escape(&layout.name);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"world\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{name}: {title}\">\n<title>{name}: {title}</title>\n{}",
        style::SHEET
    );
    let _ = writeln!(svg, "<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>");
    let _ = writeln!(
        svg,
        "<text x=\"8\" y=\"18\"><tspan class=\"name\">{name}</tspan> <tspan class=\"muted\" dx=\"6\">{title}</tspan></text>"
    );
    svg + &body + "</svg>\n"
}

/// The outlines of land and large lakes: longitude (169 west to 191 east) and latitude in degrees.
pub fn coasts() -> impl Iterator<Item = &'static [(f64, f64)]> {
    land::shapes().iter().map(|shape| shape.coast.as_slice())
}

fn caption(layout: &Layout) -> String {
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let (cities, hosts) = (layout.cities.len(), layout.hosts.len());
    format!("{}, {}", plural(cities, "city", "cities"), plural(hosts, "host", "hosts"))
}

/// Control characters are not allowed in XML at all.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn path(points: &[Point]) -> String {
    let mut d = String::new();
    for (index, Point { x, y }) in points.iter().enumerate() {
        let _ = write!(d, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    d
}

/// 30 cities have 435 links, which are still distinguishable.
pub const MOST_MESHED: usize = 30;

/// South of Cape Horn. Antarctica is omitted if no city and no arc is there.
const SOUTH: f64 = -57.0;

const CAPTION_HEIGHT: f64 = 28.0;
const LEGEND_GAP: f64 = 12.0;

#[cfg(test)]
mod tests;
