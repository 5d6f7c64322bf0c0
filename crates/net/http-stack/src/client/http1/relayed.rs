//! Requests that are forwarded as raw header lines, and plain responses read in the same way.

use std::{
    future::poll_fn,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Buf;
use hyper::{Method, Response, StatusCode};

use super::{
    super::{interims::Interims, on_interim::OnInterim, raw_response::Reply, trace::Trace},
    Http1, LEAST_ROOM, Life,
};
use crate::{
    Body, Failure, Stage,
    http1::{Framing, Persistence, Trailers, head},
    stall_timeout::StallTimeout,
};

pub(crate) enum Answered<T> {
    Lines(T),
    Head(Response<()>),
}

impl Http1 {
    /// A plain response is converted from its lines by `read`. The connection must live until the
    /// body has been read.
    pub(crate) async fn relay<T>(
        &mut self,
        head: &[u8],
        (limit, informed): (Duration, Option<OnInterim>),
        trace: &mut Trace,
        read: impl FnOnce(&Reply<'_>) -> Option<T>,
    ) -> Result<Answered<T>, Failure> {
        if !self.introduce(trace) {
            return Err(Failure::Closed(Stage::Head));
        }
        self.patience.get_or_insert_with(|| StallTimeout::new(limit)).begin_within(limit);
        self.life = Life::Busy(Persistence::Kept);
        self.room = LEAST_ROOM;
        self.outgoing.lines().extend_from_slice(head);
        self.outgoing.begin(Body::empty(), Framing::None, Trailers::Sent);
        let answered = self.answer_to_relayed(Interims::told(informed), trace, read).await;
        if answered.is_err() {
            self.life = Life::Over;
        }
        answered
    }

    async fn answer_to_relayed<T>(
        &mut self,
        mut interims: Interims,
        trace: &mut Trace,
        read: impl FnOnce(&Reply<'_>) -> Option<T>,
    ) -> Result<Answered<T>, Failure> {
        let mut read = Some(read);
        loop {
            let length = poll_fn(|cx| self.poll_head_in_time(cx)).await?;
            let plain = head::with_response_lines(&self.input[..length], |lines| {
                let reply = Reply::of(lines)?;
                Some((reply.framing, reply.persistence, read.take()?(&reply)?))
            })?;
            if let Some((framing, persistence, lines)) = plain {
                self.input.advance(length);
                self.begin_body(framing, persistence, trace);
                return Ok(Answered::Lines(lines));
            }
            if let Some(head) = self.take_head(length, &Method::GET, &mut interims)? {
                if head.response.status() == StatusCode::SWITCHING_PROTOCOLS {
                    return Err(Failure::Garbled);
                }
                self.begin_body(head.framing, head.persistence, trace);
                return Ok(Answered::Head(head.response));
            }
        }
    }

    fn poll_head_in_time(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        if let Poll::Ready(length) = self.poll_head(cx) {
            return Poll::Ready(length);
        }
        self.patience
            .as_mut()
            .map_or(Poll::Pending, |patience| patience.poll(cx).map(|()| Err(Failure::Timeout)))
    }
}
