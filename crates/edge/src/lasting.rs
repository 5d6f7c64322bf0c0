//! A future that continues as a task if it is dropped before it completes.
//!
//! A fetch with followers must complete even if its client disconnects. Spawning a task for each miss would
//! cost more, because most clients wait.

use std::{
    pin::Pin,
    task::{Context, Poll},
    thread,
};

use tokio::runtime::Handle;

pub(crate) struct Lasting<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> Lasting<T> {
    pub(crate) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<T: Send + 'static> Future for Lasting<T> {
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

impl<T: Send + 'static> Drop for Lasting<T> {
    fn drop(&mut self) {
        // No task is spawned during the shutdown of the process.
        if let Some(work) = self.0.take()
            && let Ok(here) = Handle::try_current()
            && !thread::panicking()
        {
            here.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Notify, oneshot};

    use super::*;

    #[tokio::test]
    async fn it_goes_on_when_nobody_waits_any_more() {
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
            () = Lasting::new(work) => panic!("it ended before it was let go on"),
            () = begun.notified() => {}
        }
        go_on.notify_one();
        assert_eq!(end.await, Ok("done"));
    }

    #[tokio::test]
    async fn work_that_nobody_has_waited_for_is_done_too() {
        let (told, end) = oneshot::channel();
        drop(Lasting::new(async move { told.send("done").unwrap() }));
        assert_eq!(end.await, Ok("done"));
    }

    #[tokio::test]
    async fn who_waits_has_what_it_comes_to() {
        assert_eq!(Lasting::new(async { 7 }).await, 7);
    }

    #[test]
    fn without_a_runtime_it_ends() {
        drop(Lasting::new(async {}));
    }
}
