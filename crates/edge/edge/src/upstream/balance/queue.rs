//! Requests that wait until an origin has a free place.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::sync::Notify;

use crate::upstream::connectors::MAX_WAITING;

/// Survives a reload.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) freed: Notify,
    waiting: AtomicUsize,
}

pub(super) struct QueuePlace<'q>(&'q Queue);

impl Queue {
    pub(super) fn enter(&self) -> Option<QueuePlace<'_>> {
        let place = QueuePlace(self);
        (self.waiting.fetch_add(1, SeqCst) < MAX_WAITING).then_some(place)
    }

    /// Must be called after the request in flight is subtracted.
    pub(super) fn wake_one(&self) {
        if self.waiting.load(SeqCst) > 0 {
            self.freed.notify_one();
        }
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, SeqCst);
    }
}
