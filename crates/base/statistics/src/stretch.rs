//! Determines from a series how long a stretch of time must be for the next one to be independent of it.
//!
//! The series is replaced by the means of its pairs, repeatedly (the blocking of Flyvbjerg and Petersen,
//! "Error estimates on averages of correlated data", 1989). While samples are correlated with their
//! predecessors, so are the means of blocks. Once blocks of L samples are longer than the correlation time,
//! the correlation r of neighbouring blocks falls like 1/L; so stretches of 32 r L samples have a correlation
//! of 1/32, and a variance that is 6 % too small. L is the longest block for which r is significant; if it is
//! below 1/32 there, those blocks suffice. If r is still large there, it does not follow 1/L yet, and
//! stretches of [`ROOM`] blocks are the limit of the extrapolation. For AR(0.8) and 4000 samples that is
//! about 90 samples, ten times its correlation time of 9.
//!
//! Politis and White's block length, which minimises the error of a variance, is a few times shorter: right
//! for an interval of thousands of blocks, and too short to call two blocks independent, which a permutation
//! requires.
//!
//! The series contains the contribution of each sample to a statistic, in milliseconds. Weak correlation that
//! adds less than 5 % to the variance of the statistic is ignored: a drift of 0.3 ms does not matter between
//! requests that differ by 80 ms.

use crate::{
    autocorrelation::{centred, slow_above},
    distribution::{as_f64, floor},
    resample::poisson,
};

/// The number of samples in a stretch that is independent of the next: 1 if samples look independent. The
/// series must be in the order of time; the result is up to n for a series whose correlation never ends.
/// `step` is the first sample after a known change of level, which is removed first.
///
/// A heavy tail would drown the covariances of the values themselves, so these are cut at their 5th and 95th
/// percentile; clusters of the slowest tenth and hundredth count separately, because they move tail
/// percentiles and `E[max]` even if all other samples are independent. Fewer than 20 samples give 1.
/// Independent samples are judged dependent in about 5 % of cases, and then have stretches of [`ROOM`]
/// samples, which costs little. Values must be valid for a [`crate::Distribution`].
pub fn independent_stretch(in_time_ms: &[f64], step: Option<usize>) -> usize {
    stretch_of_sum(in_time_ms, TRIMMED, step)
}

/// The same for a sum of contributions. `trimmed` is the share that is cut off at the upper end.
pub(crate) fn stretch_of_sum(influence: &[f64], trimmed: f64, step: Option<usize>) -> usize {
    let whole = longest(influence, trimmed, SINGLE);
    match step.filter(|_| whole > 1) {
        Some(step) => whole.min(longest(&without_step(influence, step, median), trimmed, SINGLE)),
        None => whole,
    }
}

/// A weaker correlation counts, since the differences are likely to depend on time.
pub(crate) fn stretch_of_differences(differences: &[f64]) -> usize {
    longest(differences, TRIMMED, DIFFERENCES)
}

/// The same for a share of samples, from a series of zeros and ones.
pub(crate) fn stretch_of_share(is_counted: &[f64], step: Option<usize>) -> usize {
    let n = is_counted.len();
    if n < FEWEST {
        return 1;
    }
    let ones: f64 = is_counted.iter().sum();
    let flip = ones > as_f64(n) / 2.0;
    let rare: Vec<f64> = is_counted.iter().map(|&one| if flip { 1.0 - one } else { one }).collect();
    let of = |series: &[f64]| {
        let found = stretch_of(series.to_vec(), SINGLE, variance(series));
        found.max(if comes_together(&rare) { stretch_of(series.to_vec(), 0.0, 0.0) } else { 0.0 })
    };
    let whole = of(&rare);
    let found = match step.filter(|_| whole > 1.0) {
        Some(step) => whole.min(of(&without_step(&rare, step, mean))),
        None => whole,
    };
    floor(found.ceil()).clamp(1, n)
}

