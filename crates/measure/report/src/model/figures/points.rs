//! Points and marks of a scatter, thinned to what is visible.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scale;
use crate::text::rounded;

/// A class of points as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Points {
    /// Its name: short.
    pub name: String,
    /// How many points there are; more than are kept if many lie on one spot.
    pub count: u64,
    /// The x of each kept point, ascending.
    pub x: Vec<f64>,
    /// Its y.
    pub y: Vec<f64>,
}

impl Points {
    /// Keeps one point for each cell of a grid that is finer than a drawn point.
    pub(super) fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
        scales: (Scale, Scale),
    ) -> Self {
        let mut points: Vec<(f64, f64)> =
            points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let across = Cells::new(points.iter().map(|point| point.0), scales.0, ACROSS);
        let up = Cells::new(points.iter().map(|point| point.1), scales.1, UP);
        let mut taken = BTreeSet::new();
        let kept = points.iter().filter(|(x, y)| taken.insert((across.of(*x), up.of(*y))));
        let (x, y) = kept.map(|&(x, y)| (rounded(x, DIGITS), rounded(y, DIGITS))).unzip();
        Self { name: name.into(), count: points.len() as u64, x, y }
    }
}

/// Events without a height.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Marks {
    /// Their name: "errors".
    pub name: String,
    /// How many there are; more than are kept if many lie on one spot.
    pub count: u64,
    /// The x of each kept mark, ascending.
    pub x: Vec<f64>,
}

impl Marks {
    pub(super) fn new(name: impl Into<String>, at: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = at.into_iter().filter(|x| x.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        let count = all.len() as u64;
        let cells = Cells::new(all.iter().copied(), Scale::Share, ACROSS);
        all.dedup_by_key(|x| cells.of(*x));
        Self { name: name.into(), count, x: all.into_iter().map(|x| rounded(x, DIGITS)).collect() }
    }
}

struct Cells {
    low: f64,
    high: f64,
    scale: Scale,
    number: f64,
}

impl Cells {
    fn new(values: impl Iterator<Item = f64>, scale: Scale, number: f64) -> Self {
        let ends = values.map(|value| along(value, scale)).filter(|value| value.is_finite());
        let (low, high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        Self { low, high, scale, number }
    }

    /// 0 if a log scale cannot hold the value.
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of cells, and NaN becomes 0")]
    fn of(&self, value: f64) -> i64 {
        let along = along(value, self.scale).max(self.low);
        ((along - self.low) / (self.high - self.low) * self.number) as i64
    }
}

fn along(value: f64, scale: Scale) -> f64 {
    if scale == Scale::Log { value.ln() } else { value }
}

/// A chart on the page is about 1100 pixels wide and 330 high, and a point 3.
const ACROSS: f64 = 550.0;
const UP: f64 = 165.0;
const DIGITS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_one_spot_are_one_and_are_counted() {
        // 28 000 connects of 12 us: as many cells as there are across, and the last one at the end.
        let crowd = (0..28_000_u32).map(|i| (f64::from(i) / 27_999.0, 12.0));
        let points = Points::new("even", crowd, (Scale::Share, Scale::Log));
        assert_eq!((points.count, points.x.len()), (28_000, 551));
        assert!(points.x.is_sorted());
        assert_eq!((points.x[0], points.x[550]), (0.0, 1.0));
        // All points of a grid as fine as ours stay: 10 x 10.
        let grid = (0..100_u32).map(|i| (f64::from(i % 10), f64::from(i / 10)));
        assert_eq!(Points::new("grid", grid, (Scale::Linear, Scale::Linear)).x.len(), 100);
    }

    #[test]
    fn a_log_scale_keeps_what_lies_apart_on_it() {
        // On a linear scale to 10 000 us, 10 and 20 us are one spot.
        let times = [(0.0, 10.0), (0.0, 20.0), (0.0, 10_000.0), (0.0, 0.0), (0.0, f64::NAN)];
        let points = |scale| Points::new("times", times, (Scale::Share, scale));
        assert_eq!((points(Scale::Log).x.len(), points(Scale::Log).count), (3, 4));
        assert_eq!(points(Scale::Linear).x.len(), 2);
    }

    #[test]
    fn marks_are_thinned_and_counted() {
        let marks = Marks::new("errors", (0..10_000_u32).map(|i| 0.9 + 0.1 * f64::from(i) / 9999.0));
        assert_eq!((marks.count, marks.x.len()), (10_000, 551));
        assert_eq!(Marks::new("none", []).x.len(), 0);
    }
}
