//! Keeps count of what a format cannot hold.

use std::collections::BTreeMap;

/// What was left out, by its name, and how often.
#[derive(Debug, Default)]
pub(super) struct Lost {
    counts: BTreeMap<&'static str, u64>,
    others: Vec<String>,
}

impl Lost {
    /// Something of one sample. `what` is a plural that begins a sentence.
    pub(super) fn note(&mut self, what: &'static str) {
        self.note_all(what, 1);
    }

    /// Something of so many samples.
    pub(super) fn note_all(&mut self, what: &'static str, samples: u64) {
        *self.counts.entry(what).or_default() += samples;
    }

    /// A sentence of its own.
    pub(super) fn say(&mut self, sentence: String) {
        self.others.push(sentence);
    }

    /// One sentence a loss.
    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |(what, count): (&str, u64)| {
            let samples = crate::error::counted(count, "sample");
            format!("{what} are left out, of {samples}.")
        };
        self.counts.into_iter().map(sentence).chain(self.others).collect()
    }
}
