//! A set of samples of one metric: every percentile, the mean, the count and the extremes.

use crate::{Error, limits::LARGEST_MS, sort::sort, sum::sum};

/// The samples of one metric of one side, in milliseconds, sorted once; or their counts by value
/// ([`Distribution::from_counts`]). There is always at least one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The samples, ascending, or the distinct values of `counts`.
    values: Vec<f64>,
    counts: Option<Counts>,
    /// The same samples with the smallest and with the largest latency that each may have; `None`
    /// if exact.
    bounds: Option<Box<[Self; 2]>>,
    mean: f64,
    standard_deviation: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counts {
    /// Samples up to and including each value; the last is n.
    pub(crate) cumulative: Vec<usize>,
    pub(crate) relative_error: f64,
}

impl Distribution {
    /// Takes ownership of samples in any order, without copying.
    ///
    /// # Errors
    /// No samples, or a sample that is NaN, infinite, negative or above [`LARGEST_MS`].
    pub fn new(mut samples: Vec<f64>) -> Result<Self, Error> {
        for (index, sample) in samples.iter_mut().enumerate() {
            *sample = checked(index, *sample)?;
        }
        if samples.is_empty() {
            return Err(Error::Empty);
        }
        sort(&mut samples);
        Ok(Self::of_sorted(samples))
    }

    /// Checked, ascending, at least one.
    pub(crate) fn of_sorted(samples: Vec<f64>) -> Self {
        let n = as_f64(samples.len());
        let mean = sum(samples.iter().copied()) / n;
        let variance = sum(samples.iter().map(|sample| (sample - mean).powi(2))) / n;
        Self { values: samples, counts: None, bounds: None, mean, standard_deviation: variance.sqrt() }
    }

    /// Checked, distinct, ascending, at least one.
    pub(crate) fn of_counts(values: Vec<f64>, counts: Counts) -> Self {
        let n = as_f64(counts.cumulative[counts.cumulative.len() - 1]);
        let before = std::iter::once(&0).chain(&counts.cumulative);
        let weights: Vec<f64> =
            counts.cumulative.iter().zip(before).map(|(up_to, before)| as_f64(up_to - before)).collect();
        let weighted = |of: &dyn Fn(f64) -> f64| {
            sum(values.iter().zip(&weights).map(|(&value, weight)| of(value) * weight)) / n
        };
        let mean = weighted(&|value| value);
        let variance = weighted(&|value| (value - mean).powi(2));
        Self { values, counts: Some(counts), bounds: None, mean, standard_deviation: variance.sqrt() }
    }

    pub(crate) fn with_bounds(self, bounds: Option<[Self; 2]>) -> Self {
        Self { bounds: bounds.map(Box::new), ..self }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.bounds.is_none()
    }

    pub(crate) fn lowest(&self) -> &Self {
        self.bounds.as_ref().map_or(self, |bounds| &bounds[0])
    }

    pub(crate) fn highest(&self) -> &Self {
        self.bounds.as_ref().map_or(self, |bounds| &bounds[1])
    }

    /// How many samples there are; at least 1.
    pub fn n(&self) -> usize {
        self.counts
            .as_ref()
            .map_or(self.values.len(), |counts| counts.cumulative[counts.cumulative.len() - 1])
    }

    /// The stated error of the histogram in the input, relative to a value. `None` if every sample
    /// is exact.
    pub fn relative_error(&self) -> Option<f64> {
        self.counts.as_ref().map(|counts| counts.relative_error)
    }

    /// The fastest sample, ms.
    pub fn min(&self) -> f64 {
        self.values[0]
    }

    /// The slowest sample, ms.
    pub fn max(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    /// The mean, ms. Its error is a few units in the last place, whatever n is.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the samples, ms. This is the population value, divided by n like `numpy.std`
    /// by default; R's `sd` and pandas' `std` divide by n - 1 and are larger by sqrt(n/(n - 1)). 0 for a
    /// single sample, for which those are undefined.
    pub fn standard_deviation(&self) -> f64 {
        self.standard_deviation
    }

    /// The latency that a share of requests does not exceed, ms: type 7 of Hyndman and Fan, the
    /// default of numpy and R. A share outside 0..=1 counts as the nearer end; NaN gives NaN.
    pub fn quantile(&self, share: f64) -> f64 {
        self.at_position(as_f64(self.n() - 1) * share.clamp(0.0, 1.0))
    }

    /// The sample at `rank` in ascending order, from 0, ms; larger ranks mean the last sample.
    pub fn at_rank(&self, rank: usize) -> f64 {
        let index = self
            .counts
            .as_ref()
            .map_or(rank, |counts| counts.cumulative.partition_point(|&up_to| up_to <= rank));
        self.values[index.min(self.values.len() - 1)]
    }

    /// NaN gives NaN.
    pub(crate) fn at_position(&self, position: f64) -> f64 {
        if position.is_nan() {
            return f64::NAN;
        }
        let below = floor(position).min(self.n() - 1);
        between(self.at_rank(below), self.at_rank(below + 1), position - position.floor())
    }

    /// The share of samples that are at most `latency_ms`: the empirical distribution function. NaN
    /// gives 0.
    pub fn cdf(&self, latency_ms: f64) -> f64 {
        as_f64(self.at_most(latency_ms)) / as_f64(self.n())
    }

    pub(crate) fn at_most(&self, latency_ms: f64) -> usize {
        self.up_to(self.values.partition_point(|&value| value <= latency_ms))
    }

    /// Or the distinct values that have counts.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many samples the first `values` of [`Self::values`] stand for.
    pub(crate) fn up_to(&self, values: usize) -> usize {
        match &self.counts {
            None => values,
            Some(_) if values == 0 => 0,
            Some(counts) => counts.cumulative[values - 1],
        }
    }
}

/// -0 becomes 0, because the sort would otherwise separate it from 0.
pub(crate) fn checked(index: usize, value: f64) -> Result<f64, Error> {
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

/// Monotone in `t` (0..=1), and exactly `b` at 1, as numpy's `_lerp`.
pub(crate) fn between(a: f64, b: f64, t: f64) -> f64 {
    if t >= 0.5 { b - (b - a) * (1.0 - t) } else { a + (b - a) * t }
}

/// Exact up to 2^53.
pub(crate) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// NaN is 0; the result saturates.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating, as documented")]
pub(crate) fn floor(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests;
