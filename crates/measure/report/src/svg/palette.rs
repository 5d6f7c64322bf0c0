//! Colours and the font: the light scheme of the page.

// circle: a stroke is a colour on a canvas, whose words have the palette's font.

use super::canvas::Stroke;

pub(super) const INK: &str = "#1c2024";
pub(super) const MUTED: &str = "#5d656f";
pub(super) const GRID: &str = "#e3e6ea";
pub(super) const SURFACE: &str = "#ffffff";
pub(super) const FAULT: &str = "#b3831a";
pub(super) const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

pub(super) fn side(index: usize) -> &'static str {
    SIDES[index % SIDES.len()]
}

pub(super) fn side_stroke(index: usize, width: f64) -> Stroke {
    let dashes = ["", "8 4", "2 4"][index / SIDES.len() % 3];
    Stroke { dashes, ..Stroke::new(side(index), width) }
}

pub(super) fn phase(name: &str) -> &'static str {
    match name {
        "dns" => "#56b4e9",
        "connect" => "#0072b2",
        "tls" => "#009e73",
        "quic" => "#d55e00",
        "send" => "#f0e442",
        "wait" => "#e69f00",
        "load" => "#cc79a7",
        _ => "#c3c8ce",
    }
}

/// Okabe and Ito, "Color universal design" (2008), without yellow: too light for a line on white.
const SIDES: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Growing darkness also works in grey.
pub(super) const HEAT: [&str; 8] =
    ["#dceaf6", "#bdd9ee", "#94c2e3", "#65a5d4", "#3c86c0", "#1f67a6", "#0d4783", "#06285a"];
