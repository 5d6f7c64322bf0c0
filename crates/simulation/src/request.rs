//! One request of a trace, and where they come from.

use crate::{Error, LeftOut};

/// A request as the simulation sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// When it reaches its data centre, in nanoseconds since the beginning. Never before the one before it.
    pub at_ns: u64,
    /// The hash of its key.
    pub key: u64,
    /// The length of the response's body.
    pub bytes: u64,
    /// How long the response is fresh; 0 is never stored, [`u64::MAX`] for ever.
    pub fresh_ns: u64,
    /// The visitor's city: its number in the gazetteer.
    pub city: u16,
}

/// Something that has requests, a block after the other.
pub trait Source {
    /// The next requests in the order of their times, at least one; `None` at the end.
    ///
    /// # Errors
    /// When a trace cannot be read, or has something wrong in it.
    fn next_block(&mut self) -> Result<Option<Vec<Request>>, Error>;

    /// How many requests there are in all, if that is known beforehand.
    fn expected(&self) -> Option<u64>;

    /// How many were left out so far, as they cannot be simulated.
    fn left_out(&self) -> LeftOut {
        LeftOut::default()
    }

    /// Sentences about what could not be read, at the end.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Requests in a block: much more than handing it over costs, and 2.5 MB.
pub(crate) const BLOCK: usize = 65_536;
