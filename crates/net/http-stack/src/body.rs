//! A message body that is sent or received in pieces, with backpressure.
//!
//! A body ends with its last piece or with a [`Failure`].

mod channel;
pub(crate) mod length_only;
mod limited;
pub(crate) mod peeked;
mod read_ahead;
mod read_timeout;

use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, atomic::AtomicBool},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
/// The trait that a body source implements, from the http-body crate.
pub use hyper::body::Body as Frames;
pub use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

pub use self::channel::{ReceiverDropped, Sender};
pub(crate) use self::read_timeout::ReadTimeout;
use self::{length_only::LengthOnly, limited::LimitedBody, peeked::PeekedBody, read_ahead::Ahead};
use crate::Failure;

/// A body, in memory or streamed.
pub struct Body {
    pieces: Pieces,
    counted: Option<LengthOnly>,
}

enum Pieces {
    Whole(Bytes),
    Stream(Pin<Box<dyn Frames<Data = Bytes, Error = Failure> + Send>>),
}

impl Body {
    /// Returns an empty body.
    pub const fn empty() -> Self {
        Self { pieces: Pieces::Whole(Bytes::new()), counted: None }
    }

    /// Returns a body that is entirely in memory; its length is announced.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { pieces: Pieces::Whole(bytes.into()), counted: None }
    }

    /// Returns a body that polls `frames` for the next frame when there is room to send it, and not
    /// before.
    pub fn stream(frames: impl Frames<Data = Bytes, Error = Failure> + Send + 'static) -> Self {
        Self { pieces: Pieces::Stream(Box::pin(frames)), counted: None }
    }

    pub(crate) fn countable(self, counted: LengthOnly) -> Self {
        Self { counted: Some(counted), ..self }
    }

    /// From now on the reader uses only the lengths of pieces; their content is unspecified.
    pub fn only_count(&self) {
        if let Some(counted) = &self.counted {
            counted.begin();
        }
    }

    /// Returns a body that is written while it is read. At most `room` pieces (at least 1) are
    /// queued.
    ///
    /// The body is complete only if [`Sender::finish`] is called.
    pub fn channel(room: usize) -> (Sender, Self) {
        let (sender, receiver) = channel::open(room);
        (sender, Self::stream(receiver))
    }

    /// Limits the time for each frame: the body fails with [`Failure::Timeout`] if a reader waits longer
    /// than `patience`.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        match self.pieces {
            Pieces::Whole(_) => self,
            Pieces::Stream(stream) => Self::stream(ReadTimeout::new(stream, patience)),
        }
    }

    /// Limits the length: the body fails with [`Failure::TooLarge`] after `most` bytes, and sets
    /// `is_exceeded`.
    #[must_use]
    pub fn limited(self, most: u64, is_exceeded: Arc<AtomicBool>) -> Self {
        match self.pieces {
            Pieces::Whole(_) => self,
            Pieces::Stream(stream) => Self::stream(LimitedBody::new(stream, most, is_exceeded)),
        }
    }

    /// Returns the next frame: data, or trailers as the last frame. `None` at the end.
    pub async fn frame(&mut self) -> Option<Result<Frame<Bytes>, Failure>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await
    }

    /// Returns the next piece of data, which is not empty; trailers are skipped. `None` at the end.
    ///
    /// # Errors
    /// The body fails before its end.
    pub async fn data(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(frame) = self.frame().await {
            if let Ok(data) = frame?.into_data()
                && !data.is_empty()
            {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Reads the whole body into memory.
    ///
    /// # Errors
    /// The body fails, or is longer than `most` bytes.
    pub async fn collect(mut self, most: usize) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        while let Some(data) = self.data().await? {
            if whole.len() + data.len() > most {
                return Err(Failure::TooLarge);
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }

    /// Reads the body into memory if it announces a length of at most `most` bytes, so that it can be
    /// sent again. A longer body, a body of unknown length or one with trailers stays a stream.
    ///
    /// # Errors
    /// The body fails.
    pub async fn in_memory(mut self, most: u64) -> Result<Self, Failure> {
        let length = match &self.pieces {
            Pieces::Whole(_) => None,
            Pieces::Stream(stream) => stream.size_hint().exact(),
        };
        let Some(length) = length.filter(|&length| length <= most) else { return Ok(self) };
        let mut whole = BytesMut::with_capacity(usize::try_from(length).unwrap_or(0));
        while let Some(frame) = self.frame().await {
            match frame?.into_data() {
                Ok(data) if (whole.len() + data.len()) as u64 <= length => whole.extend_from_slice(&data),
                Ok(_) => return Err(Failure::TooLarge),
                Err(trailers) => {
                    let rest = Self::stream(PeekedBody::new(Ok(trailers), self));
                    return Ok(Self::stream(PeekedBody::new(Ok(Frame::data(whole.freeze())), rest)));
                }
            }
        }
        Ok(Self::whole(whole))
    }

    /// Reads up to about `most` bytes ahead: the data that has already arrived and the data that arrives
    /// within `patience`.
    ///
    /// # Errors
    /// The body fails during that time.
    pub async fn look_ahead(self, most: u64, patience: Duration) -> Result<Self, Failure> {
        if matches!(self.pieces, Pieces::Whole(_)) {
            return Ok(self);
        }
        let mut ahead = Ahead::new(self);
        let mut late = pin!(None::<Sleep>);
        poll_fn(|cx| {
            while ahead.bytes() < most && !ahead.is_read() {
                match ahead.poll_read(cx) {
                    Poll::Ready(read) => read?,
                    Poll::Pending => {
                        if late.is_none() {
                            late.set(Some(sleep(patience)));
                        }
                        let is_late = late.as_mut().as_pin_mut().map(|late| late.poll(cx));
                        return if is_late == Some(Poll::Pending) {
                            Poll::Pending
                        } else {
                            Poll::Ready(Ok(()))
                        };
                    }
                }
            }
            Poll::Ready(Ok::<_, Failure>(()))
        })
        .await?;
        Ok(Self::stream(ahead))
    }

    /// Returns a copy of the body if it is in memory; a stream can be read only once.
    pub fn again(&self) -> Option<Self> {
        match &self.pieces {
            Pieces::Whole(bytes) => Some(Self::whole(bytes.clone())),
            Pieces::Stream(_) => None,
        }
    }
}

impl Frames for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match &mut self.pieces {
            Pieces::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Pieces::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Pieces::Stream(stream) => stream.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.pieces {
            Pieces::Whole(bytes) => bytes.is_empty(),
            Pieces::Stream(stream) => stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.pieces {
            Pieces::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Pieces::Stream(stream) => stream.size_hint(),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pieces {
            Pieces::Whole(bytes) => write!(f, "Body of {} bytes", bytes.len()),
            Pieces::Stream(_) => f.write_str("Body in pieces"),
        }
    }
}
