//! A TLS connection whose first bytes may go ahead of its handshake (0-RTT, RFC 8446 section 2.3).
//!
//! They leave in one flight with the ClientHello, encrypted by the session of an earlier connection. A server that does not take them is sent
//! them once more when the handshake is over, by this stream: who writes need not know. [`Outcome`] tells what became of them.

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

use super::{socket::Socket, wire::Counted};
use crate::{clock::Clock, tunnel::Bytestream};

/// The stream. Dropped, it stays open until the server has sent what the next session is resumed with, but not for long.
pub(crate) struct Ahead(Option<Box<Inner>>);

struct Inner {
    tcp: Counted<Socket>,
    session: ClientConnection,
    /// What went ahead, until it is known whether it was taken.
    ahead: Vec<u8>,
    /// The version of HTTP that it is in.
    speaks: Option<Vec<u8>>,
    outcome: Arc<Outcome>,
    clock: Clock,
}

/// What became of the bytes that went ahead, once the handshake is over.
#[derive(Debug, Default)]
pub(crate) struct Outcome(OnceLock<Handshake>);

/// A handshake that is over.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// From the ClientHello.
    pub(crate) took: u64,
    pub(crate) version: Option<&'static str>,
    pub(crate) cipher: Option<&'static str>,
    pub(crate) is_resumed: bool,
    /// When they were sent once more; `None` if the server took them at first.
    pub(crate) sent_again: Option<u64>,
}

impl Outcome {
    /// The handshake, if it is over.
    pub(crate) fn handshake(&self) -> Option<&Handshake> {
        self.0.get()
    }
}

impl Bytestream for Ahead {
    fn reset(&mut self) {
        if let Some(inner) = &mut self.0 {
            inner.tcp.reset();
        }
    }
}

impl Ahead {
    /// Begins a handshake; nothing is sent yet. What goes ahead is in the version of HTTP `speaks`, in ALPN's words.
    pub(crate) fn new(
        tcp: Counted<Socket>,
        mut session: ClientConnection,
        speaks: Option<Vec<u8>>,
        clock: Clock,
    ) -> Self {
        // What is written waits for room in the socket first, so that no more than one write is ever held.
        session.set_buffer_limit(None);
        let (ahead, outcome) = (Vec::new(), Arc::default());
        Self(Some(Box::new(Inner { tcp, session, ahead, speaks, outcome, clock })))
    }

    /// Whether the session of an earlier connection allows bytes to go ahead.
    pub(crate) fn may_begin(&mut self) -> bool {
        self.inner().session.early_data().is_some()
    }

    /// The handshake, with nothing ahead of it.
    pub(crate) async fn handshake(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.inner().poll_handshake(cx)).await
    }

    /// The version of HTTP that the server picked, in ALPN's words.
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

    /// Hands over what is ready to be sent.
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

    /// Takes what has come in.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let read = match self.session.read_tls(&mut Blocking(&mut self.tcp, cx)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            read => read?,
        };
        if let Err(error) = self.session.process_new_packets() {
            // The server is told why, if that can be done at once.
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

    /// The handshake is over: what the server did not take is written once more.
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
            // The server waits for the end of the handshake, whoever else may want to write.
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
        // No more of it may go ahead.
        ready!(self.poll_handshake(cx))?;
        let taken = self.session.writer().write(bytes)?;
        if let Poll::Ready(Err(error)) = self.poll_send(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(taken))
    }

    /// Whether the server has yet to send what the next session is resumed with. Of TLS 1.3, where that follows the handshake.
    fn awaits_ticket(&self) -> bool {
        let is_over = self.outcome.handshake().is_some();
        is_over
            && self.session.protocol_version() == Some(ProtocolVersion::TLSv1_3)
            && self.session.tls13_tickets_received() == 0
    }

    /// Reads until that is there.
    async fn await_ticket(mut self: Box<Self>) {
        std::future::poll_fn(|cx| {
            while self.awaits_ticket() {
                let mut rest = [0; 4096];
                let mut rest = ReadBuf::new(&mut rest);
                // Nobody reads on; and a server that ends the connection sends none.
                if ready!(self.poll_read(cx, &mut rest)).is_err() || rest.filled().is_empty() {
                    break;
                }
            }
            Poll::Ready(())
        })
        .await;
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take().filter(|inner| inner.awaits_ticket())
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(LINGER, inner.await_ticket()));
        }
    }
}

impl AsyncRead for Ahead {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner().poll_read(cx, buf)
    }
}

impl AsyncWrite for Ahead {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.inner().poll_send(cx))?;
        Pin::new(&mut self.inner().tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Then it ends after it was dropped.
        if self.inner().awaits_ticket() {
            return Poll::Ready(Ok(()));
        }
        self.inner().session.send_close_notify();
        ready!(self.inner().poll_send(cx))?;
        Pin::new(&mut self.inner().tcp).poll_shutdown(cx)
    }
}

/// A socket as rustls sees one: it reads and writes at once or not at all.
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

/// The version as people write it.
pub(crate) fn version_name(version: ProtocolVersion) -> Option<&'static str> {
    match version {
        ProtocolVersion::TLSv1_2 => Some("TLS 1.2"),
        ProtocolVersion::TLSv1_3 => Some("TLS 1.3"),
        _ => None,
    }
}

/// How long a connection stays open for what the next session is resumed with: a round trip around the Earth is a third of it.
const LINGER: Duration = Duration::from_secs(1);
