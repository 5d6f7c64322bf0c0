//! A few amounts as bars from 0, each with its name and figure.

use super::{finish, headed, on};
use crate::{
    model::figures::{Bars, Figures},
    svg::{
        axis::Scale,
        canvas::{Anchor, Lettering, WIDTH},
        frame::{fitted, width},
        heading::MARGIN,
        palette::side,
    },
    text::latency,
};

pub(super) fn draw(figures: &Figures, panel: &Bars) -> Option<String> {
    let most = panel.bars.iter().map(|bar| bar.value).reduce(f64::max)?;
    let statement = if panel.sentence.is_empty() { &panel.title } else { &panel.sentence };
    let height = TOP + ROW * panel.bars.len() as f64 + 16.0;
    let what = format!("{}: {}", panel.title, panel.axis.text());
    let mut canvas = headed(figures, statement, &what, height);
    let names: Vec<String> = panel.bars.iter().map(|bar| fitted(&bar.label, SIZE, LONGEST)).collect();
    let left = MARGIN + names.iter().map(|name| width(name, SIZE)).fold(0.0, f64::max) + 12.0;
    let scale = Scale::Linear { low: 0.0, high: if most > 0.0 { most } else { 1.0 } };
    for ((bar, name), row) in panel.bars.iter().zip(&names).zip(0_u32..) {
        let middle = TOP + ROW * (f64::from(row) + 0.5);
        let lettering = Lettering { anchor: Anchor::End, ..Lettering::new(SIZE) };
        canvas.text((left - 12.0, middle), name, lettering);
        let least = if bar.value > 0.0 { 1.0 } else { 0.0 };
        let right = left + (scale.position(bar.value) * (WIDTH - FIGURE - left)).max(least);
        canvas.cells(&[[left, middle - 11.0, right, middle + 11.0]], side(0));
        let figure = format!("{} {}", latency(on(&panel.axis, bar.value)), panel.axis.unit);
        let figure = fitted(figure.trim_end(), SIZE, WIDTH - right - 12.0);
        canvas.text((right + 8.0, middle), &figure, Lettering::new(SIZE));
    }
    Some(finish(figures, canvas, statement, [panel.title.as_str()]))
}

const SIZE: f64 = 15.0;
const LONGEST: f64 = 320.0;
const TOP: f64 = 84.0;
const ROW: f64 = 34.0;
const FIGURE: f64 = 140.0;
