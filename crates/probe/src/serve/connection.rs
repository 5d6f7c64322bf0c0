//! One connection of the origin: which protocol it speaks, and its life until it ends or the origin does.

use std::{io, sync::Arc};

use hyper::{
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use super::respond::Responder;
use crate::{Stop, limits};

/// What each connection needs to know.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) responder: Arc<Responder>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) stop: Stop,
}

/// Version of HTTP on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

impl Context {
    /// Serves a connection to its end. How it ended is the client's business, which measures it.
    pub(crate) async fn serve(self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let opening = async {
            match &self.tls {
                None => {
                    let version = first_words(&stream).await?;
                    Ok::<_, io::Error>((version, None, Some(stream)))
                }
                Some(tls) => {
                    let stream = tls.accept(stream).await?;
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    Ok((if is_http2 { Version::Http2 } else { Version::Http1 }, Some(stream), None))
                }
            }
        };
        let opened = tokio::select! {
            opened = tokio::time::timeout(limits::READ_TIMEOUT, opening) => opened,
            () = self.stop.asked() => return,
        };
        match opened {
            Ok(Ok((version, Some(stream), _))) => self.speak(version, stream).await,
            Ok(Ok((version, _, Some(stream)))) => self.speak(version, stream).await,
            _ => {}
        }
    }

    async fn speak<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(&self, version: Version, stream: S) {
        let responder = Arc::clone(&self.responder);
        let service = service_fn(move |request| {
            let responder = Arc::clone(&responder);
            async move { responder.respond(request).await }
        });
        let stream = TokioIo::new(stream);
        // Without its timer hyper would not watch how long a header takes.
        match version {
            Version::Http1 => {
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(limits::READ_TIMEOUT)
                    .max_headers(limits::HEADERS)
                    .max_buf_size(limits::HEADER_BYTES)
                    .serve_connection(stream, service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = self.stop.asked() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            }
            Version::Http2 => {
                let connection = http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .keep_alive_interval(limits::READ_TIMEOUT)
                    .keep_alive_timeout(limits::READ_TIMEOUT)
                    .max_header_list_size(u32::try_from(limits::HEADER_BYTES).unwrap_or(u32::MAX))
                    .max_concurrent_streams(limits::STREAMS)
                    .serve_connection(stream, service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = self.stop.asked() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            }
        }
    }
}

/// Tells HTTP/2 with prior knowledge by its preface, "PRI * HTTP/2.0" (RFC 9113 section 3.4): no method
/// begins like it.
async fn first_words(stream: &TcpStream) -> io::Result<Version> {
    let mut words = [0; PREFACE.len()];
    loop {
        let seen = stream.peek(&mut words).await?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !PREFACE.starts_with(&words[..seen]) {
            return Ok(Version::Http1);
        }
        if seen == PREFACE.len() {
            return Ok(Version::Http2);
        }
        // The rest is on its way. A socket with something to read is always ready, so there is no event to
        // wait for.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

const PREFACE: &[u8; 4] = b"PRI ";
