//! Counts the losses because of a format.

use std::collections::BTreeMap;

use crate::{Histogram, unit::nanoseconds};

#[derive(Debug, Default)]
pub(super) struct Lost {
    counts: BTreeMap<&'static str, u64>,
    changed: BTreeMap<&'static str, u64>,
    others: Vec<String>,
}

impl Lost {
    /// `what` is a plural that begins a sentence.
    pub(super) fn note(&mut self, what: &'static str) {
        self.note_all(what, 1);
    }

    pub(super) fn note_all(&mut self, what: &'static str, samples: u64) {
        *self.counts.entry(what).or_default() += samples;
    }

    /// In milliseconds, rounded to whole nanoseconds.
    pub(super) fn round(&mut self, milliseconds: f64, samples: u64) -> u64 {
        let ns = nanoseconds(milliseconds);
        if ns == 0 && milliseconds > 0.0 {
            self.change(TO_ZERO, samples);
        } else if milliseconds * 1e6 >= 2.0_f64.powi(64) {
            self.change(TO_LARGEST, samples);
        }
        ns
    }

    /// A histogram takes less than [`Lost::round`].
    pub(super) fn round_for_histogram(&mut self, milliseconds: f64, samples: u64) -> u64 {
        let ns = nanoseconds(milliseconds);
        if ns <= Histogram::LARGEST_NS {
            return self.round(milliseconds, samples);
        }
        self.change(TO_LARGEST_OF_HISTOGRAM, samples);
        Histogram::LARGEST_NS
    }

    /// A value that is in the file, but changed. `how` is a sentence in the plural.
    fn change(&mut self, how: &'static str, samples: u64) {
        *self.changed.entry(how).or_default() += samples;
    }

    pub(super) fn say(&mut self, sentence: String) {
        self.others.push(sentence);
    }

    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |(what, count): (&str, u64)| {
            let samples = crate::error::counted(count, "sample");
            format!("{what} are left out, of {samples}.")
        };
        let change = |(how, count): (&str, u64)| format!("{how}: {}.", crate::error::counted(count, "value"));
        let left_out = self.counts.into_iter().map(sentence);
        left_out.chain(self.changed.into_iter().map(change)).chain(self.others).collect()
    }
}

const TO_ZERO: &str = "Values above 0 and below half a nanosecond are written as 0";

/// 2^64 ns.
const TO_LARGEST: &str = "Values above 584 years are written as 584 years";

/// [`Histogram::LARGEST_NS`].
const TO_LARGEST_OF_HISTOGRAM: &str = "Values above 292 years are written as 292 years";
