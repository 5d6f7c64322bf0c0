//! Autocorrelation: whether one request's latency predicts the next one's. Samples are ordered by
//! time.
//!
//! Statistics that assume independent requests are wrong to the degree that neighbours correlate.

use crate::{
    Error, FEWEST_PAGES, Independence, Page, Versus,
    distribution::{as_f64, floor},
    independence,
    inputs::check_values,
    resample::poisson,
};

/// The clustering of requests above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowClusters {
    /// A sample above this is slow, ms.
    pub threshold_ms: f64,
    /// The share of samples that are slow; less than requested if many equal the threshold.
    pub slow: f64,
    /// The share of slow samples among the successors of slow samples. 0 without successors.
    pub slow_after_slow: f64,
    /// How many standard deviations more slow samples follow slow ones than in a shuffled series.
    pub z: f64,
    /// The probability that a shuffled series has at least as many of them, 0..=1: small if slow requests
    /// cluster. By the Poisson distribution, whose variance is a little larger, so that it does not report
    /// clustering too often.
    pub chance: f64,
}

/// The slowest of N consecutive samples, compared with the independent model for N draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConsecutiveMaxima {
    /// N.
    pub requests: u32,
    /// The number of complete windows of N samples.
    pub windows: usize,
    /// Their mean maximum and the model's.
    pub slowest: Versus,
}

impl ConsecutiveMaxima {
    /// Whether there are enough windows to judge the model by: [`FEWEST_PAGES`].
    pub fn is_conclusive(&self) -> bool {
        self.windows >= FEWEST_PAGES
    }
}

/// The Spearman autocorrelation at lags 1, 2, ..., `lags`, at most n - 1; 0 for a constant series.
///
/// # Errors
/// No samples, or a sample that [`crate::Distribution`] rejects.
pub fn rank_autocorrelation(in_time_ms: &[f64], lags: usize) -> Result<Vec<f64>, Error> {
    check_values(in_time_ms)?;
    Ok(correlations(midranks(in_time_ms), lags))
}

/// The same for the indicator of slow samples, those above the `share` quantile.
///
/// # Errors
/// As [`rank_autocorrelation`].
pub fn slow_autocorrelation(in_time_ms: &[f64], share: f64, lags: usize) -> Result<Vec<f64>, Error> {
    check_values(in_time_ms)?;
    let threshold = slow_above(in_time_ms, share);
    Ok(correlations(in_time_ms.iter().map(|&value| f64::from(u8::from(value > threshold))).collect(), lags))
}

/// Whether slow samples, those above the `share` quantile, follow each other.
///
/// # Errors
/// As [`rank_autocorrelation`].
pub fn slow_clusters(in_time_ms: &[f64], share: f64) -> Result<SlowClusters, Error> {
    check_values(in_time_ms)?;
    let threshold_ms = slow_above(in_time_ms, share);
    let is_slow = |value: &f64| *value > threshold_ms;
    let n = as_f64(in_time_ms.len());
    let slow = as_f64(in_time_ms.iter().filter(|value| is_slow(value)).count());
    let pairs = in_time_ms.windows(2);
    let together = as_f64(pairs.filter(|pair| is_slow(&pair[0]) && is_slow(&pair[1])).count());
    let followed = as_f64(in_time_ms[..in_time_ms.len() - 1].iter().filter(|value| is_slow(value)).count());
    let expected = slow * (slow - 1.0) / n;
    let variance = expected * (n - slow) * (n - slow + 1.0) / (n * (n - 1.0));
    let z = if variance > 0.0 { (together - expected) / variance.sqrt() } else { 0.0 };
    Ok(SlowClusters {
        threshold_ms,
        slow: slow / n,
        slow_after_slow: if followed > 0.0 { together / followed } else { 0.0 },
        z,
        chance: poisson::at_least(together, expected),
    })
}

/// Compares windows of `requests` neighbours in time with the independent model, for recordings
/// without page ids.
///
/// # Errors
/// An invalid sample or `requests`, or fewer than two windows ([`Error::TooFew`]).
pub fn consecutive_maxima(in_time_ms: &[f64], requests: u32) -> Result<ConsecutiveMaxima, Error> {
    Page::new(requests, 1.0)?;
    let size = requests as usize;
    let windows = in_time_ms.len() / size;
    let page = |index: usize| u32::try_from(index / size).unwrap_or(u32::MAX);
    let pages: Vec<u32> = (0..windows * size).map(page).collect();
    let Independence { slowest, .. } = independence(&in_time_ms[..windows * size], &pages, 1.0)?;
    Ok(ConsecutiveMaxima { requests, windows, slowest })
}

pub(crate) fn slow_above(values: &[f64], share: f64) -> f64 {
    let rank = floor(as_f64(values.len() - 1) * share.clamp(0.0, 1.0));
    *values.to_vec().select_nth_unstable_by(rank, f64::total_cmp).1
}

/// From 0; equal values share their mean rank.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tie in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = as_f64(start) + as_f64(tie.len() - 1) / 2.0;
        tie.iter().for_each(|&(_, index)| ranks[index] = rank);
        start += tie.len();
    }
    ranks
}

fn correlations(mut series: Vec<f64>, lags: usize) -> Vec<f64> {
    centred(&mut series);
    let mut covariances = autocovariances(&series);
    let variance = covariances.at(0);
    let correlation = |lag| if variance > 0.0 { covariances.at(lag) / variance } else { 0.0 };
    (1..=lags.min(series.len() - 1)).map(correlation).collect()
}

pub(crate) fn centred(series: &mut [f64]) {
    let mean = crate::sum::sum(series.iter().copied()) / as_f64(series.len());
    series.iter_mut().for_each(|value| *value -= mean);
}

/// Computed lazily in batches of lags.
pub(crate) fn autocovariances(centred: &[f64]) -> Autocovariances<'_> {
    Autocovariances { centred, known: Vec::new() }
}

pub(crate) struct Autocovariances<'s> {
    centred: &'s [f64],
    known: Vec<f64>,
}

impl Autocovariances<'_> {
    /// R(lag) = (1/n) sum of x_t x_(t+lag); 0 from n on.
    pub(crate) fn at(&mut self, lag: usize) -> f64 {
        while self.known.len() <= lag {
            self.known.extend(batch(self.centred, self.known.len()));
        }
        self.known[lag]
    }
}

fn batch(series: &[f64], first: usize) -> [f64; BATCH] {
    let n = series.len();
    let mut sums = [0.0; BATCH];
    for start in (0..n).step_by(PIECE) {
        for (offset, sum) in sums.iter_mut().enumerate() {
            let lag = first + offset;
            let end = (start + PIECE).min(n.saturating_sub(lag));
            if start < end {
                *sum += product(&series[start..end], &series[start + lag..end + lag]);
            }
        }
    }
    sums.map(|sum| sum / as_f64(n))
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}

const BATCH: usize = 8;

/// 16 KiB, half of the smallest first-level cache.
const PIECE: usize = 2048;

#[cfg(test)]
mod tests;
