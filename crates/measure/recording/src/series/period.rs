//! Parts of a recording's time: before or after a moment, or between two.

use std::ops::Range;

use claim::Doubt;

use super::{Series, Values};
use crate::Error;

/// A moment of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// Seconds since the recording's start.
    SinceStart(f64),
    /// Seconds since 1970.
    Unix(f64),
}

impl Series {
    /// Leaves out samples that started outside of `from` and `to` or inside one of `holes`, and
    /// counts them in `excluded`. Intervals of a histogram's log count by when they began.
    ///
    /// # Errors
    /// The recording has no times of samples, or no dates.
    pub fn restrict(
        &mut self,
        from: Option<Moment>,
        to: Option<Moment>,
        holes: &[Range<Moment>],
    ) -> Result<(), Error> {
        if from.is_none() && to.is_none() && holes.is_empty() {
            return Ok(());
        }
        let from = from.map_or(Ok(f64::NEG_INFINITY), |moment| self.since_start(moment))?;
        let to = to.map_or(Ok(f64::INFINITY), |moment| self.since_start(moment))?;
        let holes: Vec<(f64, f64)> = holes
            .iter()
            .map(|hole| Ok((self.since_start(hole.start)?, self.since_start(hole.end)?)))
            .collect::<Result<_, Error>>()?;
        let is_kept = |&time: &f64| {
            time >= from && time < to && !holes.iter().any(|hole| time >= hole.0 && time < hole.1)
        };
        let borders: Vec<f64> = holes
            .iter()
            .flat_map(|hole| [hole.0, hole.1])
            .chain([from, to])
            .filter(|at| at.is_finite())
            .collect();
        if self.restrict_parts(&borders, is_kept).is_some() {
            return Ok(());
        }
        let kept: Vec<bool> = self.times()?.iter().map(is_kept).collect();
        self.excluded += kept.iter().filter(|kept| !**kept).count() as u64;
        self.keep(&kept);
        let timed = self.failures.iter().filter(|failure| failure.started_s.is_some()).count();
        let timeless = self.failed + self.without_metric - (timed + self.without_s.len()) as u64;
        if timeless > 0 {
            self.doubts.push(Doubt::Noticed(format!(
                "{timeless} samples without a value have no time; they are counted as if in the period."
            )));
        }
        let before = (self.failures.len(), self.without_s.len());
        self.failures.retain(|failure| failure.started_s.as_ref().is_none_or(is_kept));
        self.without_s.retain(is_kept);
        let left_out =
            [before.0 - self.failures.len(), before.1 - self.without_s.len()].map(|count| count as u64);
        self.failed -= left_out[0];
        self.without_metric -= left_out[1];
        self.excluded += left_out[0] + left_out[1];
        Ok(())
    }

    /// The recording before and after a moment. Either may be empty.
    ///
    /// # Errors
    /// As [`Series::restrict`].
    pub fn split_at(self, mark: Moment) -> Result<[Self; 2], Error> {
        let mut before = self.clone();
        let mut after = self;
        before.restrict(None, Some(mark), &[])?;
        after.restrict(Some(mark), None, &[])?;
        before.label += " before";
        after.label += " after";
        Ok([before, after])
    }

    fn since_start(&self, moment: Moment) -> Result<f64, Error> {
        match (moment, self.start_unix_s) {
            (Moment::SinceStart(seconds), _) => Ok(seconds),
            (Moment::Unix(seconds), Some(start)) => Ok(seconds - start),
            (Moment::Unix(_), None) => Err(self.refused(
                "the recording does not contain the date of its start".to_owned(),
                "a period since its start, such as 30s",
            )),
        }
    }

    fn times(&self) -> Result<&[f64], Error> {
        match (&self.started_s, &self.values) {
            (Some(times), Values::Exact(_)) => Ok(times),
            _ => {
                Err(self
                    .refused("the samples have no times".to_owned(), "start times, to choose a period by"))
            }
        }
    }

    fn refused(&self, problem: String, expected: &'static str) -> Error {
        Error::Period { label: self.label.clone(), problem, expected }
    }
}
