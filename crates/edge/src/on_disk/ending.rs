//! How long a disk may take at the end: what waits then is of a cache, and whoever stops a program or takes its place does not wait for that.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// The end of a disk's writing, which may not have begun.
#[derive(Debug, Default)]
pub(super) struct Ending(OnceLock<Instant>);

impl Ending {
    /// From now on there is so much time.
    pub(super) fn begin(&self) {
        let _ = self.0.set(Instant::now() + LONGEST);
    }

    /// Whether that has passed.
    pub(super) fn is_over(&self) -> bool {
        self.0.get().is_some_and(|end| Instant::now() >= *end)
    }
}

/// Enough for a disk that writes 16 MB a second to write all that may wait.
const LONGEST: Duration = Duration::from_secs(2);
