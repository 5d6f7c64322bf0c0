//! A response's body on its way out on an HTTP/2 stream, as fast as its client takes it.

use std::{future::poll_fn, pin::Pin, task::Poll};

use bytes::Bytes;
use h2::{Reason, SendStream};
use hyper::body::{Body as _, Frame};

use super::{super::head, conduct::Exchange};
use crate::{Body, Failure};

/// Sends a body to its end; one that breaks off resets the stream. `None` if it was not sent to its end.
pub(super) async fn send(
    mut stream: SendStream<Bytes>,
    mut body: Body,
    exchange: &mut Exchange,
) -> Option<()> {
    while let Some(frame) = next(&mut stream, &mut body).await? {
        let Ok(frame) = frame else {
            head::has_left().await;
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
                    head::clear(&mut trailers);
                    return stream.send_trailers(trailers).ok();
                }
            }
        }
    }
    stream.send_data(Bytes::new(), true).ok()
}

/// The body's next frame; the outer `None` if the client wants none any more.
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

/// Sends one piece of a body, as there is room for it.
async fn piece(
    stream: &mut SendStream<Bytes>,
    mut data: Bytes,
    is_last: bool,
    exchange: &mut Exchange,
) -> Option<()> {
    while !data.is_empty() {
        // Of the connection's window no more than is of use now: others want some too.
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
    // It was empty.
    if is_last { stream.send_data(Bytes::new(), true).ok() } else { Some(()) }
}

/// How much of a body is handed to the connection at once. More than a fast client takes in the time in which the next is handed over;
/// h2 has room for 400 KiB of each stream.
const AT_ONCE: usize = 256 << 10;