fn longest(series: &[f64], trimmed: f64, least: f64) -> usize {
    let n = series.len();
    if n < FEWEST {
        return 1;
    }
    let all = variance(series);
    let (low, high) = (slow_above(series, TRIMMED), slow_above(series, 1.0 - trimmed));
    let mut body: Vec<f64> = series.iter().map(|value| value.clamp(low, high.max(low))).collect();
    // Strong correlation of neighbours extends to the few slow samples, which are too few to show
    // it.
    let is_strong = successive(&mut body).0 > STRONG;
    let mut longest = stretch_of(body, least, if is_strong { 0.0 } else { all });
    for share in SLOW {
        let threshold = slow_above(series, share);
        let beyond: Vec<f64> = series.iter().map(|value| (value - threshold).max(0.0)).collect();
        let is_slow: Vec<f64> = beyond.iter().map(|&beyond| f64::from(u8::from(beyond > 0.0))).collect();
        if variance(&beyond) > MATERIAL * all && comes_together(&is_slow) {
            longest = longest.max(stretch_of(is_slow, 0.0, 0.0));
        }
    }
    floor(longest.ceil()).clamp(1, n)
}

fn without_step(series: &[f64], step: usize, level: fn(&[f64]) -> f64) -> Vec<f64> {
    let (before, after) = series.split_at(step.min(series.len()));
    let part = |part: &[f64]| {
        let level = if part.is_empty() { 0.0 } else { level(part) };
        part.iter().map(move |value| value - level).collect::<Vec<f64>>()
    };
    [part(before), part(after)].concat()
}

fn median(part: &[f64]) -> f64 {
    slow_above(part, 0.5)
}

fn mean(part: &[f64]) -> f64 {
    part.iter().sum::<f64>() / as_f64(part.len())
}

fn variance(series: &[f64]) -> f64 {
    let mean = mean(series);
    series.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / as_f64(series.len())
}

/// 0 if single samples are not correlated. `least` is in standard errors; `all` is the variance of
/// a sample.
fn stretch_of(mut series: Vec<f64>, least: f64, all: f64) -> f64 {
    let (mut length, mut stretch, mut level, mut missed) = (1.0, 0.0, least, 0);
    while series.len() >= FEWEST_BLOCKS && missed < 2 {
        // Of independent values the expectation is -1/n and the standard error 1/sqrt(n).
        let n = as_f64(series.len());
        let (correlation, variance) = successive(&mut series);
        let correlation = correlation + 1.0 / n;
        // The mean of all samples varies as if each had this much more variance.
        let added = 2.0 * correlation * length * variance;
        if correlation * n.sqrt() > level && added > MATERIAL * all {
            stretch = length * (32.0 * correlation).clamp(1.0, as_f64(ROOM));
            missed = 0;
        } else {
            missed += usize::from(stretch > 0.0);
        }
        level = if stretch > 0.0 { STILL } else { LATE };
        series = series.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        length *= 2.0;
    }
    stretch
}

/// Also the variance; centres the series.
fn successive(series: &mut [f64]) -> (f64, f64) {
    centred(series);
    let squares: f64 = series.iter().map(|value| value * value).sum();
    let products: f64 = series.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (if squares > 0.0 { products / squares } else { 0.0 }, squares / as_f64(series.len()))
}

fn comes_together(slow: &[f64]) -> bool {
    let places: Vec<usize> =
        slow.iter().enumerate().filter(|(_, value)| **value > 0.0).map(|(place, _)| place).collect();
    let (n, count) = (as_f64(slow.len()), as_f64(places.len()));
    if count < 5.0 {
        return false;
    }
    [1, 4, 16, 64].into_iter().any(|within| {
        let close = as_f64(places.windows(2).filter(|pair| pair[1] - pair[0] <= within).count());
        let expected = (count - 1.0) * (1.0 - (1.0 - count / n).powf(as_f64(within)));
        expected < count / 2.0 && poisson::at_least(close, expected) < CHANCE
    })
}

pub(crate) const TRIMMED: f64 = 0.05;

/// Correlation matters if it adds this share to the variance.
const MATERIAL: f64 = 0.05;

const STRONG: f64 = 0.2;

const ROOM: usize = 8;

/// Standard errors that single samples must show: one independent series in twenty does.
const SINGLE: f64 = 1.645;

/// The same for differences: three independent ones in ten do.
const DIFFERENCES: f64 = 0.5;

/// The same for blocks, if single samples have shown nothing.
const LATE: f64 = 3.0;

/// And if shorter ones have shown it.
const STILL: f64 = 1.645;

const FEWEST_BLOCKS: usize = 8;

const CHANCE: f64 = 0.01;

const SLOW: [f64; 2] = [0.9, 0.99];

const FEWEST: usize = 20;

#[cfg(test)]
mod tests;
