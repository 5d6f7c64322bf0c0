//! Impairments of segments in transit: loss, damage, duplication.

use crate::{Config, Loss, loss::Occurrences, random::Random};

#[derive(Debug)]
pub(crate) struct Fates {
    loss: Occurrences,
    duplicate: Occurrences,
    corrupt: Occurrences,
    reorder: Occurrences,
    bits: Random,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Clear(u32),
    Lost,
    Changed(Change),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Change {
    pub(crate) copied: bool,
    /// Without propagation delay, ahead of earlier segments.
    pub(crate) early: bool,
    pub(crate) corrupt: Option<u64>,
}

impl Fate {
    pub(crate) fn segments(&self) -> u32 {
        match self {
            Self::Clear(segments) => *segments,
            Self::Lost | Self::Changed(_) => 1,
        }
    }
}

impl Fates {
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        let seldom = |chance, name| Occurrences::new(Loss::Bernoulli(chance), Random::new(seed, name));
        Self {
            loss: Occurrences::new(config.loss.clone(), Random::new(seed, *b"loss    ")),
            duplicate: seldom(config.duplicate, *b"duplicat"),
            corrupt: seldom(config.corrupt, *b"corrupt "),
            reorder: seldom(config.reorder, *b"reorder "),
            bits: Random::new(seed, *b"bits    "),
        }
    }

    pub(crate) fn set(&mut self, config: &Config) {
        self.loss.set(&config.loss);
        self.duplicate.set(&Loss::Bernoulli(config.duplicate));
        self.corrupt.set(&Loss::Bernoulli(config.corrupt));
        self.reorder.set(&Loss::Bernoulli(config.reorder));
    }

    pub(crate) fn next(&mut self, most: u32) -> Fate {
        let processes = [&mut self.loss, &mut self.duplicate, &mut self.reorder, &mut self.corrupt];
        let clear = processes.iter().map(|process| process.clear()).min().unwrap_or(u64::MAX);
        let segments = u32::try_from(clear).unwrap_or(u32::MAX).clamp(1, most);
        let [lost, copied, early, damaged] = processes.map(|process| {
            let happens = process.clear() == 0;
            process.pass(segments);
            happens
        });
        if lost {
            Fate::Lost
        } else if copied || early || damaged {
            Fate::Changed(Change { copied, early, corrupt: damaged.then(|| self.bits.bits()) })
        } else {
            Fate::Clear(segments)
        }
    }
}
