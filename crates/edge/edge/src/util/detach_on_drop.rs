//! A future that continues as a task if it is dropped before it completes.
//!
//! A fetch with followers must complete even if its client disconnects. Spawning a task for each
//! miss would cost more, because most clients wait.

use std::{
    pin::Pin,
    task::{Context, Poll},
    thread,
};

use tokio::runtime::Handle;

pub(crate) struct DetachOnDrop<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> DetachOnDrop<T> {
    pub(crate) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<T: Send + 'static> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.0 else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        // No task is spawned during the shutdown of the process.
        if let Some(work) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
            && !thread::panicking()
        {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Notify, oneshot};

    use super::*;

    #[tokio::test]
    async fn dropped_future_continues_as_a_task() {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, end) = oneshot::channel();
        let work = {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            async move {
                begun.notify_one();
                go_on.notified().await;
                told.send("done").unwrap();
            }
        };
        tokio::select! {
            () = DetachOnDrop::new(work) => panic!("it ended before it was let go on"),
            () = begun.notified() => {}
        }
        go_on.notify_one();
        assert_eq!(end.await, Ok("done"));
    }

    #[tokio::test]
    async fn never_polled_future_runs_when_dropped() {
        let (told, end) = oneshot::channel();
        drop(DetachOnDrop::new(async move { told.send("done").unwrap() }));
        assert_eq!(end.await, Ok("done"));
    }

    #[tokio::test]
    async fn awaited_future_returns_its_output() {
        assert_eq!(DetachOnDrop::new(async { 7 }).await, 7);
    }

    #[test]
    fn dropped_without_a_runtime_it_is_cancelled() {
        drop(DetachOnDrop::new(async {}));
    }
}
