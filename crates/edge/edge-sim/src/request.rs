//! Requests of a trace, and their sources.

use crate::{Error, LeftOut};

/// A request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The arrival at its data centre, in nanoseconds since the beginning. Ascending.
    pub at_ns: u64,
    /// The hash of its key.
    pub key: u64,
    /// The length of the response's body.
    pub bytes: u64,
    /// The freshness lifetime of the response; 0 means never stored, and [`u64::MAX`] never stale.
    pub fresh_ns: u64,
    /// The index of the visitor's city in the gazetteer.
    pub city: u16,
}

/// A source of requests, in blocks.
pub trait Source {
    /// The next requests in ascending order of time, at least one; `None` at the end.
    ///
    /// # Errors
    /// Fails if a trace cannot be read or is invalid.
    fn next_block(&mut self) -> Result<Option<Vec<Request>>, Error>;

    /// The total number of requests, if known in advance.
    fn expected(&self) -> Option<u64>;

    /// The requests that were skipped so far.
    fn left_out(&self) -> LeftOut {
        LeftOut::default()
    }

    /// Warnings about unreadable parts of the trace, available at the end.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// 2.5 MB: large compared with the cost of passing it to another thread.
pub(crate) const BLOCK: usize = 65_536;
