//! Autocorrelation: whether one request's latency predicts the next one's. Samples are ordered by time.
//!
//! Statistics that treat requests as independent - an interval around a percentile, `E[max of N]` - are wrong
//! to the degree that neighbours are correlated. Three views of that: the correlation of ranks at each lag,
//! the clustering of slow requests, and the slowest of N neighbours compared with the slowest of N
//! independent draws.

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
    /// The share of samples that are slow: the unconditional probability. Less than requested if many samples
    /// equal the threshold.
    pub slow: f64,
    /// The share of slow samples among those that directly follow a slow one. 0 if no sample follows one.
    pub slow_after_slow: f64,
    /// How many standard deviations more slow samples follow slow ones than in a shuffled series; negative if fewer. 0
    /// if shuffling changes nothing.
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
    /// How many windows of N there are; an incomplete one at the end is left out.
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

/// The autocorrelation of the values' ranks (Spearman's) at lags 1, 2, ..., `lags`, or up to n - 1 if that is
/// less: -1..=1, and in n independent samples within 2/sqrt(n) of 0 for 95 % of lags. Equal values share
/// their mean rank. A constant series gives 0. Takes n x `lags` steps.
///
/// # Errors
/// No samples, or a sample that [`crate::Distribution`] rejects.
pub fn rank_autocorrelation(in_time_ms: &[f64], lags: usize) -> Result<Vec<f64>, Error> {
    check_values(in_time_ms)?;
    Ok(correlations(midranks(in_time_ms), lags))
}

/// The same for whether a sample is slow, that is above the `share` quantile: what tail percentiles and `E[max]` feel.
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
/// With s slow among n samples, let J be how many of the n - 1 pairs of neighbours are slow both. The slow ones form
/// s - J runs, and in a shuffled series that number is hypergeometric (Wald and Wolfowitz, 1940): of s draws from n,
/// n - s + 1 of which count. Hence E J = s (s - 1)/n and var J = s (s - 1) (n - s) (n - s + 1)/(n^2 (n - 1)), exactly.
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

/// The check without page ids: if a page's requests were `requests` neighbours in time, what is its latency,
/// and what does the independent model predict? Windows do not overlap, and count as pages of
/// [`independence`]: see [`ConsecutiveMaxima::is_conclusive`].
///
/// # Errors
/// A sample that [`crate::Distribution`] rejects; `requests` that [`Page`] rejects ([`Error::Requests`]);
/// fewer than two windows ([`Error::TooFew`]).
pub fn consecutive_maxima(in_time_ms: &[f64], requests: u32) -> Result<ConsecutiveMaxima, Error> {
    Page::new(requests, 1.0)?;
    let size = requests as usize;
    let windows = in_time_ms.len() / size;
    let page = |index: usize| u32::try_from(index / size).unwrap_or(u32::MAX);
    let pages: Vec<u32> = (0..windows * size).map(page).collect();
    let Independence { slowest, .. } = independence(&in_time_ms[..windows * size], &pages, 1.0)?;
    Ok(ConsecutiveMaxima { requests, windows, slowest })
}

/// The value that a share of samples does not exceed, itself a sample: above it is slow.
pub(crate) fn slow_above(values: &[f64], share: f64) -> f64 {
    let rank = floor(as_f64(values.len() - 1) * share.clamp(0.0, 1.0));
    *values.to_vec().select_nth_unstable_by(rank, f64::total_cmp).1
}

/// The rank of each value, from 0, equal values sharing their mean.
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

/// Takes the mean away.
pub(crate) fn centred(series: &mut [f64]) {
    let mean = crate::sum::sum(series.iter().copied()) / as_f64(series.len());
    series.iter_mut().for_each(|value| *value -= mean);
}

/// Autocovariances of a centred series, computed lazily in batches of lags.
pub(crate) fn autocovariances(centred: &[f64]) -> Autocovariances<'_> {
    Autocovariances { centred, known: Vec::new() }
}

/// See [`autocovariances`].
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

/// The autocovariances at [`BATCH`] lags from `first` on: piece by piece, so that memory is read once for all of them.
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

/// The scalar product, in eight partial sums that a processor can compute in parallel.
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

/// Lags computed together.
const BATCH: usize = 8;

/// Samples taken together: 16 KiB, half of the smallest first-level cache.
const PIECE: usize = 2048;

#[cfg(test)]
mod tests;
