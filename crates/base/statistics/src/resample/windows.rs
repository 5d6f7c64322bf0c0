//! Two sides, cut at the same times.
//!
//! The load that both sides share in a window cancels in their difference. Windows are long enough
//! for the differences of neighbouring windows to be independent.

use super::scheme::Timed;
use crate::{autocorrelation::slow_above, distribution::as_f64, stretch::stretch_of_differences};

/// For each side, where each window begins, and the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Windows(pub(crate) [Vec<usize>; 2]);

impl Windows {
    /// `None` if the sides have too little time in common, too different sizes, or too few windows.
    pub(crate) fn new(sides: [Timed<'_>; 2], influences: [&[f64]; 2]) -> Option<Self> {
        let smallest = Self::smallest(sides)?;
        let differences = smallest.differences(influences);
        smallest.joined(stretch_of_differences(&differences))
    }

    fn smallest(sides: [Timed<'_>; 2]) -> Option<Self> {
        let (first, second) = sides[0].started_s.zip(sides[1].started_s)?;
        let later = sides[1].offset_s - sides[0].offset_s;
        let second: Vec<f64> = second.iter().map(|start| start + later).collect();
        let starts = [first, &second];
        let (from, to) = (first.first()?.max(*second.first()?), first.last()?.min(*second.last()?));
        let counts = starts.map(|starts| starts.iter().filter(|at| (from..=to).contains(*at)).count());
        let is_common = |side: usize| as_f64(counts[side]) >= COMMON * as_f64(starts[side].len());
        if !is_common(0) || !is_common(1) || counts[0].max(counts[1]) > 2 * counts[0].min(counts[1]) {
            return None;
        }
        let number = (counts[0].min(counts[1]) / SAMPLES).min(MOST);
        let mut ends = [vec![0], vec![0]];
        for window in 1..number {
            let at = from + (to - from) * as_f64(window) / as_f64(number);
            let found = starts.map(|starts| starts.partition_point(|start| *start < at));
            let is_full = (0..2).all(|side| found[side] >= ends[side][ends[side].len() - 1] + LEAST);
            let is_followed = (0..2).all(|side| found[side] + LEAST <= starts[side].len());
            if is_full && is_followed {
                (0..2).for_each(|side| ends[side].push(found[side]));
            }
        }
        (0..2).for_each(|side| ends[side].push(starts[side].len()));
        (ends[0].len() > FEWEST_SMALLEST).then_some(Self(ends))
    }

    fn differences(&self, influences: [&[f64]; 2]) -> Vec<f64> {
        let mean = |side: usize, ends: &[usize]| {
            influences[side][ends[0]..ends[1]].iter().sum::<f64>() / as_f64(ends[1] - ends[0])
        };
        let [first, second] = &self.0;
        first
            .windows(2)
            .zip(second.windows(2))
            .map(|(first, second)| mean(1, second) - mean(0, first))
            .collect()
    }

    /// For each half of a window, first side first: the samples up to the quantile of all at
    /// `share`, and all. The median of each small window is subtracted first.
    pub(crate) fn counts_up_to_quantile(sides: [Timed<'_>; 2], share: f64) -> Option<Vec<(f64, f64)>> {
        let smallest = Self::smallest(sides)?;
        let rest = smallest.without_level(sides.map(|side| side.values_ms));
        let quantile = slow_above(&rest.concat(), share);
        let [ours, theirs] = rest.map(|rest| {
            rest.into_iter().map(|value| f64::from(u8::from(value <= quantile))).collect::<Vec<f64>>()
        });
        let differences = smallest.differences([&ours, &theirs]);
        let windows = smallest.joined(stretch_of_differences(&differences))?;
        let halves = |side: usize, is_below: &[f64]| {
            let half = |ends: &[usize]| (is_below[ends[0]..ends[1]].iter().sum(), as_f64(ends[1] - ends[0]));
            windows.0[side].windows(2).map(half).collect::<Vec<(f64, f64)>>()
        };
        Some([halves(0, &ours), halves(1, &theirs)].concat())
    }

    fn without_level(&self, series: [&[f64]; 2]) -> [Vec<f64>; 2] {
        let mut rest = series.map(<[f64]>::to_vec);
        let [first, second] = &self.0;
        for (first, second) in first.windows(2).zip(second.windows(2)) {
            let ends = [first, second];
            let halves = [0, 1].map(|side| &series[side][ends[side][0]..ends[side][1]]);
            let level = slow_above(&halves.concat(), 0.5);
            (0..2).for_each(|side| {
                rest[side][ends[side][0]..ends[side][1]].iter_mut().for_each(|value| *value -= level);
            });
        }
        rest
    }

    fn joined(self, neighbours: usize) -> Option<Self> {
        let number = (self.0[0].len() - 1) / neighbours;
        (number >= FEWEST).then(|| {
            let join = |ends: Vec<usize>| {
                let mut joined: Vec<usize> = (0..number).map(|window| ends[window * neighbours]).collect();
                joined.push(ends[ends.len() - 1]);
                joined
            };
            Self(self.0.map(join))
        })
    }
}

/// Of a side's samples, where both sides have some.
const COMMON: f64 = 0.9;

/// On average, and at least, of a side in the smallest window.
const SAMPLES: usize = 2;
const LEAST: usize = 1;

/// With fewer, the differences do not show how long they are correlated.
const FEWEST_SMALLEST: usize = 64;

const MOST: usize = 4096;

/// Eight windows have 256 permutations.
const FEWEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Synthetic;

    fn timed<'s>(values_ms: &'s [f64], started_s: &'s [f64]) -> Timed<'s> {
        Timed { values_ms, started_s: Some(started_s), offset_s: 0.0, step: None, length: 1 }
    }

    #[test]
    fn a_drift_of_both_sides_cancels() {
        let mut random = Synthetic::new(7);
        let at: Vec<f64> = (0..4000).map(f64::from).collect();
        let drift = random.autoregression(4000, 0.999);
        let mut side =
            || drift.iter().map(|drift| 50.0 + 5.0 * drift + random.uniform()).collect::<Vec<f64>>();
        let (first, second) = (side(), side());
        let alone = crate::independent_stretch(&first, None);
        let windows = Windows::new([timed(&first, &at), timed(&second, &at)], [&first, &second]).unwrap();
        assert!(alone > 1000 && windows.0[0].len() > 100, "{alone} {}", windows.0[0].len());
    }

    #[test]
    fn sides_of_other_minutes_have_no_windows() {
        let values = vec![1.0; 200];
        let at = |from: i32| (0..200).map(|i| f64::from(from + i)).collect::<Vec<f64>>();
        let found = |first: &[f64], second: &[f64]| {
            Windows::new([timed(&values, first), timed(&values[..second.len()], second)], [&values, &values])
        };
        assert_eq!(found(&at(0), &at(0)).unwrap().0[0].len(), 101);
        assert!(found(&at(0), &at(2)).is_some());
        assert_eq!((found(&at(0), &at(400)), found(&at(0), &at(100))), (None, None));
        let dated = |offset_s| {
            let at = at(0);
            let second = Timed { offset_s, ..timed(&values, &at) };
            Windows::new([timed(&values, &at), second], [&values, &values]).is_some()
        };
        assert_eq!([2.0, 400.0, -400.0].map(dated), [true, false, false]);
        let seldom: Vec<f64> = (0..80).map(|i| f64::from(i) * 2.5).collect();
        assert_eq!(found(&at(0), &seldom), None);
    }
}
