//! A waker that suppresses wake-ups while its task is running.
//!
//! A response sent during a poll of the connection is written by the same poll, but h2 wakes the
//! task for it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Wake, Waker},
};

#[derive(Debug, Default)]
pub(super) struct DeferredWaker {
    is_at_work: AtomicBool,
    is_called: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl DeferredWaker {
    pub(super) fn begin(&self, cx: &Context<'_>) {
        self.is_at_work.store(true, SeqCst);
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            *task = Some(cx.waker().clone());
        }
    }

    /// The task checks for all work now, so earlier wake-ups are handled.
    pub(super) fn look(&self) {
        self.is_called.store(false, SeqCst);
    }

    /// The task has finished its poll; wake-ups since `look` wake it.
    pub(super) fn end(&self) {
        self.is_at_work.store(false, SeqCst);
        if self.is_called.load(SeqCst) {
            self.wake_task();
        }
    }

    fn wake_task(&self) {
        if let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner) {
            task.wake_by_ref();
        }
    }
}

impl Wake for DeferredWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // This order is the reverse of that in `end`, so no wake-up is lost.
        self.is_called.store(true, SeqCst);
        if !self.is_at_work.load(SeqCst) {
            self.wake_task();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_task_is_woken_for_what_it_has_not_looked_at() {
        let (woken, quiet) = (Arc::<Woken>::default(), Arc::<DeferredWaker>::default());
        let (task, waker) = (Waker::from(Arc::clone(&woken)), Waker::from(Arc::clone(&quiet)));
        // A wake-up before `look`, after it, or while the task is idle, and how often the task is woken.
        for (before, after, idle, expected) in [
            (true, false, false, 0),
            (false, true, false, 1),
            (true, true, false, 1),
            (false, false, true, 1),
        ] {
            woken.0.store(0, SeqCst);
            quiet.begin(&Context::from_waker(&task));
            before.then(|| waker.wake_by_ref());
            quiet.look();
            after.then(|| waker.wake_by_ref());
            quiet.end();
            idle.then(|| waker.wake_by_ref());
            assert_eq!(woken.0.load(SeqCst), expected, "{before} {after} {idle}");
        }
    }
}
