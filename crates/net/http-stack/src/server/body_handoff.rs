//! Passes a request's body from the connection to the handler, one piece at a time, on demand.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use crate::Failure;

#[derive(Debug)]
pub(super) struct BodySender(Arc<Mutex<HandoffSlots>>);

#[derive(Debug)]
pub(super) struct BodyReceiver {
    table: Arc<Mutex<HandoffSlots>>,
    left: Option<u64>,
}

#[derive(Debug, Default)]
struct HandoffSlots {
    piece: Option<Result<Frame<Bytes>, Failure>>,
    is_over: bool,
    is_wanted: bool,
    is_unwanted: bool,
    taker: Option<Waker>,
    giver: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Wanted,
    Room,
    Full,
    Unwanted,
}

pub(super) fn open(length: Option<u64>) -> (BodySender, BodyReceiver) {
    let table = Arc::<Mutex<HandoffSlots>>::default();
    (BodySender(Arc::clone(&table)), BodyReceiver { table, left: length })
}

impl BodySender {
    pub(super) fn wish(&self, cx: &Context<'_>) -> Demand {
        let mut table = lock(&self.0);
        table.giver = Some(cx.waker().clone());
        match &*table {
            HandoffSlots { is_unwanted: true, .. } => Demand::Unwanted,
            HandoffSlots { piece: Some(_), .. } => Demand::Full,
            HandoffSlots { is_wanted: true, .. } => Demand::Wanted,
            _ => Demand::Room,
        }
    }

    pub(super) fn give(&self, piece: Result<Frame<Bytes>, Failure>) {
        let mut table = lock(&self.0);
        table.piece = Some(piece);
        table.wake_taker();
    }

    pub(super) fn end(&self) {
        let mut table = lock(&self.0);
        table.is_over = true;
        table.wake_taker();
    }
}

impl Drop for BodySender {
    /// If the connection ends before the body is complete, the handler receives a failure.
    fn drop(&mut self) {
        let mut table = lock(&self.0);
        if !table.is_over {
            table.is_over = true;
            table.piece.get_or_insert(Err(Failure::Closed(crate::Stage::Body)));
            table.wake_taker();
        }
    }
}

impl HandoffSlots {
    fn wake_taker(&mut self) {
        self.is_wanted = false;
        if let Some(taker) = self.taker.take() {
            taker.wake();
        }
    }
}

impl Frames for BodyReceiver {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let mut table = lock(&self.table);
        let Some(piece) = table.piece.take() else {
            if table.is_over {
                return Poll::Ready(None);
            }
            // The connection and the handler usually share one task: waking it on each poll would be a
            // busy loop.
            let is_news = !std::mem::replace(&mut table.is_wanted, true);
            table.taker = Some(cx.waker().clone());
            let giver = if is_news { table.giver.take() } else { None };
            drop(table);
            giver.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        };
        let giver = table.giver.take();
        drop(table);
        giver.into_iter().for_each(Waker::wake);
        if let (Some(left), Ok(frame)) = (&mut self.left, &piece) {
            *left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len() as u64));
        }
        Poll::Ready(Some(piece))
    }

    fn is_end_stream(&self) -> bool {
        let table = lock(&self.table);
        table.is_over && table.piece.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for BodyReceiver {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        table.is_unwanted = true;
        table.piece = None;
        if let Some(giver) = table.giver.take() {
            giver.wake();
        }
    }
}

fn lock(table: &Mutex<HandoffSlots>) -> MutexGuard<'_, HandoffSlots> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_task_that_has_both_ends_rests_until_something_comes() {
        let (giver, mut taker) = open(None);
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let mut wishes = Vec::new();
        for _ in 0..3 {
            wishes.push(giver.wish(&cx));
            assert!(Pin::new(&mut taker).poll_frame(&mut cx).is_pending());
        }
        assert_eq!(wishes, [Demand::Room, Demand::Wanted, Demand::Wanted]);
        assert_eq!(count.0.load(SeqCst), 1, "when somebody began to wait, and not again");
        giver.give(Ok(Frame::data(Bytes::from_static(b"a"))));
        assert_eq!(count.0.load(SeqCst), 2);
        assert_eq!(giver.wish(&cx), Demand::Full);
        assert!(Pin::new(&mut taker).poll_frame(&mut cx).is_ready());
        assert_eq!((count.0.load(SeqCst), giver.wish(&cx)), (3, Demand::Room));
    }
}
