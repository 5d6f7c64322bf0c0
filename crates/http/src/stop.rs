//! How a shell asks a run or a server to end: once for an orderly end, twice for an immediate one.

use std::sync::Arc;

use tokio::sync::watch;

/// A request to stop that any thread may make; clones share it.
///
/// After one request to stop, a run starts nothing more, a server accepts nothing more, and both wait for what is in flight; asked
/// twice, they give that up too.
#[derive(Debug, Clone)]
pub struct Stop {
    asked: Arc<watch::Sender<u8>>,
}

impl Stop {
    /// One that nobody has asked for yet.
    pub fn new() -> Self {
        Self { asked: Arc::new(watch::Sender::new(0)) }
    }

    /// Asks to stop. Safe from any thread; a Ctrl-C handler calls it at each Ctrl-C.
    pub fn ask(&self) {
        self.asked.send_modify(|times| *times = times.saturating_add(1));
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow() > 0
    }

    /// Whether somebody has asked for an immediate end.
    pub fn is_insisted(&self) -> bool {
        *self.asked.borrow() > 1
    }

    /// Waits until somebody asks.
    pub async fn asked(&self) {
        self.asked_times(1).await;
    }

    /// Waits until somebody asks for an immediate end.
    pub async fn insisted(&self) {
        self.asked_times(2).await;
    }

    async fn asked_times(&self, least: u8) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.asked.subscribe().wait_for(|times| *times >= least).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
