//! Recorded losses: a text of 0 for a segment that arrived and 1 for one that was lost.

use std::fmt;

use crate::{FileError, numbers::words};

/// Which segments were lost. After the last one the recording begins again.
#[derive(Clone, PartialEq, Eq)]
pub struct LossTrace {
    /// How many segments pass before each loss.
    gaps: Vec<u32>,
    /// How many pass after the last loss, before the end.
    rest: u32,
}

impl LossTrace {
    /// Reads the characters 0 and 1, one a segment, with blanks and line ends where the author likes them, at most
    /// 100 million. Text after a `#` is ignored.
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

    /// How many segments pass between the loss with the index `loss`, counted through all repetitions, and the one
    /// before; `None` if none is ever lost.
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

/// At most 400 MB of memory, if all are lost.
const MOST: usize = 100_000_000;

const EXPECTED: &str = "0 for a segment that arrives and 1 for one that is lost";
