//! A line of a chart, thinned to what is visible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::rounded;

/// A line as columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Its name, shown where it ends: there is room for twelve letters.
    pub name: String,
    /// Ascending.
    pub x: Vec<f64>,
    /// The value at each; null where the line has a gap.
    pub y: Vec<Option<f64>>,
    /// Its look.
    pub look: Look,
}

/// The look of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// From point to point.
    Solid,
    /// From point to point in dashes: for computed values and for comparisons.
    Dashed,
    /// Each value holds until the next one: means and counts of intervals.
    Steps,
    /// A cross at each point and no line: measured values that are not to be trusted. A line of the same name has the
    /// same colour.
    Crosses,
}

impl Line {
    /// A line through points, in any order. A missing value (`None` or not finite) makes a gap;
    /// more points than [`COLUMNS`] can show are thinned to the same line.
    pub fn new<V: Into<Option<f64>>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, V)>,
    ) -> Self {
        let finite = |(x, y): (f64, V)| (x, y.into().filter(|y| y.is_finite()));
        let mut points: Vec<Point> = points.into_iter().filter(|(x, _)| x.is_finite()).map(finite).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (x, y) = thinned(&points, COLUMNS)
            .into_iter()
            .map(|(x, y)| (rounded(x, X_DIGITS), y.map(|y| rounded(y, Y_DIGITS))))
            .unzip();
        Self { name: name.into(), x, y, look: Look::Solid }
    }

    /// The values of consecutive intervals, the first one from `start` on, as steps.
    pub fn steps(
        name: impl Into<String>,
        start: f64,
        interval: f64,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let mut points: Vec<_> =
            (0_u32..).zip(values).map(|(i, value)| (start + f64::from(i) * interval, value)).collect();
        // The last value holds for its interval too.
        points.extend(points.last().map(|&(x, value)| (x + interval, value)));
        Self { look: Look::Steps, ..Self::new(name, points) }
    }

    /// The same in dashes: for computed values and for comparisons.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { look: Look::Dashed, ..self }
    }

    /// The same as crosses without a line: for measured values that are not to be trusted.
    #[must_use]
    pub fn crosses(self) -> Self {
        Self { look: Look::Crosses, ..self }
    }

    pub(crate) fn thinned(&self, columns: f64) -> Self {
        let points: Vec<Point> = self.x.iter().copied().zip(self.y.iter().copied()).collect();
        let (x, y) = thinned(&points, columns).into_iter().unzip();
        Self { x, y, name: self.name.clone(), look: self.look }
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.x.iter().zip(&self.y).filter_map(|(&x, &y)| Some((x, y?)))
    }
}

type Point = (f64, Option<f64>);

/// M4 (Jugel et al., VLDB 2014): keeps the first, last, minimum and maximum of each column, which
/// draw the same line. A column with a gap keeps one gap.
fn thinned(points: &[Point], columns: f64) -> Vec<Point> {
    let (Some((low, _)), Some((high, _))) = (points.first(), points.last()) else { return Vec::new() };
    let column = |x: f64| ((x - low) / (high - low) * columns).floor();
    let chunks = points.chunk_by(|(a, _), (b, _)| column(*a) == column(*b));
    chunks.flat_map(|chunk| kept(chunk).into_iter().map(|at| chunk[at])).collect()
}

fn kept(column: &[Point]) -> Vec<usize> {
    let by_value =
        |&a: &usize, &b: &usize| column[a].1.partial_cmp(&column[b].1).unwrap_or(std::cmp::Ordering::Equal);
    let there = || (0..column.len()).filter(|&at| column[at].1.is_some());
    let gap = column.iter().position(|(_, y)| y.is_none());
    let ends = [Some(0), column.len().checked_sub(1)];
    let mut kept: Vec<usize> =
        ends.into_iter().chain([there().min_by(by_value), there().max_by(by_value), gap]).flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The page is at most 1280 pixels wide, and its charts have margins.
const COLUMNS: f64 = 1000.0;
/// A millisecond of a run of hours.
const X_DIGITS: usize = 8;
const Y_DIGITS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_million_points_keeps_its_peaks_and_its_gap() {
        let value = |i: u32| match i {
            123_456 => Some(9.0),
            500_000..=500_100 => None,
            700_001 => Some(-3.0),
            _ => Some(f64::from(i % 7) / 7.0),
        };
        let line = Line::new("noise", (0..1_000_000_u32).map(|i| (f64::from(i) / 1000.0, value(i))));
        assert!(line.x.len() <= 4 * 1000 + 1 + 1, "{}", line.x.len());
        assert!(line.x.is_sorted());
        let at = |wanted: f64| line.x[line.y.iter().position(|&y| y == Some(wanted)).unwrap()];
        assert_eq!((at(9.0), at(-3.0)), (123.456, 700.001));
        let gaps: Vec<_> = line.x.iter().zip(&line.y).filter(|(_, y)| y.is_none()).collect();
        assert_eq!(gaps, [(&500.0, &None)]);
        assert_eq!((line.x.first(), line.x.last()), (Some(&0.0), Some(&999.999)));
    }

    #[test]
    fn a_line_that_is_short_is_kept_as_it_is() {
        let line = Line::new("three", [(2.0, 20.0), (0.0, 1.0 / 3.0), (1.0, f64::NAN), (f64::NAN, 5.0)]);
        assert_eq!(line.x, [0.0, 1.0, 2.0]);
        assert_eq!(line.y, [Some(0.333_333), None, Some(20.0)]);
        assert_eq!(Line::new("none", [] as [(f64, f64); 0]).x.len(), 0);
        assert_eq!(Line::new("upright", [(1.0, 1.0), (1.0, 2.0)]).y.len(), 2);
    }

    #[test]
    fn the_last_step_is_as_long_as_the_others() {
        let line = Line::steps("arrived", 10.0, 0.5, [1.0, 2.0]);
        assert_eq!((line.x, line.look), (vec![10.0, 10.5, 11.0], Look::Steps));
        assert_eq!(line.y, [Some(1.0), Some(2.0), Some(2.0)]);
    }
}
