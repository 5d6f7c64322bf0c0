//! The body of a response on a shared connection, with time stamps.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;
use hyper::{
    Response,
    body::{Body as Frames, Frame, SizeHint},
};

use super::{io::Recorder, timestamps::Stamps};
use crate::{Body, Failure, body::peeked::PeekedBody, http1::framing};

struct Download<B> {
    body: B,
    end: End,
}

struct End {
    stamps: Arc<Stamps>,
    recorder: Arc<Recorder>,
}

pub(crate) fn stamped<B: Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static>(
    response: Response<B>,
    stamps: Arc<Stamps>,
    recorder: Arc<Recorder>,
) -> Response<Body> {
    // Reading releases flow-control window for data that the caller may not want. A short body has no
    // more data.
    let is_short =
        framing::length(response.headers()).is_ok_and(|length| length.is_some_and(|length| length <= SHORT));
    let end = End { stamps, recorder };
    response.map(|body| {
        if body.is_end_stream() {
            end.reached();
            return Body::empty();
        }
        let download = Download { body, end };
        if is_short { download.there() } else { Body::stream(download) }
    })
}

impl<B: Frames<Data = Bytes, Error = Failure> + Send + Unpin + 'static> Download<B> {
    fn there(mut self) -> Body {
        let first = match Pin::new(&mut self).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => return Body::stream(self),
            Poll::Ready(None) => return Body::empty(),
            Poll::Ready(Some(first)) => first,
        };
        if self.is_end_stream()
            && let Ok(frame) = &first
            && let Some(data) = frame.data_ref()
        {
            return Body::whole(data.clone());
        }
        let rest = if first.is_ok() { Body::stream(self) } else { Body::empty() };
        Body::stream(PeekedBody::new(first, rest))
    }
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

/// The most body bytes read before the caller polls: one frame of the default size (RFC 9113 section
/// 6.5.2).
const SHORT: u64 = 16 << 10;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use hyper::HeaderMap;

    use super::*;
    use crate::{
        client::{byte_counter::ByteCounter, trace::Trace},
        clock::Clock,
    };

    struct There {
        frames: VecDeque<Result<Frame<Bytes>, Failure>>,
        is_all: bool,
    }

    impl Frames for There {
        type Data = Bytes;
        type Error = Failure;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
            match self.frames.pop_front() {
                None if !self.is_all => Poll::Pending,
                frame => Poll::Ready(frame),
            }
        }

        fn is_end_stream(&self) -> bool {
            self.is_all && self.frames.is_empty()
        }
    }

    fn body(length: u64, is_all: bool, frames: Vec<Result<Frame<Bytes>, Failure>>) -> (Body, Trace) {
        let clock = Clock::start();
        let recorder = Arc::new(Recorder::new(Arc::<ByteCounter>::default(), clock));
        recorder.read();
        let trace = Trace::start(clock.now());
        let mut response = Response::new(There { frames: frames.into(), is_all });
        response.headers_mut().insert(hyper::header::CONTENT_LENGTH, length.into());
        (stamped(response, trace.stamps(), recorder).into_body(), trace)
    }

    fn data(bytes: &'static [u8]) -> Result<Frame<Bytes>, Failure> {
        Ok(Frame::data(Bytes::from_static(bytes)))
    }

    #[test]
    fn a_short_body_that_is_there_is_at_its_end() {
        let (body, trace) = body(5, true, vec![data(b"short")]);
        assert_eq!(body.again().unwrap().size_hint().exact(), Some(5));
        assert_eq!((trace.body_bytes(), trace.last_byte().is_some()), (5, true));
    }

    #[test]
    fn nothing_is_read_of_a_long_one_before_somebody_wants_it() {
        let (_body, trace) = body(SHORT + 1, true, vec![data(b"long")]);
        assert_eq!((trace.body_bytes(), trace.last_byte()), (0, None));
    }

    #[tokio::test]
    async fn what_is_not_all_comes_in_its_order_and_with_its_end() {
        let trailers = HeaderMap::from_iter([(hyper::header::ETAG, "e".parse().unwrap())]);
        let frames = vec![data(b"with "), data(b"trailers"), Ok(Frame::trailers(trailers.clone()))];
        let (mut whole, trace) = body(13, true, frames);
        assert_eq!(whole.data().await, Ok(Some(Bytes::from_static(b"with "))));
        assert_eq!(whole.data().await, Ok(Some(Bytes::from_static(b"trailers"))));
        assert_eq!(whole.frame().await.unwrap().unwrap().into_trailers().ok(), Some(trailers));
        assert!(whole.frame().await.is_none() && trace.last_byte().is_some());

        for before in [vec![], vec![data(b"half")]] {
            let frames = before.into_iter().chain([Err(Failure::Reset)]).collect();
            let (broken, trace) = body(8, true, frames);
            assert_eq!(broken.collect(8).await, Err(Failure::Reset));
            assert_eq!(trace.last_byte(), None);
        }
    }
}
