//! Recorded losses: a text with 0 for each received segment and 1 for each lost segment.

use std::fmt;

use crate::{FileError, numbers::words};

/// A loss recording. It repeats after its end.
#[derive(Clone, PartialEq, Eq)]
pub struct LossTrace {
    gaps: Vec<u32>,
    rest: u32,
}

impl LossTrace {
    /// Parses the characters 0 and 1, one per segment, at most 100 million.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let (mut gaps, mut rest, mut segments) = (Vec::new(), 0, 0);
        for (line, word) in words(bytes) {
            segments += word.len();
            if segments > MOST {
                return Err(FileError::TooLong { line, limit: MOST });
            }
            for digit in word {
                match digit {
                    b'0' => rest += 1,
                    b'1' => gaps.push(std::mem::take(&mut rest)),
                    _ => return Err(FileError::unexpected(line, word, EXPECTED)),
                }
            }
        }
        if segments == 0 { Err(FileError::Empty { expected: EXPECTED }) } else { Ok(Self { gaps, rest }) }
    }

    pub(super) fn gap_before(&self, loss: usize) -> Option<u64> {
        let index = loss.checked_rem(self.gaps.len())?;
        let wrapped = if index == 0 && loss > 0 { self.rest } else { 0 };
        Some(u64::from(self.gaps[index]) + u64::from(wrapped))
    }
}

impl fmt::Debug for LossTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.gaps.iter().map(|gap| u64::from(*gap)).sum::<u64>() + u64::from(self.rest);
        write!(f, "LossTrace({} of {} segments)", self.gaps.len(), passed + self.gaps.len() as u64)
    }
}

/// At most 400 MB of memory, if all segments are lost.
const MOST: usize = 100_000_000;

const EXPECTED: &str = "0 for a received segment and 1 for a lost segment";
