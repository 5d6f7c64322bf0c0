//! The body of a response on a connection that requests share, as the caller gets it: stamped while it is read.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use super::{io::Recorder, stamps::Stamps};
use crate::{Body, Failure};

/// A body, and the exchange that it ends.
struct Download<B> {
    body: B,
    end: End,
}

/// What to do when a response is complete.
struct End {
    stamps: Arc<Stamps>,
    recorder: Arc<Recorder>,
}

/// The body of a response, with its stamps.
pub(crate) fn stamped<B: Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static>(
    body: B,
    stamps: Arc<Stamps>,
    recorder: Arc<Recorder>,
) -> Body {
    let end = End { stamps, recorder };
    if body.is_end_stream() {
        end.reached();
        return Body::empty();
    }
    Body::stream(Download { body, end })
}

impl End {
    fn reached(&self) {
        if let Some(at) = self.recorder.last_read() {
            self.stamps.ended(at, self.recorder.wire());
        }
    }

    fn received(&self, data: &Bytes) {
        if let Some(at) = self.recorder.last_read().filter(|_| !data.is_empty()) {
            self.stamps.received(data.len() as u64, at);
        }
    }
}

impl<B: Frames<Data = Bytes, Error = Failure> + Unpin> Frames for Download<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.end.received(data);
                }
                // A reader that knows from the length that this was the last frame need not poll again.
                if self.body.is_end_stream() {
                    self.end.reached();
                }
            }
            Some(Err(_)) => {}
            None => self.end.reached(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
