//! Bounded queue of spans for the collector.

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

use crate::admin::api::TraceStatus;

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<VecDeque<Span>>,
    pub(super) is_worth_a_look: Notify,
    sent: AtomicU64,
    lost: AtomicU64,
    error: Mutex<Option<String>>,
}

impl Queue {
    pub(super) fn put(&self, spans: impl IntoIterator<Item = Span>) {
        let mut waiting = self.lock();
        let before = waiting.len();
        for span in spans {
            if waiting.len() < MAX_QUEUED {
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

    pub(super) fn take(&self) -> Vec<Span> {
        let mut waiting = self.lock();
        let count = waiting.len().min(BATCH);
        waiting.drain(..count).collect()
    }

    pub(super) fn put_back(&self, spans: Vec<Span>) {
        let mut waiting = self.lock();
        let room = MAX_QUEUED.saturating_sub(waiting.len());
        self.lost.fetch_add(spans.len().saturating_sub(room) as u64, Relaxed);
        spans.into_iter().rev().take(room).for_each(|span| waiting.push_front(span));
    }

    pub(super) fn is_full_batch(&self) -> bool {
        self.lock().len() >= BATCH
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(super) fn were_sent(&self, count: u64) {
        self.sent.fetch_add(count, Relaxed);
    }

    pub(super) fn were_lost(&self, count: u64) {
        self.lost.fetch_add(count, Relaxed);
    }

    /// Logs only the first failure after a success.
    pub(super) fn report_error(&self, why: Option<String>) {
        let mut reported = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = why.as_ref().filter(|_| reported.is_none()) {
            warn!(why, "traces cannot be sent to the collector; requests are still served");
        }
        *reported = why;
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

/// The default of OpenTelemetry's exporters.
const BATCH: usize = 512;
/// A span contains up to 3 KiB of client data.
const MAX_QUEUED: usize = 8 * BATCH;

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
    fn full_queue_drops_and_counts_spans() {
        let queue = Queue::default();
        queue.put((0..4000).map(span));
        queue.put((4000..5000).map(span));
        let report = queue.report();
        assert_eq!((report.waiting, report.lost), (4096, 904));
        let taken = queue.take();
        assert_eq!((taken.len(), taken[0].name.as_str()), (512, "0"));
        queue.put((5000..5500).map(span));
        queue.put_back(taken);
        let report = queue.report();
        assert_eq!((report.waiting, report.lost), (4096, 904 + 500));
        assert_eq!(queue.take()[0].name, "500");
    }
}
