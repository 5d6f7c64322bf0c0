//! What the wire does to segments: loses, damages or copies some of them.

use crate::{Config, Loss, loss::Occurrences, random::Random};

/// What happens to segments on the wire.
#[derive(Debug)]
pub(crate) struct Fates {
    loss: Occurrences,
    duplicate: Occurrences,
    corrupt: Occurrences,
    bits: Random,
}

/// What happens to the next segments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing, to this many.
    Clear(u32),
    /// The next one is lost.
    Lost,
    /// The next one is damaged, copied, or both.
    Changed {
        /// How many of it arrive.
        copies: u32,
        /// Which bit is flipped.
        corrupt: Option<u64>,
    },
}

impl Fates {
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        Self {
            loss: Occurrences::new(config.loss.clone(), Random::new(seed, [0; 8])),
            duplicate: Occurrences::new(Loss::Bernoulli(config.duplicate), Random::new(seed, *b"duplicat")),
            corrupt: Occurrences::new(Loss::Bernoulli(config.corrupt), Random::new(seed, *b"corrupt ")),
            bits: Random::new(seed, *b"bit     "),
        }
    }

    /// Changes the chances from here on.
    pub(crate) fn set(&mut self, config: &Config) {
        self.loss.set(&config.loss);
        self.duplicate.set(&Loss::Bernoulli(config.duplicate));
        self.corrupt.set(&Loss::Bernoulli(config.corrupt));
    }

    /// Decides over the next segment, and over up to `most` if the same happens to them: nothing.
    pub(crate) fn next(&mut self, most: u32) -> Fate {
        let (lost, copied, damaged) =
            (self.loss.clear() == 0, self.duplicate.clear() == 0, self.corrupt.clear() == 0);
        let clear = self.loss.clear().min(self.duplicate.clear()).min(self.corrupt.clear());
        let segments = u32::try_from(clear).unwrap_or(u32::MAX).clamp(1, most);
        self.loss.pass(segments);
        self.duplicate.pass(segments);
        self.corrupt.pass(segments);
        if lost {
            Fate::Lost
        } else if copied || damaged {
            Fate::Changed { copies: 1 + u32::from(copied), corrupt: damaged.then(|| self.bits.bits()) }
        } else {
            Fate::Clear(segments)
        }
    }
}
