//! A body that is sent or received piece by piece, at the pace of the slower end.
//!
//! One type for all four uses in a proxy: request and response, coming in and going out. What was received can be
//! sent on as it is. It ends in one of two ways: with its last piece, or with a [`Failure`]. Code that passes a body on
//! must pass its failure on too, and everything in this crate does.

mod ahead;
pub(crate) mod begun;
mod channel;
pub(crate) mod counted;
mod patient;

use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
/// What a body of one's own has to do: the trait of the http-body crate.
pub use hyper::body::Body as Frames;
pub use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

pub use self::channel::{Gone, Sender};
pub(crate) use self::patient::Patient;
use self::{ahead::Ahead, begun::Begun, counted::Counted};
use crate::Failure;

/// A body, whole or in pieces.
pub struct Body {
    pieces: Pieces,
    /// Whoever brings the pieces, if it can do without copying them.
    counted: Option<Counted>,
}

enum Pieces {
    /// All of it, until it was taken.
    Whole(Bytes),
    Stream(Pin<Box<dyn Frames<Data = Bytes, Error = Failure> + Send>>),
}

impl Body {
    /// One without a byte.
    pub const fn empty() -> Self {
        Self { pieces: Pieces::Whole(Bytes::new()), counted: None }
    }

    /// One that is in memory as a whole; its length is announced.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { pieces: Pieces::Whole(bytes.into()), counted: None }
    }

    /// One that comes from elsewhere: asked for its next frame when there is room for it, and not before.
    pub fn stream(frames: impl Frames<Data = Bytes, Error = Failure> + Send + 'static) -> Self {
        Self { pieces: Pieces::Stream(Box::pin(frames)), counted: None }
    }

    /// The same body, whose source can do without copying.
    pub(crate) fn countable(self, counted: Counted) -> Self {
        Self { counted: Some(counted), ..self }
    }

    /// From here on only the lengths of pieces count: what is in those that come may be anything. A connection in clear text leaves the bytes
    /// of a request's body where they are then, where the body's length was announced; others go on as before.
    pub fn only_count(&self) {
        if let Some(counted) = &self.counted {
            counted.begin();
        }
    }

    /// One that is written while it is read. At most `room` pieces (at least 1) wait to be read, and [`Sender::send`]
    /// waits for room.
    ///
    /// The body is whole only if [`Sender::finish`] is called: if the sender is dropped before, by an error or a panic,
    /// the body fails with [`Failure::Source`].
    pub fn channel(room: usize) -> (Sender, Self) {
        let (sender, receiver) = channel::open(room);
        (sender, Self::stream(receiver))
    }

    /// The same body, which breaks off with [`Failure::Timeout`] if its next frame takes longer than `patience` while somebody waits for it.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        match self.pieces {
            Pieces::Whole(_) => self,
            Pieces::Stream(stream) => Self::stream(Patient::new(stream, patience)),
        }
    }

    /// The next frame: data, or trailers as the last one. `None` at the end.
    pub async fn frame(&mut self) -> Option<Result<Frame<Bytes>, Failure>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await
    }

    /// The next piece of data, never an empty one; trailers are passed over. `None` at the end.
    ///
    /// # Errors
    /// When the body breaks off.
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

    /// Reads it to its end, into memory.
    ///
    /// # Errors
    /// When it breaks off, or is longer than `most` bytes.
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

    /// The same body, read into memory if it announces its length and that is `most` bytes at most, so that it can be sent again. Any other
    /// one stays the stream that it is, and so does one with trailers.
    ///
    /// # Errors
    /// When it breaks off.
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
                    let rest = Self::stream(Begun::new(Ok(trailers), self));
                    return Ok(Self::stream(Begun::new(Ok(Frame::data(whole.freeze())), rest)));
                }
            }
        }
        Ok(Self::whole(whole))
    }

    /// The same body, of which up to about `most` bytes were read ahead: what has come already, and what comes within `patience`.
    ///
    /// # Errors
    /// When it breaks off within them.
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

    /// The same body once more, if it is in memory: a stream can be read only once.
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
