//! What a set of samples says about one metric: every percentile, the mean, the count and the extremes.

use crate::{Error, sum::sum};

/// The samples of one metric of one side, in milliseconds, sorted once. There is always at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    sorted: Vec<f64>,
    mean: f64,
    standard_deviation: f64,
}

impl Distribution {
    /// Takes samples in any order. They are kept, not copied.
    ///
    /// # Errors
    /// No samples at all, or one that is NaN, infinite, negative or above [`LARGEST_MS`]: an event without a latency
    /// must be left out and counted, not given a number.
    pub fn new(mut samples: Vec<f64>) -> Result<Self, Error> {
        for (index, sample) in samples.iter_mut().enumerate() {
            *sample = checked(index, *sample)?;
        }
        if samples.is_empty() {
            return Err(Error::Empty);
        }
        samples.sort_unstable_by(f64::total_cmp);
        let n = as_f64(samples.len());
        let mean = sum(samples.iter().copied()) / n;
        let variance = sum(samples.iter().map(|sample| (sample - mean).powi(2))) / n;
        Ok(Self { sorted: samples, mean, standard_deviation: variance.sqrt() })
    }

    /// How many samples there are; at least 1.
    pub fn n(&self) -> usize {
        self.sorted.len()
    }

    /// The fastest sample, ms.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The slowest sample, ms.
    pub fn max(&self) -> f64 {
        self.sorted[self.n() - 1]
    }

    /// The expected request latency, ms. Its error is a few units in the last place, whatever n is.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// How far the samples themselves spread, ms: the root of the mean squared deviation, divided by n as
    /// `numpy.std` does. 0 for a single sample.
    pub fn standard_deviation(&self) -> f64 {
        self.standard_deviation
    }

    /// The latency that a share of requests does not exceed, ms: type 7 of Hyndman and Fan, linear between the samples
    /// around (n - 1) share. That is the default of numpy and R. A share outside 0..=1 counts as the nearer end; NaN
    /// gives NaN.
    pub fn quantile(&self, share: f64) -> f64 {
        let position = as_f64(self.n() - 1) * share.clamp(0.0, 1.0);
        if position.is_nan() {
            return f64::NAN;
        }
        let below = floor(position).min(self.n() - 1);
        let above = (below + 1).min(self.n() - 1);
        between(self.sorted[below], self.sorted[above], position - position.floor())
    }

    /// The share of samples that are at most `latency_ms`: the empirical distribution function. NaN gives 0.
    pub fn cdf(&self, latency_ms: f64) -> f64 {
        as_f64(self.sorted.partition_point(|&sample| sample <= latency_ms)) / as_f64(self.n())
    }

    /// The samples in ascending order, ms.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }
}

/// The sample, or what is wrong with it. -0 becomes 0, which the sort would otherwise put apart from 0.
fn checked(index: usize, value: f64) -> Result<f64, Error> {
    if !value.is_finite() {
        return Err(Error::NotFinite { index, value });
    }
    if value < 0.0 {
        return Err(Error::Negative { index, value });
    }
    if value > LARGEST_MS {
        return Err(Error::TooLarge { index, value });
    }
    Ok(value + 0.0)
}

/// The point at `t` (0..=1) on the way from `a` to `b`. Counted from the nearer end, as numpy's `_lerp` does, so that
/// t = 1 is exactly `b` and the result is monotone in `t`, even when `a` and `b` are 1e12 apart.
pub(crate) fn between(a: f64, b: f64, t: f64) -> f64 {
    if t >= 0.5 { b - (b - a) * (1.0 - t) } else { a + (b - a) * t }
}

/// A count as a number to reckon with: exact up to 2^53, and memory ends long before that.
pub(crate) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The whole part of a non-negative number as an index; NaN is 0, what is too large is the largest.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating, as documented")]
pub(crate) fn floor(value: f64) -> usize {
    value as usize
}

/// The largest latency, ms. No event lasts 3e89 years; the bound keeps sums of squares (1e200 times any n) finite.
pub const LARGEST_MS: f64 = 1e100;

#[cfg(test)]
mod tests;
