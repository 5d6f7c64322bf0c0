//! A request's body while it comes in: read when its handler wants it, and thrown away when nobody does.

use std::{
    io,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::{HeaderMap, Version, body::Frame, header};

use super::Http1;
use crate::{
    Body, Failure,
    body::counted::{self, Counted},
    http1::{Framing, Incoming, Piece, framing},
    server::{
        handover::{self, Giver, Wish},
        upload::patient,
        wire::Wire,
    },
};

/// A body of which not all has come.
pub(super) struct Arrival {
    incoming: Incoming,
    giver: Giver,
    /// Whether its handler only wants to know how much comes.
    counted: Counted,
    /// The client waits to be told that somebody wants it (RFC 9110 section 10.1.1).
    is_held_back: bool,
}

impl<S: Wire> Http1<S> {
    /// The body of the request with this head.
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
        let (giver, taker) = handover::open(incoming.left());
        let is_held_back =
            version == Version::HTTP_11 && framing::has_token(headers, &header::EXPECT, "100-continue");
        let counted = Counted::default();
        self.arrival = Some(Arrival { incoming, giver, counted: counted.clone(), is_held_back });
        patient(taker, patience).countable(counted)
    }

    /// Reads what is wanted of the body; once it is whole, whether the client is still there. `false` if it is not.
    pub(super) fn poll_arrival(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(arrival) = &mut self.arrival {
            match arrival.giver.wish(cx) {
                Wish::Full | Wish::Unwanted => return true,
                Wish::Room if arrival.is_held_back => return true,
                Wish::Wanted if arrival.is_held_back => {
                    arrival.is_held_back = false;
                    // A client that did not wait need not be told.
                    if self.input.is_empty() {
                        self.outgoing.lines().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                        cx.waker().wake_by_ref();
                    }
                }
                Wish::Wanted | Wish::Room => {}
            }
            let Poll::Ready(piece) = self.poll_piece(cx) else { return true };
            self.give(piece);
        }
        if self.is_over {
            // Its body broke off: there may be an answer to that all the same.
            return true;
        }
        !self.input.is_empty() || self.poll_read(cx) != Poll::Ready(false)
    }

    /// The next piece of the body; `None` at its end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<bytes::Bytes>>, Failure>> {
        loop {
            let Some(arrival) = &mut self.arrival else { return Poll::Ready(Ok(None)) };
            match arrival.incoming.next(&mut self.input) {
                Ok(Piece::Data(data)) => return Poll::Ready(Ok(Some(Frame::data(data)))),
                Ok(Piece::Trailers(fields)) => return Poll::Ready(Ok(Some(Frame::trailers(fields)))),
                Ok(Piece::End) => return Poll::Ready(Ok(None)),
                Ok(Piece::Wanting) => {}
                Err(_) => return Poll::Ready(Err(Failure::Garbled)),
            }
            if arrival.counted.has_begun()
                && let Some(left) = arrival.incoming.left()
            {
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(counted::MOST);
                if let Some(discarded) = self.stream.poll_discard(cx, most) {
                    return self.passed_over(ready!(discarded)).into();
                }
            }
            if !ready!(self.poll_read(cx)) {
                return Poll::Ready(Err(Failure::Closed(crate::Stage::Body)));
            }
        }
    }

    /// Bytes of the body came and were thrown away by the kernel.
    fn passed_over(&mut self, discarded: io::Result<usize>) -> Result<Option<Frame<bytes::Bytes>>, Failure> {
        match (discarded, &mut self.arrival) {
            (Ok(bytes @ 1..), Some(arrival)) => {
                arrival.incoming.pass_over(bytes as u64);
                Ok(Some(Frame::data(counted::stand_in(bytes))))
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
                // Nobody can say where the next request would begin.
                self.is_over = true;
            }
        }
        if self.is_over || arrival.incoming.is_done() {
            arrival.giver.end();
            self.arrival = None;
        }
    }

    /// The response was sent: whether the rest of the request's body could be read too, so that another request can follow. Not
    /// much of it is read if nobody wants it.
    pub(super) async fn rest(&mut self) -> bool {
        self.patience.begin();
        let mut thrown_away = 0;
        std::future::poll_fn(|cx| {
            while let Some(arrival) = &self.arrival {
                if arrival.is_held_back {
                    return Poll::Ready(false);
                }
                if arrival.giver.wish(cx) != Wish::Unwanted {
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

/// Bytes of a body that nobody wants which are read for the connection's sake: more is dearer than a new connection.
const THROWN_AWAY: usize = 256 * 1024;
