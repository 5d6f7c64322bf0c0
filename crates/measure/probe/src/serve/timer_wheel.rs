//! Many sleepers on one precise timer: service times are often below the resolution of tokio's
//! timer.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{Notify, oneshot};

use crate::{clock::Clock, timer::Timer};

pub(crate) struct Sleeper {
    clock: Clock,
    beds: Mutex<Beds>,
    /// Notified when a new sleeper is the earliest.
    earlier: Notify,
}

#[derive(Default)]
struct Beds {
    /// Time, and index in `wakers`; the earliest on top.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    wakers: Vec<Option<oneshot::Sender<()>>>,
    free: Vec<usize>,
}

impl Sleeper {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, beds: Mutex::default(), earlier: Notify::new() }
    }

    /// Returns only while [`Self::run`] runs.
    pub(crate) async fn sleep(&self, duration: Duration) {
        if duration.is_zero() {
            return;
        }
        let at = self.clock.now().saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
        let (waker, woken) = oneshot::channel();
        if self.beds.lock().unwrap_or_else(PoisonError::into_inner).add(at, waker) {
            self.earlier.notify_one();
        }
        // Fails when the sleeper has ended: the origin is being stopped.
        let _ = woken.await;
    }

    pub(crate) async fn run(&self, mut timer: Timer) -> io::Result<()> {
        loop {
            let next = self.beds.lock().unwrap_or_else(PoisonError::into_inner).wake(self.clock.now());
            let Some(next) = next else {
                self.earlier.notified().await;
                continue;
            };
            let remaining = Duration::from_nanos(next.saturating_sub(self.clock.now()));
            tokio::select! {
                slept = timer.sleep(remaining) => slept?,
                () = self.earlier.notified() => {}
            }
        }
    }
}

impl Beds {
    fn add(&mut self, at: u64, waker: oneshot::Sender<()>) -> bool {
        let bed = self.free.pop().unwrap_or(self.wakers.len());
        if bed == self.wakers.len() {
            self.wakers.push(None);
        }
        self.wakers[bed] = Some(waker);
        self.due.push(Reverse((at, bed)));
        self.due.peek() == Some(&Reverse((at, bed)))
    }

    fn wake(&mut self, now: u64) -> Option<u64> {
        while let Some(&Reverse((at, bed))) = self.due.peek() {
            if at > now {
                return Some(at);
            }
            self.due.pop();
            self.free.push(bed);
            if let Some(waker) = self.wakers[bed].take() {
                let _ = waker.send(());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beds_are_left_in_order_and_used_again() {
        let mut beds = Beds::default();
        let (late, mut late_woken) = oneshot::channel();
        let (early, mut early_woken) = oneshot::channel();
        assert!(beds.add(20, late));
        assert!(beds.add(10, early));
        assert_eq!(beds.wake(9), Some(10));
        assert_eq!(beds.wake(10), Some(20));
        assert!(early_woken.try_recv().is_ok());
        assert!(late_woken.try_recv().is_err());
        let (third, _) = oneshot::channel();
        assert!(!beds.add(30, third));
        assert_eq!(beds.wakers.len(), 2, "the first to leave made room");
        assert_eq!(beds.wake(30), None);
        assert!(late_woken.try_recv().is_ok());
    }
}
