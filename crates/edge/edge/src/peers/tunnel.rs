//! Tunnels for upgraded protocols through another data centre.
//!
//! The bytes of the two directions are the bodies of the request and of the response over the link.
//! A tunnel ends when both bodies have ended or one fails.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use http_stack::{
    Body, Bytes, Failure, HeaderMap, HeaderValue, Response, StatusCode,
    body::{Frames, Sender},
    header,
    tunnel::{Bytestream, Downstream, Upstream},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex, split};
use tracing::debug;

use crate::peers::headers::ORIGIN_PROTOCOL;

pub(crate) struct Tunnel {
    out: Sender,
}

impl Tunnel {
    /// Moves the protocol to an internal field, because HTTP/2 has no Upgrade. `None` if the
    /// request has no Upgrade, or already has a body.
    pub(crate) fn request(headers: &mut HeaderMap, body: &Body) -> Option<(Self, Body)> {
        if !body.is_end_stream() {
            return None;
        }
        let protocol = headers.remove(header::UPGRADE)?;
        headers.remove(header::CONNECTION);
        // The length does not apply to the bytes of the tunnel.
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(ORIGIN_PROTOCOL, protocol);
        let (out, body) = Body::channel(1);
        Some((Self { out }, body))
    }

    /// If the origin accepted, the response becomes a 101 with a byte stream.
    pub(crate) async fn response(self, mut response: Response<Body>) -> Response<Body> {
        let Some(protocol) = response.headers_mut().remove(ORIGIN_PROTOCOL) else {
            let _ = self.out.finish().await;
            return response;
        };
        let (mut head, body) = response.into_parts();
        let (near, far) = TunnelClient::open();
        tokio::spawn(async move {
            if carry(far, self.out, body).await.is_err() {
                debug!("an upgraded connection through another data centre failed");
            }
        });
        head.status = StatusCode::SWITCHING_PROTOCOLS;
        head.headers.insert(header::CONNECTION, UPGRADE);
        head.headers.insert(header::UPGRADE, protocol);
        head.extensions.insert(Upstream::of(near));
        Response::from_parts(head, Body::empty())
    }
}

pub(crate) fn answer(mut response: Response<Body>, protocol: HeaderValue, body: Body) -> Response<Body> {
    let Some(go) = response.extensions_mut().remove::<Downstream>().and_then(|there| there.take()) else {
        return response;
    };
    let (mut head, _) = response.into_parts();
    let (near, far) = TunnelClient::open();
    let (out, back) = Body::channel(1);
    tokio::spawn(go(Box::new(near)));
    tokio::spawn(carry(far, out, body));
    head.status = StatusCode::OK;
    head.headers.remove(header::CONNECTION);
    head.headers.remove(header::CONTENT_LENGTH);
    let agreed = head.headers.remove(header::UPGRADE);
    head.headers.insert(ORIGIN_PROTOCOL, agreed.unwrap_or(protocol));
    Response::from_parts(head, back)
}

/// The end of one direction does not end the other; a failure of one direction ends both.
async fn carry(
    TunnelServer { stream, is_broken_off }: TunnelServer,
    out: Sender,
    mut back: Body,
) -> Result<(), Failure> {
    let (mut read, mut write) = split(stream);
    let there = async {
        let mut piece = vec![0; CHUNK_BYTES];
        loop {
            let bytes = tokio::select! {
                bytes = read.read(&mut piece) => bytes.map_err(|_| Failure::Source)?,
                () = out.gone() => return Err(Failure::Source),
            };
            if bytes == 0 {
                if is_broken_off.load(Relaxed) {
                    return Err(Failure::Source);
                }
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

/// Replaces a connection to an origin or client, and fails when the tunnel fails.
struct TunnelClient {
    stream: DuplexStream,
    is_broken_off: Arc<AtomicBool>,
}

/// `is_broken_off` is set before the stream is closed, so that the other end can distinguish a
/// failure from an end.
struct TunnelServer {
    stream: DuplexStream,
    is_broken_off: Arc<AtomicBool>,
}

impl TunnelClient {
    fn open() -> (Self, TunnelServer) {
        let (near, far) = duplex(BUFFER_BYTES);
        let is_broken_off = Arc::<AtomicBool>::default();
        (
            Self { stream: near, is_broken_off: Arc::clone(&is_broken_off) },
            TunnelServer { stream: far, is_broken_off },
        )
    }
}

impl Bytestream for TunnelClient {
    fn reset(&mut self) {
        self.is_broken_off.store(true, Relaxed);
    }
}

impl AsyncRead for TunnelClient {
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

impl AsyncWrite for TunnelClient {
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

pub(crate) const UPGRADE: HeaderValue = HeaderValue::from_static("upgrade");

/// Per direction, between body and connection. A body chunk is one HTTP/2 frame.
const BUFFER_BYTES: usize = 64 << 10;
const CHUNK_BYTES: usize = 16 << 10;
