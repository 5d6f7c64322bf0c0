//! The search for stretches of intervals that differ from the rest, and its significance test.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{MOST_SHIFTS, SHUFFLES, SURE};
use crate::{
    autocorrelation::{autocovariances, centred},
    block_length::residual_block_length,
    distribution::as_f64,
    resample::draw::below,
};

/// A level for each interval, and its number of samples (above 0).
pub(super) struct Intervals {
    pub(super) weights: Vec<f64>,
    pub(super) levels: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: usize,
    end: usize,
    /// The parent module's statistic.
    gain: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Inside,
    /// A single shift.
    AtStart,
}

/// Ascending, each with its certainty.
pub(super) fn shifts(intervals: &Intervals, random: &mut Xoshiro256PlusPlus) -> Vec<(usize, f64)> {
    let all = intervals.levels.len();
    let mut bounds = vec![0, all];
    let mut parts = vec![(0, all)];
    // Each part yields two bounds at most, and all shifts beyond MOST_SHIFTS compete below.
    while let Some((start, end)) = parts.pop() {
        let part = intervals.part(start, end);
        let Some(stretch) = part.best(Where::Inside) else { continue };
        if part.sure(stretch, Where::Inside, random) >= SURE {
            let cuts = [start, start + stretch.start, start + stretch.end, end];
            parts.extend(cuts.windows(2).filter(|cut| cut[0] < cut[1]).map(|cut| (cut[0], cut[1])));
            bounds.extend(&cuts[1..3]);
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    weed(intervals, bounds, random)
}

fn weed(intervals: &Intervals, mut bounds: Vec<usize>, random: &mut Xoshiro256PlusPlus) -> Vec<(usize, f64)> {
    loop {
        let tested: Vec<(f64, f64)> = bounds
            .windows(3)
            .map(|around| {
                let part = intervals.part(around[0], around[2]);
                let stretch = part.stretch(0, around[1] - around[0]);
                (stretch.gain, part.sure(stretch, Where::AtStart, random))
            })
            .collect();
        let doubtful = tested.iter().any(|test| test.1 < SURE);
        if !doubtful && tested.len() <= MOST_SHIFTS {
            return bounds[1..].iter().zip(&tested).map(|(&at, test)| (at, test.1)).collect();
        }
        let candidates = tested.iter().enumerate().filter(|(_, test)| !doubtful || test.1 < SURE);
        let Some((least, _)) = candidates.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { return Vec::new() };
        bounds.remove(least + 1);
    }
}

impl Intervals {
    fn part(&self, start: usize, end: usize) -> Self {
        Self { weights: self.weights[start..end].to_vec(), levels: self.levels[start..end].to_vec() }
    }

    /// Sums of w and of w x (level - mean) before each interval, and before the end.
    fn sums(&self) -> (Vec<f64>, Vec<f64>) {
        let total: f64 = self.weights.iter().sum();
        let mean = self.weights.iter().zip(&self.levels).map(|(w, level)| w * level).sum::<f64>() / total;
        let (mut weights, mut excess) = (vec![0.0], vec![0.0]);
        let (mut weight_so_far, mut excess_so_far) = (0.0, 0.0);
        for (weight, level) in self.weights.iter().zip(&self.levels) {
            weight_so_far += weight;
            excess_so_far += weight * (level - mean);
            weights.push(weight_so_far);
            excess.push(excess_so_far);
        }
        (weights, excess)
    }

    /// With at least [`SHORTEST`] intervals in it and on each side of it that has any.
    fn best(&self, place: Where) -> Option<Stretch> {
        let n = self.levels.len();
        let sums = self.sums();
        let mut best: Option<Stretch> = None;
        let starts = if place == Where::AtStart { 0..1 } else { 0..n };
        for start in starts.filter(|&start| start == 0 || start >= SHORTEST) {
            for end in start + SHORTEST..=n {
                let touches_both = start == 0 && end == n;
                if touches_both || (end < n && n - end < SHORTEST) {
                    continue;
                }
                let gain = gain(&sums, start, end);
                if best.is_none_or(|best| gain > best.gain) {
                    best = Some(Stretch { start, end, gain });
                }
            }
        }
        best
    }

    fn stretch(&self, start: usize, end: usize) -> Stretch {
        Stretch { start, end, gain: gain(&self.sums(), start, end) }
    }

    /// Stops when [`SURE`] can no longer be reached, and returns the certainty so far.
    fn sure(&self, stretch: Stretch, place: Where, random: &mut Xoshiro256PlusPlus) -> f64 {
        let length = self.dependence(stretch);
        let all = f64::from(SHUFFLES + 1);
        let mut reached = 1.0;
        for _ in 0..SHUFFLES {
            let shuffled = self.shuffled(length, random);
            // Another order of the same blocks can be the same series: then rounding must not
            // decide.
            if shuffled.best(place).is_none_or(|best| best.gain >= stretch.gain * (1.0 - 1e-9)) {
                reached += 1.0;
                if 1.0 - reached / all < SURE {
                    break;
                }
            }
        }
        1.0 - reached / all
    }

    /// From the residuals when the stretch and the rest have separate means. If a further stretch
    /// in each part removes all dependence, it was a second shift, not dependence.
    fn dependence(&self, stretch: Stretch) -> usize {
        let n = self.levels.len();
        let mut bounds = vec![0, stretch.start, stretch.end, n];
        let length = residual_block_length(&self.residuals(&bounds));
        for (start, end) in [(0, stretch.start), (stretch.start, stretch.end), (stretch.end, n)] {
            if start < end
                && let Some(inner) = self.part(start, end).best(Where::Inside)
            {
                bounds.extend([start + inner.start, start + inner.end]);
            }
        }
        bounds.sort_unstable();
        let rest = self.residuals(&bounds);
        if residual_block_length(&rest) == 1 && is_white(rest) { 1 } else { length }
    }

    /// Scaled to equal variance.
    fn residuals(&self, bounds: &[usize]) -> Vec<f64> {
        let mut residuals = Vec::with_capacity(self.levels.len());
        for bound in bounds.windows(2) {
            let part = self.part(bound[0], bound[1]);
            let total: f64 = part.weights.iter().sum();
            let mean = part.weights.iter().zip(&part.levels).map(|(w, level)| w * level).sum::<f64>() / total;
            residuals
                .extend(part.weights.iter().zip(&part.levels).map(|(w, level)| (level - mean) * w.sqrt()));
        }
        residuals
    }

    fn shuffled(&self, length: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let n = self.levels.len();
        let offset = below(n, random);
        let mut blocks: Vec<usize> = (0..n).step_by(length).collect();
        for last in (1..blocks.len()).rev() {
            blocks.swap(last, below(last + 1, random));
        }
        let order =
            blocks.iter().flat_map(|&block| block..(block + length).min(n)).map(|at| (at + offset) % n);
        let (mut weights, mut levels) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for index in order {
            weights.push(self.weights[index]);
            levels.push(self.levels[index]);
        }
        Self { weights, levels }
    }
}

fn gain((weights, excess): &(Vec<f64>, Vec<f64>), start: usize, end: usize) -> f64 {
    let all = weights[weights.len() - 1];
    let weight = weights[end] - weights[start];
    (excess[end] - excess[start]).powi(2) * all / (weight * (all - weight))
}

/// Whether the first [`NEAR`] autocorrelations are 0 on average, within one standard error.
fn is_white(mut series: Vec<f64>) -> bool {
    centred(&mut series);
    let mut covariances = autocovariances(&series);
    let total: f64 = (1..=NEAR).map(|lag| covariances.at(lag)).sum();
    total / as_f64(NEAR) <= covariances.at(0) / (as_f64(NEAR * series.len())).sqrt()
}

const NEAR: usize = 4;

const SHORTEST: usize = 2;
