//! Delays as somebody measured them, in the files that netem and iproute2 use.

use std::fmt;

use crate::{
    FileError,
    numbers::{number, words},
    random::Random,
};

/// A distribution of deviations from the mean. Each entry is as likely as any other.
#[derive(Clone, PartialEq, Eq)]
pub struct Table {
    /// In 8192nds of a spread.
    deviations: Vec<i16>,
    least: i16,
}

impl Table {
    /// Reads a distribution file of iproute2 (`*.dist`): whole numbers, 8192 of which are one spread, at most 65536.
    /// Text after a `#` is ignored.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let mut deviations = Vec::new();
        for (line, word) in words(bytes) {
            let deviation = number(word).ok_or_else(|| FileError::unexpected(line, word, EXPECTED))?;
            if deviations.len() == MOST {
                return Err(FileError::TooLong { line, limit: MOST });
            }
            deviations.push(deviation);
        }
        Self::new(deviations).ok_or(FileError::Empty { expected: EXPECTED })
    }

    /// Deviations in 8192nds of a spread; `None` if there are none.
    pub(crate) fn new(deviations: Vec<i16>) -> Option<Self> {
        let least = *deviations.iter().min()?;
        Some(Self { deviations, least })
    }

    #[cfg(test)]
    pub(crate) fn deviations(&self) -> &[i16] {
        &self.deviations
    }

    /// A deviation, in spreads.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is an index")]
    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        let index = random.bits() % self.deviations.len() as u64;
        f64::from(self.deviations[index as usize]) / SPREAD
    }

    /// The least deviation, in spreads.
    pub(super) fn least(&self) -> f64 {
        f64::from(self.least) / SPREAD
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} entries)", self.deviations.len())
    }
}

/// NETEM_DIST_SCALE in Linux' pkt_sched.h.
const SPREAD: f64 = 8192.0;

/// iproute2 itself takes 16384.
const MOST: usize = 65_536;

const EXPECTED: &str = "whole numbers from -32768 to 32767";
