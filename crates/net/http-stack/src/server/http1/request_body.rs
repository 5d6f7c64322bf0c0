//! A request's incoming body: read on demand of the handler, or discarded.

use std::{
    io,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::{HeaderMap, Version, body::Frame, header};

use super::Http1;
use crate::{
    Body, Failure,
    body::length_only::{self, LengthOnly},
    http1::{Chunk, Framing, Incoming, framing},
    server::{
        body_handoff::{self, BodySender, Demand},
        expect_continue::patient,
        wire::Wire,
    },
};

pub(super) struct Arrival {
    incoming: Incoming,
    giver: BodySender,
    counted: LengthOnly,
    /// The client waits for a 100 response (RFC 9110 section 10.1.1).
    is_held_back: bool,
}

impl<S: Wire> Http1<S> {
    pub(super) fn arrives(
        &mut self,
        framing: Framing,
        version: Version,
        headers: &HeaderMap,
        patience: Duration,
    ) -> Body {
        if framing == Framing::None {
            return Body::empty();
        }
        let incoming = Incoming::new(framing);
        let (giver, taker) = body_handoff::open(incoming.left());
        let is_held_back =
            version == Version::HTTP_11 && framing::has_token(headers, &header::EXPECT, "100-continue");
        let counted = LengthOnly::default();
        self.arrival = Some(Arrival { incoming, giver, counted: counted.clone(), is_held_back });
        patient(taker, patience).countable(counted)
    }

    /// Reads the requested part of the body, and after its end detects a disconnected client. `false` if
    /// the client has disconnected.
    pub(super) fn poll_arrival(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(arrival) = &mut self.arrival {
            match arrival.giver.wish(cx) {
                Demand::Full | Demand::Unwanted => return true,
                Demand::Room if arrival.is_held_back => return true,
                Demand::Wanted if arrival.is_held_back => {
                    arrival.is_held_back = false;
                    if self.input.is_empty() {
                        self.outgoing.lines().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                        cx.waker().wake_by_ref();
                    }
                }
                Demand::Wanted | Demand::Room => {}
            }
            let Poll::Ready(piece) = self.poll_piece(cx) else { return true };
            self.give(piece);
        }
        if self.is_over {
            return true;
        }
        !self.input.is_empty() || self.poll_read(cx) != Poll::Ready(false)
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<bytes::Bytes>>, Failure>> {
        loop {
            let Some(arrival) = &mut self.arrival else { return Poll::Ready(Ok(None)) };
            match arrival.incoming.next(&mut self.input) {
                Ok(Chunk::Data(data)) => return Poll::Ready(Ok(Some(Frame::data(data)))),
                Ok(Chunk::Trailers(fields)) => return Poll::Ready(Ok(Some(Frame::trailers(fields)))),
                Ok(Chunk::End) => return Poll::Ready(Ok(None)),
                Ok(Chunk::Wanting) => {}
                Err(_) => return Poll::Ready(Err(Failure::Garbled)),
            }
            if arrival.counted.has_begun()
                && let Some(left) = arrival.incoming.left()
            {
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(length_only::MOST);
                if let Some(discarded) = self.stream.poll_discard(cx, most) {
                    return self.passed_over(ready!(discarded)).into();
                }
            }
            if !ready!(self.poll_read(cx)) {
                return Poll::Ready(Err(Failure::Closed(crate::Stage::Body)));
            }
        }
    }

    fn passed_over(&mut self, discarded: io::Result<usize>) -> Result<Option<Frame<bytes::Bytes>>, Failure> {
        match (discarded, &mut self.arrival) {
            (Ok(bytes @ 1..), Some(arrival)) => {
                arrival.incoming.pass_over(bytes as u64);
                Ok(Some(Frame::data(length_only::stand_in(bytes))))
            }
            _ => {
                self.is_over = true;
                Err(Failure::Closed(crate::Stage::Body))
            }
        }
    }

    fn give(&mut self, piece: Result<Option<Frame<bytes::Bytes>>, Failure>) {
        let Some(arrival) = &self.arrival else { return };
        match piece {
            Ok(Some(frame)) => arrival.giver.give(Ok(frame)),
            Ok(None) => {}
            Err(failure) => {
                arrival.giver.give(Err(failure));
                self.is_over = true;
            }
        }
        if self.is_over || arrival.incoming.is_done() {
            arrival.giver.end();
            self.arrival = None;
        }
    }

    /// Returns whether another request can follow. An unwanted body is read only up to a limit.
    pub(super) async fn rest(&mut self) -> bool {
        self.patience.begin();
        let mut thrown_away = 0;
        std::future::poll_fn(|cx| {
            while let Some(arrival) = &self.arrival {
                if arrival.is_held_back {
                    return Poll::Ready(false);
                }
                if arrival.giver.wish(cx) != Demand::Unwanted {
                    if !self.poll_arrival(cx) {
                        return Poll::Ready(false);
                    }
                    if self.arrival.is_some() {
                        return Poll::Pending;
                    }
                    continue;
                }
                let Poll::Ready(piece) = self.poll_piece(cx) else {
                    return self.patience.poll(cx).map(|()| false);
                };
                let bytes = match &piece {
                    Ok(Some(frame)) => frame.data_ref().map_or(0, bytes::Bytes::len),
                    _ => 0,
                };
                thrown_away += bytes;
                self.give(piece);
                if thrown_away > THROWN_AWAY {
                    return Poll::Ready(false);
                }
            }
            Poll::Ready(!self.is_over)
        })
        .await
    }
}

/// Beyond that a new connection is cheaper.
const THROWN_AWAY: usize = 256 * 1024;
