//! Distributions that come as counts by value, and distributions put together from parts: both without loss.

use crate::{
    Distribution, Error,
    distribution::{Counts, checked},
    limits::MOST_SAMPLES,
};

/// Some samples of about the same latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// The latency that stands for them, ms.
    pub value_ms: f64,
    /// How many there are.
    pub count: u64,
}

impl Distribution {
    /// Takes the buckets of a histogram in any order. Equal values are added up, and a bucket without samples is left
    /// out. `relative_error` (0 or more, below 1) is how far a sample may be from its bucket's value, relative to that
    /// value; it is kept for [`Distribution::relative_error`] and changes no statistic. Of an HDR histogram with d
    /// significant digits it is 10^-d.
    ///
    /// # Errors
    /// No samples in any bucket; more than [`MOST_SAMPLES`] together; a value that [`Distribution::new`] refuses; a
    /// relative error out of its range.
    pub fn from_counts(mut buckets: Vec<Bucket>, relative_error: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&relative_error) {
            return Err(Error::RelativeError { relative_error });
        }
        for (index, bucket) in buckets.iter_mut().enumerate() {
            bucket.value_ms = checked(index, bucket.value_ms)?;
        }
        buckets.retain(|bucket| bucket.count > 0);
        buckets.sort_unstable_by(|a, b| a.value_ms.total_cmp(&b.value_ms));
        let mut values = Vec::with_capacity(buckets.len());
        let mut cumulative = Vec::with_capacity(buckets.len());
        let mut total = 0_u64;
        for bucket in buckets {
            if values.last() == Some(&bucket.value_ms) {
                cumulative.pop();
            } else {
                values.push(bucket.value_ms);
            }
            total = total.saturating_add(bucket.count);
            let fits = usize::try_from(total).ok().filter(|_| total <= MOST_SAMPLES);
            cumulative.push(fits.ok_or(Error::TooMany { count: total })?);
        }
        if values.is_empty() {
            return Err(Error::Empty);
        }
        Ok(Self::of_counts(values, Counts { cumulative, relative_error }))
    }

    /// All samples of `parts` as one distribution: the percentiles of the whole, which no arithmetic on the percentiles
    /// of the parts gives. Exact samples stay exact. If any part has counts, so has the whole, with the largest relative
    /// error among the parts.
    ///
    /// # Errors
    /// No parts; more than [`MOST_SAMPLES`] together.
    pub fn merge(parts: &[&Self]) -> Result<Self, Error> {
        let counted = parts.iter().filter_map(|part| part.relative_error()).reduce(f64::max);
        if let Some(relative_error) = counted {
            let buckets = parts.iter().flat_map(|part| part.buckets()).collect();
            return Self::from_counts(buckets, relative_error);
        }
        if parts.is_empty() {
            return Err(Error::Empty);
        }
        let mut samples = Vec::with_capacity(parts.iter().map(|part| part.n()).sum());
        for part in parts {
            samples.extend_from_slice(part.values());
        }
        // The stable sort finds the ascending runs and merges them.
        samples.sort_by(f64::total_cmp);
        Ok(Self::of_sorted(samples))
    }

    /// The distinct values with their counts; of exact samples, one bucket each.
    fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let count = |index| (self.up_to(index + 1) - self.up_to(index)) as u64;
        self.values()
            .iter()
            .enumerate()
            .map(move |(index, &value_ms)| Bucket { value_ms, count: count(index) })
    }
}

#[cfg(test)]
mod tests;
