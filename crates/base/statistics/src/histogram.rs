//! Distributions from counts by value, and distributions merged from parts: both without loss.

use crate::{
    Distribution, Error,
    distribution::{Counts, checked},
    limits::MOST_SAMPLES,
};

/// Samples of about the same latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// The latency at which they count, ms.
    pub value_ms: f64,
    /// The smallest latency that any of them may have, ms; at most `value_ms`.
    pub low_ms: f64,
    /// The largest latency that any of them may have, ms; at least `value_ms`.
    pub high_ms: f64,
    /// The number of samples.
    pub count: u64,
}

impl Bucket {
    /// Samples whose latency is known exactly.
    pub fn exact(value_ms: f64, count: u64) -> Self {
        Self { value_ms, low_ms: value_ms, high_ms: value_ms, count }
    }

    /// Samples between two latencies; they count at the middle.
    pub fn between(low_ms: f64, high_ms: f64, count: u64) -> Self {
        Self { value_ms: f64::midpoint(low_ms, high_ms), low_ms, high_ms, count }
    }

    /// Adds the samples of another bucket, at the value of `self`.
    pub fn absorb(&mut self, other: Self) {
        self.low_ms = self.low_ms.min(other.low_ms);
        self.high_ms = self.high_ms.max(other.high_ms);
        self.count = self.count.saturating_add(other.count);
    }
}

impl Distribution {
    /// Takes the buckets of a histogram in any order. `relative_error` (0 or more, below 1) is only
    /// kept for [`Distribution::relative_error`].
    ///
    /// # Errors
    /// No samples, or more than [`MOST_SAMPLES`]; an invalid value, bound or relative error.
    pub fn from_counts(mut buckets: Vec<Bucket>, relative_error: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&relative_error) {
            return Err(Error::RelativeError { relative_error });
        }
        for (index, bucket) in buckets.iter_mut().enumerate() {
            bucket.value_ms = checked(index, bucket.value_ms)?;
            bucket.low_ms = checked(index, bucket.low_ms)?.min(bucket.value_ms);
            bucket.high_ms = checked(index, bucket.high_ms)?.max(bucket.value_ms);
        }
        buckets.retain(|bucket| bucket.count > 0);
        let is_exact = buckets.iter().all(|bucket| bucket.low_ms == bucket.high_ms);
        let bounds = if is_exact {
            None
        } else {
            let at = |of: fn(&Bucket) -> f64| counted(buckets.clone(), of, 0.0);
            Some([at(|bucket| bucket.low_ms)?, at(|bucket| bucket.high_ms)?])
        };
        Ok(counted(buckets, |bucket| bucket.value_ms, relative_error)?.with_bounds(bounds))
    }

    /// All samples of `parts` as one distribution. If any part has counts, so has the result, with
    /// the largest relative error among the parts.
    ///
    /// # Errors
    /// No parts; more than [`MOST_SAMPLES`] together.
    pub fn merge(parts: &[&Self]) -> Result<Self, Error> {
        let counted = parts.iter().filter_map(|part| part.relative_error()).reduce(f64::max);
        if let Some(relative_error) = counted {
            let whole = |parts: &mut dyn Iterator<Item = &Self>| {
                Self::from_counts(parts.flat_map(Self::buckets).collect(), relative_error)
            };
            let merged = whole(&mut parts.iter().copied())?;
            if parts.iter().all(|part| part.is_exact()) {
                return Ok(merged);
            }
            let lowest = whole(&mut parts.iter().map(|part| part.lowest()))?;
            let highest = whole(&mut parts.iter().map(|part| part.highest()))?;
            return Ok(merged.with_bounds(Some([lowest, highest])));
        }
        if parts.is_empty() {
            return Err(Error::Empty);
        }
        let mut samples = Vec::with_capacity(parts.iter().map(|part| part.n()).sum());
        for part in parts {
            samples.extend_from_slice(part.values());
        }
        samples.sort_by(f64::total_cmp);
        Ok(Self::of_sorted(samples))
    }

    /// Without their bounds; of exact samples, one bucket each.
    fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let count = |index| (self.up_to(index + 1) - self.up_to(index)) as u64;
        self.values().iter().enumerate().map(move |(index, &value_ms)| Bucket::exact(value_ms, count(index)))
    }
}

fn counted(
    mut buckets: Vec<Bucket>,
    of: fn(&Bucket) -> f64,
    relative_error: f64,
) -> Result<Distribution, Error> {
    buckets.sort_unstable_by(|a, b| of(a).total_cmp(&of(b)));
    let mut values = Vec::with_capacity(buckets.len());
    let mut cumulative = Vec::with_capacity(buckets.len());
    let mut total = 0_u64;
    for bucket in &buckets {
        if values.last() == Some(&of(bucket)) {
            cumulative.pop();
        } else {
            values.push(of(bucket));
        }
        total = total.saturating_add(bucket.count);
        let fits = usize::try_from(total).ok().filter(|_| total <= MOST_SAMPLES);
        cumulative.push(fits.ok_or(Error::TooMany { count: total })?);
    }
    if values.is_empty() {
        return Err(Error::Empty);
    }
    Ok(Distribution::of_counts(values, Counts { cumulative, relative_error }))
}

#[cfg(test)]
mod tests;
