//! Spans that wait for the collector: no more than there is room for.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use otlp::Span;
use tokio::sync::Notify;
use tracing::warn;

use crate::operator::TraceStatus;

/// Spans that wait, and what became of others.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<VecDeque<Span>>,
    /// Told when the first one is there, and when there are enough to be sent.
    pub(super) is_worth_a_look: Notify,
    sent: AtomicU64,
    lost: AtomicU64,
    error: Mutex<Option<String>>,
}

impl Queue {
    /// Adds spans, as long as there is room.
    pub(super) fn put(&self, spans: impl IntoIterator<Item = Span>) {
        let mut waiting = self.lock();
        let before = waiting.len();
        for span in spans {
            if waiting.len() < MOST_WAITING {
                waiting.push_back(span);
            } else {
                self.lost.fetch_add(1, Relaxed);
            }
        }
        let now = waiting.len();
        drop(waiting);
        if (before == 0 && now > 0) || (before < BATCH && now >= BATCH) {
            self.is_worth_a_look.notify_one();
        }
    }

    /// Takes those that are sent together, oldest first.
    pub(super) fn take(&self) -> Vec<Span> {
        let mut waiting = self.lock();
        let count = waiting.len().min(BATCH);
        waiting.drain(..count).collect()
    }

    /// Takes back what was not sent: what there is no room for any more is lost.
    pub(super) fn put_back(&self, spans: Vec<Span>) {
        let mut waiting = self.lock();
        let room = MOST_WAITING.saturating_sub(waiting.len());
        self.lost.fetch_add(spans.len().saturating_sub(room) as u64, Relaxed);
        spans.into_iter().rev().take(room).for_each(|span| waiting.push_front(span));
    }

    pub(super) fn is_full_batch(&self) -> bool {
        self.lock().len() >= BATCH
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// So many are with the collector.
    pub(super) fn were_sent(&self, count: u64) {
        self.sent.fetch_add(count, Relaxed);
    }

    /// So many are nowhere.
    pub(super) fn were_lost(&self, count: u64) {
        self.lost.fetch_add(count, Relaxed);
    }

    /// Says why the collector takes nothing, once, until it does again.
    pub(super) fn say(&self, why: Option<String>) {
        let mut told = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = why.as_ref().filter(|_| told.is_none()) {
            warn!(why, "traces cannot be sent to their collector; requests are answered all the same");
        }
        *told = why;
    }

    pub(super) fn report(&self) -> TraceStatus {
        TraceStatus {
            sent: self.sent.load(Relaxed),
            lost: self.lost.load(Relaxed),
            waiting: self.lock().len() as u64,
            error: self.error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Span>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Spans in one message: as many as OpenTelemetry's own exporters send.
const BATCH: usize = 512;
/// Spans in memory. One has up to 3 KiB of what visitors write.
const MOST_WAITING: usize = 8 * BATCH;

#[cfg(test)]
mod tests {
    use otlp::{Kind, SpanId, TraceId};

    use super::*;

    fn span(number: u32) -> Span {
        Span {
            trace: TraceId::new([1; 16]).unwrap(),
            id: SpanId::new([1; 8]).unwrap(),
            parent: None,
            name: number.to_string(),
            kind: Kind::Internal,
            start_ns: 0,
            end_ns: 0,
            attributes: vec![],
            events: vec![],
            is_error: false,
        }
    }

    #[test]
    fn there_is_room_for_so_many_and_the_rest_are_counted() {
        let queue = Queue::default();
        queue.put((0..4000).map(span));
        queue.put((4000..5000).map(span));
        let report = queue.report();
        assert_eq!((report.waiting, report.lost), (4096, 904));
        let taken = queue.take();
        assert_eq!((taken.len(), taken[0].name.as_str()), (512, "0"));
        queue.put((5000..5500).map(span));
        // What comes back is older than what was put in meanwhile, and the oldest of it goes.
        queue.put_back(taken);
        let report = queue.report();
        assert_eq!((report.waiting, report.lost), (4096, 904 + 500));
        assert_eq!(queue.take()[0].name, "500");
    }
}
