//! Measured delay distributions, in the file format of netem and iproute2.

use std::fmt;

use crate::{
    FileError,
    numbers::{number, words},
    random::Random,
};

/// A distribution of deviations from the mean, with equally likely entries.
#[derive(Clone, PartialEq, Eq)]
pub struct Table {
    /// In units of 1/8192 spread.
    deviations: Vec<i16>,
    least: i16,
}

impl Table {
    /// Parses a distribution file of iproute2 (`*.dist`), in units of 1/8192 spread.
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

    /// In units of 1/8192 spread; `None` if empty.
    pub(crate) fn new(deviations: Vec<i16>) -> Option<Self> {
        let least = *deviations.iter().min()?;
        Some(Self { deviations, least })
    }

    #[cfg(test)]
    pub(crate) fn deviations(&self) -> &[i16] {
        &self.deviations
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder is an index")]
    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        let index = random.bits() % self.deviations.len() as u64;
        f64::from(self.deviations[index as usize]) / SPREAD
    }

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

/// iproute2's limit is 16384.
const MOST: usize = 65_536;

const EXPECTED: &str = "whole numbers from -32768 to 32767";
