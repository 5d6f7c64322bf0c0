//! A response body with time stamps; at its end the connection returns to the pool.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::body::{Body as Frames, Frame, SizeHint};

use super::super::{pool::Lease, timestamps::Stamps};
use crate::{Body, Failure};

pub(crate) fn stamped(mut lease: Lease, stamps: Arc<Stamps>) -> Body {
    let connection = lease.connection();
    let there = connection.take_rest();
    let download = Download { state: State::Reading(lease), stamps };
    match there {
        None => Body::stream(download),
        Some(data) => {
            let mut download = download;
            download.received(&data);
            download.reached();
            Body::whole(data)
        }
    }
}

struct Download {
    state: State,
    stamps: Arc<Stamps>,
}

enum State {
    /// A drop in this state closes the connection, because the rest of the response is unread.
    Reading(Lease),
    Whole,
    Failed(Failure),
}

impl Download {
    fn received(&mut self, data: &Bytes) {
        if let State::Reading(lease) = &mut self.state
            && !data.is_empty()
            && let Some(at) = lease.connection().recorder().last_read()
        {
            self.stamps.received(data.len() as u64, at);
        }
    }

    fn reached(&mut self) {
        if let State::Reading(mut lease) = std::mem::replace(&mut self.state, State::Whole) {
            let connection = lease.connection();
            connection.finish();
            let recorder = connection.recorder();
            if let Some(at) = recorder.last_read() {
                self.stamps.ended(at, recorder.wire());
            }
            lease.give_back();
        }
    }
}

impl Frames for Download {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let lease = match &mut self.state {
            State::Reading(lease) => lease,
            State::Whole => return Poll::Ready(None),
            State::Failed(failure) => return Poll::Ready(Some(Err(*failure))),
        };
        let connection = lease.connection();
        let frame = ready!(connection.poll_frame(cx));
        let is_whole = connection.is_whole();
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.received(data);
                }
                // A reader that tracks the announced length does not poll again after the last frame.
                if is_whole {
                    self.reached();
                }
            }
            Some(Err(failure)) => self.state = State::Failed(*failure),
            None => self.reached(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Whole)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Reading(lease) => lease.left().map_or_else(SizeHint::default, SizeHint::with_exact),
            State::Whole | State::Failed(_) => SizeHint::with_exact(0),
        }
    }
}
