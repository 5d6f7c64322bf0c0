//! A TLS connection that can send early data (0-RTT, RFC 8446 section 2.3).
//!
//! If the server rejects it, this stream sends the same bytes again after the handshake,
//! transparently to the writer.

use std::{
    io::{self, IoSlice, Read, Write},
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};

use rustls::{ClientConnection, HandshakeKind, ProtocolVersion};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Handle,
};

use super::{byte_counter::Counted, socket::Socket};
use crate::{clock::Clock, tunnel::Bytestream};

/// After a drop it stays open briefly until the server has sent a session ticket.
pub(crate) struct EarlyDataStream(Option<Box<Inner>>);

struct Inner {
    tcp: Counted<Socket>,
    session: ClientConnection,
    ahead: Vec<u8>,
    speaks: Option<Vec<u8>>,
    outcome: Arc<Outcome>,
    clock: Clock,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome(OnceLock<Handshake>);

#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) took: u64,
    pub(crate) version: Option<&'static str>,
    pub(crate) cipher: Option<&'static str>,
    pub(crate) is_resumed: bool,
    /// `None` if the server accepted it or there was none.
    pub(crate) sent_again: Option<u64>,
}

impl Outcome {
    pub(crate) fn handshake(&self) -> Option<&Handshake> {
        self.0.get()
    }
}

impl Bytestream for EarlyDataStream {
    fn reset(&mut self) {
        if let Some(inner) = &mut self.0 {
            inner.tcp.reset();
        }
    }
}

impl EarlyDataStream {
    /// `speaks` is the ALPN protocol of the early data.
    pub(crate) fn new(
        tcp: Counted<Socket>,
        mut session: ClientConnection,
        speaks: Option<Vec<u8>>,
        clock: Clock,
    ) -> Self {
        // A write waits for room in the socket first, so at most one write is buffered.
        session.set_buffer_limit(None);
        let (ahead, outcome) = (Vec::new(), Arc::default());
        Self(Some(Box::new(Inner { tcp, session, ahead, speaks, outcome, clock })))
    }

    pub(crate) fn may_begin(&mut self) -> bool {
        self.inner().session.early_data().is_some()
    }

    pub(crate) async fn handshake(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.inner().poll_handshake(cx)).await
    }

    pub(crate) fn agreed(&mut self) -> Option<&[u8]> {
        self.inner().session.alpn_protocol()
    }

    pub(crate) fn outcome(&mut self) -> Arc<Outcome> {
        Arc::clone(&self.inner().outcome)
    }

    fn inner(&mut self) -> &mut Inner {
        self.0.as_mut().expect("only `drop` takes it")
    }
}

impl Inner {
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.is_handshaking() {
            ready!(self.poll_send(cx))?;
            ready!(self.poll_receive(cx))?;
        }
        self.poll_send(cx)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Blocking(&mut self.tcp, cx)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let read = match self.session.read_tls(&mut Blocking(&mut self.tcp, cx)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            read => read?,
        };
        if let Err(error) = self.session.process_new_packets() {
            let _ = self.poll_send(cx);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        if read == 0 && self.session.is_handshaking() {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        if !self.session.is_handshaking() && self.outcome.handshake().is_none() {
            self.settle()?;
        }
        Poll::Ready(Ok(()))
    }

    fn settle(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let is_refused = !self.ahead.is_empty() && !self.session.is_early_data_accepted();
        let handshake = Handshake {
            took: now.saturating_sub(self.tcp.began().unwrap_or(now)),
            version: self.session.protocol_version().and_then(version_name),
            cipher: self.session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()),
            is_resumed: self.session.handshake_kind() == Some(HandshakeKind::Resumed),
            sent_again: is_refused.then_some(now),
        };
        let ahead = std::mem::take(&mut self.ahead);
        let is_another = !ahead.is_empty() && self.session.alpn_protocol() != self.speaks.as_deref();
        let _ = self.outcome.0.set(handshake);
        if is_another {
            return Err(io::Error::new(io::ErrorKind::InvalidData, rustls::Error::NoApplicationProtocol));
        }
        if is_refused { self.session.writer().write_all(&ahead) } else { Ok(()) }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            // The server waits for the client's Finished, even if the caller writes nothing.
            if let Poll::Ready(Err(error)) = self.poll_send(cx) {
                return Poll::Ready(Err(error));
            }
            match self.session.reader().read(buf.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.poll_receive(cx))?,
                read => {
                    buf.advance(read?);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(mut early) = self.session.early_data().filter(|_| !bytes.is_empty()) {
            let taken = early.write(bytes)?;
            if taken > 0 {
                self.ahead.extend_from_slice(&bytes[..taken]);
                if let Poll::Ready(Err(error)) = self.poll_send(cx) {
                    return Poll::Ready(Err(error));
                }
                return Poll::Ready(Ok(taken));
            }
        }
        ready!(self.poll_handshake(cx))?;
        let taken = self.session.writer().write(bytes)?;
        if let Poll::Ready(Err(error)) = self.poll_send(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(taken))
    }

    fn awaits_ticket(&self) -> bool {
        let is_over = self.outcome.handshake().is_some();
        is_over
            && self.session.protocol_version() == Some(ProtocolVersion::TLSv1_3)
            && self.session.tls13_tickets_received() == 0
    }

    async fn await_ticket(mut self: Box<Self>) {
        std::future::poll_fn(|cx| {
            while self.awaits_ticket() {
                let mut rest = [0; 4096];
                let mut rest = ReadBuf::new(&mut rest);
                // Data has no reader any longer, and a server that closes the connection sends no
                // ticket.
                if ready!(self.poll_read(cx, &mut rest)).is_err() || rest.filled().is_empty() {
                    break;
                }
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl Drop for EarlyDataStream {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take().filter(|inner| inner.awaits_ticket())
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(LINGER, inner.await_ticket()));
        }
    }
}

impl AsyncRead for EarlyDataStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner().poll_read(cx, buf)
    }
}

impl AsyncWrite for EarlyDataStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.inner().poll_send(cx))?;
        Pin::new(&mut self.inner().tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.inner().awaits_ticket() {
            return Poll::Ready(Ok(()));
        }
        self.inner().session.send_close_notify();
        ready!(self.inner().poll_send(cx))?;
        Pin::new(&mut self.inner().tcp).poll_shutdown(cx)
    }
}

/// A read or write completes immediately or fails with `WouldBlock`.
struct Blocking<'s, 'cx>(&'s mut Counted<Socket>, &'s mut Context<'cx>);

impl Blocking<'_, '_> {
    fn now<T>(polled: Poll<io::Result<T>>) -> io::Result<T> {
        match polled {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Read for Blocking<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        Self::now(Pin::new(&mut *self.0).poll_read(self.1, &mut buf))?;
        Ok(buf.filled().len())
    }
}

impl Write for Blocking<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::now(Pin::new(&mut *self.0).poll_write(self.1, bytes))
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        Self::now(Pin::new(&mut *self.0).poll_write_vectored(self.1, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::now(Pin::new(&mut *self.0).poll_flush(self.1))
    }
}

pub(crate) fn version_name(version: ProtocolVersion) -> Option<&'static str> {
    match version {
        ProtocolVersion::TLSv1_2 => Some("TLS 1.2"),
        ProtocolVersion::TLSv1_3 => Some("TLS 1.3"),
        _ => None,
    }
}

/// How long a dropped connection stays open for a session ticket: about three round trips around the
/// Earth.
const LINGER: Duration = Duration::from_secs(1);
