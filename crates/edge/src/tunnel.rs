//! Another protocol on its way through another data centre: over a link its bytes are the body of the request and that of the response, which
//! go on side by side until both have ended, or one breaks off.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use http::{
    Body, Bytes, Failure, HeaderMap, HeaderValue, Response, StatusCode,
    body::{Frames, Sender},
    header,
    tunnel::{Bytestream, Downstream, Upstream},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex, split};
use tracing::debug;

use crate::came::SWITCH;

/// A request for another protocol, as the data centre that makes it for a visitor has it.
pub(crate) struct Tunnel {
    /// The body of the request, as far as it is written.
    out: Sender,
}

impl Tunnel {
    /// A request for another protocol as it goes over a link: the protocol in a field of the network's own, as HTTP/2 has none for it, and a body
    /// that stays open. `None` if it is about nothing but HTTP. What has a body of its own goes on as that.
    pub(crate) fn asked(headers: &mut HeaderMap, body: &Body) -> Option<(Self, Body)> {
        if !body.is_end_stream() {
            return None;
        }
        let protocol = headers.remove(header::UPGRADE)?;
        headers.remove(header::CONNECTION);
        // It would be that of the bytes that follow.
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(SWITCH, protocol);
        let (out, body) = Body::channel(1);
        Some((Self { out }, body))
    }

    /// The response as an origin would have given it: with the connection, if it agreed.
    pub(crate) async fn answered(self, mut response: Response<Body>) -> Response<Body> {
        let Some(protocol) = response.headers_mut().remove(SWITCH) else {
            // Whatever it is, the request was whole.
            let _ = self.out.finish().await;
            return response;
        };
        let (mut head, body) = response.into_parts();
        let (near, far) = Near::open();
        tokio::spawn(async move {
            if carry(far, self.out, body).await.is_err() {
                debug!("another protocol on its way through another data centre broke off");
            }
        });
        head.status = StatusCode::SWITCHING_PROTOCOLS;
        head.headers.insert(header::CONNECTION, UPGRADE);
        head.headers.insert(header::UPGRADE, protocol);
        head.extensions.insert(Upstream::of(near));
        Response::from_parts(head, Body::empty())
    }
}

/// What an origin answered to a request for another protocol, as it goes back over the link; `body` is that of the request.
pub(crate) fn answer(mut response: Response<Body>, asked: HeaderValue, body: Body) -> Response<Body> {
    let Some(go) = response.extensions_mut().remove::<Downstream>().and_then(|there| there.take()) else {
        return response;
    };
    let (mut head, _) = response.into_parts();
    let (near, far) = Near::open();
    let (out, back) = Body::channel(1);
    tokio::spawn(go(Box::new(near)));
    tokio::spawn(carry(far, out, body));
    head.status = StatusCode::OK;
    head.headers.remove(header::CONNECTION);
    head.headers.remove(header::CONTENT_LENGTH);
    let agreed = head.headers.remove(header::UPGRADE);
    head.headers.insert(SWITCH, agreed.unwrap_or(asked));
    Response::from_parts(head, back)
}

/// Writes what comes from a stream into one body, and what comes in another one into the stream. An end of either goes on as that, and the other
/// direction goes on; when one breaks off, all of it does.
async fn carry(Far { stream, is_broken_off }: Far, out: Sender, mut back: Body) -> Result<(), Failure> {
    let (mut read, mut write) = split(stream);
    let there = async {
        let mut piece = vec![0; PIECE];
        loop {
            let bytes = tokio::select! {
                bytes = read.read(&mut piece) => bytes.map_err(|_| Failure::Source)?,
                () = out.gone() => return Err(Failure::Source),
            };
            if bytes == 0 {
                if is_broken_off.load(Relaxed) {
                    return Err(Failure::Source);
                }
                // What waits to be sent is given up with the body that comes back.
                return out.finish_and_wait().await.map_err(|_| Failure::Source);
            }
            let sent = out.send(Bytes::copy_from_slice(&piece[..bytes])).await;
            sent.map_err(|_| Failure::Source)?;
        }
    };
    let here = async {
        while let Some(data) = back.data().await? {
            write.write_all(&data).await.map_err(|_| Failure::Source)?;
        }
        write.shutdown().await.map_err(|_| Failure::Source)
    };
    let carried = tokio::try_join!(there, here).map(|_| ());
    if carried.is_err() {
        is_broken_off.store(true, Relaxed);
    }
    carried
}

/// The end of a tunnel that takes the place of a connection, to an origin or to a visitor: where the tunnel breaks off, that does too.
struct Near {
    stream: DuplexStream,
    is_broken_off: Arc<AtomicBool>,
}

/// The other end of the same, from where the link takes what is said, and gives what it is told. What breaks off on either side is noted before
/// the stream is closed.
struct Far {
    stream: DuplexStream,
    is_broken_off: Arc<AtomicBool>,
}

impl Near {
    fn open() -> (Self, Far) {
        let (near, far) = duplex(ROOM);
        let is_broken_off = Arc::<AtomicBool>::default();
        (Self { stream: near, is_broken_off: Arc::clone(&is_broken_off) }, Far { stream: far, is_broken_off })
    }
}

impl Bytestream for Near {
    fn reset(&mut self) {
        self.is_broken_off.store(true, Relaxed);
    }
}

impl AsyncRead for Near {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, to))?;
        let is_over = to.filled().len() == before && to.remaining() > 0;
        if is_over && self.is_broken_off.load(Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Near {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What Connection says where another protocol is asked for, or agreed to.
pub(crate) const UPGRADE: HeaderValue = HeaderValue::from_static("upgrade");

/// Bytes that wait in each direction between a body and a connection, and those of a piece of a body: what a frame of HTTP/2 holds.
const ROOM: usize = 64 << 10;
const PIECE: usize = 16 << 10;
