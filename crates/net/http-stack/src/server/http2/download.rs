//! The body of a response on an HTTP/2 stream, sent as the client accepts it.

use std::{future::poll_fn, pin::Pin, task::Poll};

use bytes::Bytes;
use h2::{Reason, SendStream};
use hyper::body::{Body as _, Frame};

use super::{super::response_head, abuse_guard::Exchange};
use crate::{Body, Failure};

/// A failed body resets the stream. `None` if it was not sent completely.
pub(super) async fn send(
    mut stream: SendStream<Bytes>,
    mut body: Body,
    exchange: &mut Exchange,
) -> Option<()> {
    while let Some(frame) = next(&mut stream, &mut body).await? {
        let Ok(frame) = frame else {
            response_head::has_left().await;
            stream.send_reset(Reason::INTERNAL_ERROR);
            return None;
        };
        match frame.into_data() {
            Ok(data) => {
                let is_last = body.is_end_stream();
                piece(&mut stream, data, is_last, exchange).await?;
                if is_last {
                    return Some(());
                }
            }
            Err(frame) => {
                if let Ok(mut trailers) = frame.into_trailers() {
                    response_head::clear(&mut trailers);
                    return stream.send_trailers(trailers).ok();
                }
            }
        }
    }
    stream.send_data(Bytes::new(), true).ok()
}

async fn next(
    stream: &mut SendStream<Bytes>,
    body: &mut Body,
) -> Option<Option<Result<Frame<Bytes>, Failure>>> {
    poll_fn(|cx| {
        if stream.poll_reset(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut *body).poll_frame(cx).map(Some)
    })
    .await
}

async fn piece(
    stream: &mut SendStream<Bytes>,
    mut data: Bytes,
    is_last: bool,
    exchange: &mut Exchange,
) -> Option<()> {
    while !data.is_empty() {
        // Reserving only part of the connection window leaves the rest to other streams.
        stream.reserve_capacity(data.len().min(AT_ONCE));
        let mut room = stream.capacity();
        if room == 0 {
            exchange.is_held_up();
            room = poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()?;
        }
        let part = data.split_to(room.min(data.len()));
        let (ends, bytes) = (is_last && data.is_empty(), part.len());
        stream.send_data(part, ends).ok()?;
        exchange.moves_on(bytes);
        if ends {
            return Some(());
        }
    }
    if is_last { stream.send_data(Bytes::new(), true).ok() } else { Some(()) }
}

/// The most body bytes passed to h2 at a time: more than a fast client reads before the next piece is
/// passed; h2 buffers up to 400 KiB per stream.
const AT_ONCE: usize = 256 << 10;
