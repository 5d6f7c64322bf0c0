//! A body that one task writes while another task reads it.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::{
    HeaderMap,
    body::{Body, Frame},
};
use tokio::sync::mpsc;

use crate::Failure;

/// The sending half of [`Body::channel`](crate::Body::channel).
#[derive(Debug)]
pub struct Sender {
    pieces: mpsc::Sender<Piece>,
}

/// The body has no reader any longer: its connection is closed, or the reader has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reader of this body is gone")]
pub struct ReceiverDropped;

#[derive(Debug)]
enum Piece {
    Frame(Frame<Bytes>),
    End,
}

impl Sender {
    /// Waits for room and adds a piece.
    ///
    /// # Errors
    /// The reader is gone.
    pub async fn send(&self, data: impl Into<Bytes>) -> Result<(), ReceiverDropped> {
        self.add(Piece::Frame(Frame::data(data.into()))).await
    }

    /// Marks the body as complete.
    ///
    /// # Errors
    /// The reader is gone.
    pub async fn finish(self) -> Result<(), ReceiverDropped> {
        self.add(Piece::End).await
    }

    /// Marks the body as complete, and waits until the reader has received that.
    ///
    /// # Errors
    /// The reader is gone.
    pub async fn finish_and_wait(self) -> Result<(), ReceiverDropped> {
        self.add(Piece::End).await?;
        self.pieces.closed().await;
        Ok(())
    }

    /// Waits until the reader is gone.
    pub async fn gone(&self) {
        self.pieces.closed().await;
    }

    /// Marks the body as complete, with trailers.
    ///
    /// # Errors
    /// The reader is gone.
    pub async fn finish_with(self, trailers: HeaderMap) -> Result<(), ReceiverDropped> {
        self.add(Piece::Frame(Frame::trailers(trailers))).await?;
        self.add(Piece::End).await
    }

    async fn add(&self, piece: Piece) -> Result<(), ReceiverDropped> {
        self.pieces.send(piece).await.map_err(|_| ReceiverDropped)
    }
}

pub(super) fn open(room: usize) -> (Sender, Receiver) {
    let (sender, pieces) = mpsc::channel(room.max(1));
    (Sender { pieces: sender }, Receiver { pieces, is_whole: false })
}

pub(super) struct Receiver {
    pieces: mpsc::Receiver<Piece>,
    is_whole: bool,
}

impl Body for Receiver {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.is_whole {
            return Poll::Ready(None);
        }
        Poll::Ready(match ready!(self.pieces.poll_recv(cx)) {
            Some(Piece::Frame(frame)) => Some(Ok(frame)),
            Some(Piece::End) => {
                self.is_whole = true;
                None
            }
            None => Some(Err(Failure::Source)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_whole
    }
}

#[cfg(test)]
mod tests {
    use crate::{Body, Failure, body::ReceiverDropped};

    #[tokio::test(flavor = "current_thread")]
    async fn a_body_is_whole_only_if_it_was_finished() {
        let (sender, body) = Body::channel(2);
        sender.send("ab").await.unwrap();
        sender.finish().await.unwrap();
        assert_eq!(body.collect(2).await.unwrap(), "ab");
        let (sender, mut body) = Body::channel(2);
        sender.send("ab").await.unwrap();
        drop(sender);
        assert_eq!(body.data().await.unwrap().unwrap(), "ab");
        assert_eq!(body.data().await, Err(Failure::Source));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_writer_waits_for_room_and_learns_that_nobody_reads() {
        let (sender, mut body) = Body::channel(1);
        sender.send("a").await.unwrap();
        let mut second = std::pin::pin!(sender.send("b"));
        assert!(
            std::future::poll_fn(|cx| std::task::Poll::Ready(second.as_mut().poll(cx).is_pending())).await
        );
        assert_eq!(body.data().await.unwrap().unwrap(), "a");
        second.await.unwrap();
        drop(body);
        assert_eq!(sender.send("c").await, Err(ReceiverDropped));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn no_more_is_collected_than_was_allowed() {
        assert_eq!(Body::whole("abc").collect(2).await, Err(Failure::TooLarge));
        assert_eq!(Body::whole("abc").collect(3).await.unwrap(), "abc");
        assert!(Body::whole("abc").again().is_some() && Body::channel(1).1.again().is_none());
    }
}
