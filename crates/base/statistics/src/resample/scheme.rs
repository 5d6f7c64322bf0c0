//! How the samples of a side depend on each other.

use crate::Distribution;

pub(crate) type Side<'s> = (&'s Distribution, Scheme<'s>);

/// How the samples of a side depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scheme<'s> {
    /// Not at all: each draw is any of the samples.
    Independent,
    /// Samples are correlated with those just before: draws are circular blocks of consecutive
    /// samples (Politis and Romano 1992). Only for exact samples.
    Blocks {
        /// All samples of the side in the order in which they were taken, ms.
        in_time_ms: &'s [f64],
        /// Samples in a block, 1..=n.
        length: usize,
    },
    /// Blocks whose length is measured, for each statistic of a pair.
    Timed(Timed<'s>),
}

/// The samples of a side in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed<'s> {
    /// All samples of the side in the order in which they were taken, ms.
    pub values_ms: &'s [f64],
    /// When each was taken, seconds since the start of the recording, ascending. Sides with times
    /// are compared in windows of time.
    pub started_s: Option<&'s [f64]>,
    /// From the earliest start of all recordings to the start of this recording, seconds; 0 if the
    /// dates are unknown.
    pub offset_s: f64,
    /// The first sample after a known change of level, which is removed before dependence is
    /// measured.
    pub step: Option<usize>,
    /// Samples in a block for the intervals of this side, 1..=n ([`crate::independent_stretch`]).
    pub length: usize,
}

impl<'s> Scheme<'s> {
    pub(crate) fn blocks(self) -> Option<(&'s [f64], usize)> {
        match self {
            Self::Independent | Self::Timed(Timed { length: 1, .. }) => None,
            Self::Blocks { in_time_ms, length } => Some((in_time_ms, length)),
            Self::Timed(timed) => Some((timed.values_ms, timed.length)),
        }
    }

    pub(crate) fn timed(self) -> Option<Timed<'s>> {
        match self {
            Self::Timed(timed) => Some(timed),
            Self::Independent | Self::Blocks { .. } => None,
        }
    }
}
