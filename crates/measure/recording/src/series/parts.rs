//! Intervals and tags of an HdrHistogram log.

use claim::Doubt;

use super::{Series, Values};
use crate::{Bucket, Counts};

/// The counts of one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// When it began, seconds since the recording's start, if known.
    pub started_s: Option<f64>,
    /// Its length, seconds; 0 if the file does not contain it.
    pub length_s: f64,
    /// The tag of the interval.
    pub tag: Option<String>,
    /// Its values with their counts, ascending.
    pub buckets: Vec<Bucket>,
}

impl Part {
    pub(super) fn of(counts: &Counts) -> Self {
        Self {
            started_s: counts.started_s,
            length_s: counts.length_s.unwrap_or(0.0),
            tag: counts.tag.clone(),
            buckets: counts.buckets.clone(),
        }
    }

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }
}

/// While they take no more memory than [`MOST_BUCKETS`].
#[derive(Debug, Default)]
pub(super) struct Parts {
    all: Vec<Part>,
    buckets: usize,
    is_too_much: bool,
}

impl Parts {
    pub(super) fn push(&mut self, counts: &Counts) {
        self.buckets += counts.buckets.len() + 1;
        if self.buckets > MOST_BUCKETS {
            (self.is_too_much, self.all) = (true, Vec::new());
        }
        if !self.is_too_much {
            self.all.push(Part::of(counts));
        }
    }

    /// With times relative to the earliest if they are dates; and the earliest, in seconds since
    /// 1970.
    pub(super) fn finish(mut self, warnings: &mut Vec<String>) -> (Option<Vec<Part>>, Option<f64>) {
        if self.is_too_much {
            warnings.push(
                "So many intervals that they are put together: times and tags are left out.".to_owned(),
            );
        }
        let tells = |part: &Part| part.started_s.is_some() || part.tag.is_some();
        if !self.all.iter().any(tells) {
            return (None, None);
        }
        let dates = self.all.iter().filter_map(|part| part.started_s).filter(|&started| started > EPOCH_S);
        let earliest = dates.fold(f64::INFINITY, f64::min);
        if earliest.is_infinite() {
            return (Some(self.all), None);
        }
        for started in self.all.iter_mut().filter_map(|part| part.started_s.as_mut()) {
            // Times that are not dates are relative to the start already.
            if *started > EPOCH_S {
                *started -= earliest;
            }
        }
        (Some(self.all), Some(earliest))
    }
}

impl Series {
    /// [`Series::restrict`] for counts: an interval belongs to its beginning. `None` if the parts
    /// have no times.
    pub(super) fn restrict_parts(&mut self, borders: &[f64], is_kept: impl Fn(&f64) -> bool) -> Option<()> {
        let Values::Counted { buckets, .. } = &mut self.values else { return None };
        let parts = self.parts.as_mut()?;
        if parts.iter().any(|part| part.started_s.is_none()) {
            return None;
        }
        let (mut across, mut events) = (0_u64, 0);
        for part in parts.iter() {
            let Some(started) = part.started_s else { continue };
            // Logs have a resolution of a millisecond.
            if borders.iter().any(|&border| started < border && started + part.length_s > border + 0.001) {
                (across, events) = (across + 1, events + part.events());
            }
        }
        let before: u64 = parts.iter().map(Part::events).sum();
        parts.retain(|part| part.started_s.as_ref().is_some_and(&is_kept));
        self.excluded += before - parts.iter().map(Part::events).sum::<u64>();
        *buckets = parts.iter().flat_map(|part| part.buckets.iter().copied()).collect();
        compact(buckets);
        if across > 0 {
            let intervals = if across == 1 {
                "1 interval reaches".to_owned()
            } else {
                format!("{across} intervals reach")
            };
            let warning = format!(
                "{intervals} over an end of the period, with {events} samples: all of an interval counts where it begins."
            );
            self.doubts.push(Doubt::Noticed(warning));
        }
        Some(())
    }
}

/// Seconds above this count from 1970.
const EPOCH_S: f64 = 1e8;

/// 16 bytes each: an hour of seconds with a thousand different values takes a quarter of it.
const MOST_BUCKETS: usize = 16 << 20;

/// In ascending order, each value once.
pub(super) fn compact(buckets: &mut Vec<Bucket>) {
    buckets.sort_unstable_by(|a, b| a.value_ms.total_cmp(&b.value_ms));
    buckets.dedup_by(|next, kept| {
        let is_same = next.value_ms == kept.value_ms;
        if is_same {
            kept.absorb(*next);
        }
        is_same
    });
}
