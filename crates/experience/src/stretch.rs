//! How long a stretch of time must be for the next one to be independent of it, decided by the series itself.
//!
//! The series is replaced by the means of its pairs, again and again (the blocking of Flyvbjerg and Petersen, "Error
//! estimates on averages of correlated data", 1989). As long as samples resemble their predecessors, so do the means of
//! blocks. Once blocks of L samples are longer than what samples remember, the correlation r of neighbouring blocks falls
//! like 1/L; so stretches of 32 r L samples have one of 1/32, and a variance that is 6 % too small. L is the longest
//! block for which r is more than chance; where it is below 1/32 there, those blocks will do. Where r is still large there, 1/L is not yet its law, and stretches of
//! [`ROOM`] blocks are as far as it can be trusted. For AR(0.8) and 4000 samples that is about 90 samples, ten times its
//! correlation time of 9.
//!
//! Politis and White's block length, which minimises the error of a variance, is a few times shorter: right for an
//! interval of thousands of blocks, and too short to call two blocks independent, which is what a permutation does.

use crate::{
    autocorrelation::{centred, slow_above},
    distribution::{as_f64, floor},
    resample::{normal, poisson},
};

/// How many samples make a stretch that is independent of the next: 1 if samples look independent. The series must be in
/// the order of time; up to n for a series that never forgets.
///
/// The normal scores of ranks are looked at, since a heavy tail would drown the covariances of the values themselves; and which samples are
/// slow, the slowest tenth and hundredth, since tail percentiles and `E[max]` feel when those come together even if all else is independent.
/// Fewer than 20 samples give 1. Independent samples are judged dependent in about 5 % of cases, and then have
/// stretches of [`ROOM`] samples, which costs little. Values must be as a [`crate::Distribution`] takes them.
pub fn independent_stretch(in_time_ms: &[f64]) -> usize {
    let n = in_time_ms.len();
    if n < FEWEST {
        return 1;
    }
    let slow = |share: f64| -> Vec<f64> {
        let threshold = slow_above(in_time_ms, share);
        in_time_ms.iter().map(|&value| f64::from(u8::from(value > threshold))).collect()
    };
    let mut longest = stretch_of(normal_scores(in_time_ms), SINGLE);
    for share in SLOW {
        let slow = slow(share);
        if comes_together(&slow) {
            longest = longest.max(stretch_of(slow, 0.0));
        }
    }
    floor(longest.ceil()).clamp(1, n)
}

/// The normal quantile of each value's rank, so that the slow tail counts for more than by its share, and no single value
/// for all. Ranks are among up to [`REFERENCE`] of the values taken evenly, equal values sharing theirs.
fn normal_scores(values: &[f64]) -> Vec<f64> {
    let stride = values.len().div_ceil(REFERENCE);
    let mut reference: Vec<f64> = values.iter().copied().step_by(stride).collect();
    reference.sort_unstable_by(f64::total_cmp);
    let n = as_f64(reference.len());
    let at: Vec<f64> = (0..=2 * reference.len())
        .map(|twice| normal::quantile((as_f64(twice) / 2.0).clamp(0.5, n - 0.5) / n))
        .collect();
    let score = |&value: &f64| {
        let below = reference.partition_point(|&other| other < value);
        let up_to = below + reference[below..].partition_point(|&other| other <= value);
        at[below + up_to]
    };
    values.iter().map(score).collect()
}

/// The stretch that one series needs; 0 if single samples do not resemble each other. `least` is how many standard errors
/// single samples must show.
fn stretch_of(mut series: Vec<f64>, least: f64) -> f64 {
    let (mut length, mut stretch, mut level, mut missed) = (1.0, 0.0, least, 0);
    while series.len() >= FEWEST_BLOCKS && missed < 2 {
        // Of independent values the expectation is -1/n and the standard error 1/sqrt(n).
        let n = as_f64(series.len());
        let correlation = successive(&mut series) + 1.0 / n;
        if correlation * n.sqrt() > level {
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

/// The correlation of each value with the next; centres the series.
fn successive(series: &mut [f64]) -> f64 {
    centred(series);
    let squares: f64 = series.iter().map(|value| value * value).sum();
    let products: f64 = series.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// Whether the ones among zeros follow each other within some distance more often than chance would have it.
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

/// The longest stretch, in units of the longest block of dependent samples.
const ROOM: usize = 8;

/// Standard errors that single samples must show: one independent series in twenty does.
const SINGLE: f64 = 1.645;

/// The same for blocks, of which there are many lengths, if single samples have shown nothing.
const LATE: f64 = 3.0;

/// And if shorter ones have shown it.
const STILL: f64 = 1.645;

/// Blocks with fewer of them show nothing.
const FEWEST_BLOCKS: usize = 8;

/// Slow samples that come together must be this unlikely.
const CHANCE: f64 = 0.01;

/// Above these shares a sample is slow.
const SLOW: [f64; 2] = [0.9, 0.99];

/// Values to rank among: neighbouring ranks are 1/65536 apart, far below what any correlation needs.
const REFERENCE: usize = 65_536;

/// Below this there is nothing to see.
const FEWEST: usize = 20;

#[cfg(test)]
mod tests;
