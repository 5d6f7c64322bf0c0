//! Confidence bands: filled where both ends are known, paler where the samples leave an end without
//! a bound.

use super::{
    canvas::{Canvas, Stroke},
    frame::Frame,
};
use crate::model::Ci;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Along {
    X,
    Y,
}

pub(super) fn draw_band(
    canvas: &mut Canvas,
    frame: &Frame,
    intervals: &[(f64, Ci)],
    along: Along,
    color: &str,
) {
    let place = |position: f64, end: f64| match along {
        Along::X => (end, position),
        Along::Y => (position, end),
    };
    for (run, open) in runs(intervals) {
        let end = |of: usize, edge: f64| {
            run.iter()
                .map(move |(position, ci)| (*position, if open[of] { edge } else { ci[of].unwrap_or(edge) }))
        };
        let lower = end(0, -FAR).map(|(position, end)| place(position, end));
        let upper: Vec<_> = end(1, FAR).map(|(position, end)| place(position, end)).collect();
        let opacity = if open == [false; 2] { 0.2 } else { 0.07 };
        frame.area(canvas, lower.chain(upper.into_iter().rev()), color, opacity);
    }
}

/// Dotted where fewer than 10 samples lie beyond. Points ascend in `share_of`.
pub(super) fn draw_thinning(
    canvas: &mut Canvas,
    frame: &Frame,
    line: Vec<(f64, f64)>,
    share_of: impl Fn((f64, f64)) -> f64,
    thin_from: f64,
    stroke: Stroke,
) {
    let after = line.partition_point(|&point| share_of(point) < thin_from);
    let (Some(&before), Some(&next)) = (after.checked_sub(1).and_then(|at| line.get(at)), line.get(after))
    else {
        let dashes = if after == 0 { DOTTED } else { stroke.dashes };
        return frame.line(canvas, line, Stroke { dashes, ..stroke });
    };
    let (from, to) = (share_of(before), share_of(next));
    let part = if to > from { (thin_from - from) / (to - from) } else { 0.0 };
    let middle = (before.0 + part * (next.0 - before.0), before.1 + part * (next.1 - before.1));
    frame.line(canvas, line[..after].iter().copied().chain([middle]), stroke);
    let tail = std::iter::once(middle).chain(line[after..].iter().copied());
    frame.line(canvas, tail, Stroke { dashes: DOTTED, ..stroke });
}

pub(super) const THIN_LINE: &str = "~ dotted: fewer than 10 samples beyond";
const DOTTED: &str = "3 4";

type Run<'i> = (&'i [(f64, Ci)], [bool; 2]);

pub(super) fn note(mut intervals: impl Iterator<Item = Ci>) -> &'static str {
    if intervals.any(|ci| ci.contains(&None)) { "pale: the samples set no bound" } else { "" }
}

/// Open runs include their neighbours, to leave no gap.
fn runs(intervals: &[(f64, Ci)]) -> Vec<Run<'_>> {
    let open = |(_, ci): &(f64, Ci)| ci.map(|end| end.is_none());
    let mut runs = Vec::new();
    let mut start = 0;
    for run in intervals.chunk_by(|a, b| open(a) == open(b)) {
        let end = start + run.len();
        let open = open(&run[0]);
        let reaches = usize::from(open != [false; 2]);
        runs.push((&intervals[start.saturating_sub(reaches)..(end + reaches).min(intervals.len())], open));
        start = end;
    }
    runs
}

const FAR: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_split_where_it_loses_an_end() {
        let closed = |position: f64| (position, [Some(1.0), Some(2.0)]);
        let open = |position: f64| (position, [Some(1.0), None]);
        let intervals = [closed(0.0), closed(1.0), open(2.0), open(3.0)];
        let runs = runs(&intervals);
        assert_eq!(runs[0], (&intervals[..2], [false, false]));
        assert_eq!(runs[1], (&intervals[1..], [false, true]));
    }
}
