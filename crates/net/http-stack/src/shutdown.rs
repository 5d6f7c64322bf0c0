//! Stop signals for a run or a server: the first for a graceful shutdown, the second for an immediate
//! one.

use std::sync::Arc;

use tokio::sync::watch;

/// A stop signal that any thread may send; clones share it.
///
/// After the first signal, a run starts no more work, a server accepts no more connections, and both
/// wait for work in flight; after the second signal, they abort it.
#[derive(Debug, Clone)]
pub struct ShutdownSignal {
    asked: Arc<watch::Sender<u8>>,
}

impl ShutdownSignal {
    /// Creates a signal that has not been sent.
    pub fn new() -> Self {
        Self { asked: Arc::new(watch::Sender::new(0)) }
    }

    /// Sends the signal. Safe from any thread; a Ctrl-C handler calls it for each Ctrl-C.
    pub fn request(&self) {
        self.asked.send_modify(|times| *times = times.saturating_add(1));
    }

    /// Whether the signal has been sent.
    pub fn is_requested(&self) -> bool {
        *self.asked.borrow() > 0
    }

    /// Whether the signal has been sent twice.
    pub fn is_insisted(&self) -> bool {
        *self.asked.borrow() > 1
    }

    /// Waits for the signal.
    pub async fn asked(&self) {
        self.asked_times(1).await;
    }

    /// Waits for the second signal.
    pub async fn insisted(&self) {
        self.asked_times(2).await;
    }

    async fn asked_times(&self, least: u8) {
        // The sender is a field of `self`, so waiting cannot fail.
        let _ = self.asked.subscribe().wait_for(|times| *times >= least).await;
    }
}

impl Default for ShutdownSignal {
    fn default() -> Self {
        Self::new()
    }
}
