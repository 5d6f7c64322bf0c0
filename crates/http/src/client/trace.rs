//! The trace of one request: how it got its connection, and when its bytes moved.
//!
//! It belongs to the caller and outlives the request's future, so that a request which is given up keeps what was
//! measured until then; and it stays up to date while the response's body is read, by any task.

use std::{net::SocketAddr, sync::Arc};

use super::{ahead::Outcome, early::Early, stamps::Stamps, step::Step, wire::WireBytes};
use crate::Failure;

/// Durations and stamps of one request, in nanoseconds of [`Client::clock`](crate::Client::clock). Clones share the stamps
/// that are still to come.
///
/// What did not happen is `None`: `dns` of a literal address or a remembered name; `dns`, `connect`, `tls` and `quic`
/// on a connection that was there before.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// When the request was made.
    pub started: u64,
    /// How long it waited for a connection, because no more were allowed or another request was opening one.
    pub waited: Option<u64>,
    /// From the question to the resolver to its answer.
    pub dns: Option<u64>,
    /// Whether the addresses for a new connection were remembered from an earlier question, so that nobody was asked.
    pub is_name_cached: bool,
    /// From the first SYN to the connection.
    pub connect: Option<u64>,
    /// From the ClientHello to the end of the handshake.
    pub tls: Option<u64>,
    /// From QUIC's first datagram to the end of its handshake, TLS included.
    pub quic: Option<u64>,
    /// When the final response's head came in: its first byte on HTTP/1, its last on HTTP/2 and HTTP/3.
    pub final_headers: Option<u64>,
    /// "http/1.1", "h2" or "h3", once there is a connection.
    pub protocol: Option<&'static str>,
    /// Whether the connection had carried a request before.
    pub reused: Option<bool>,
    /// The version of TLS that a handshake for this request came to.
    pub tls_version: Option<&'static str>,
    /// The cipher suite of that handshake, as IANA's registry names it. Of QUIC it is not known.
    pub cipher: Option<&'static str>,
    /// Whether that handshake resumed a session; `None` where none may be ([`Connections::Resume`](super::Connections::Resume)).
    pub resumed: Option<bool>,
    /// What became of the request if it went ahead of the handshake. One that was accepted waited for none, and has neither `tls` nor
    /// `quic`.
    pub early: Option<Early>,
    /// This machine's end of a connection that was opened for this request.
    pub local: Option<SocketAddr>,
    /// Where the connection leads.
    pub remote: Option<SocketAddr>,
    /// Whether it leads to another address than the first one tried; `None` if none was opened for this request.
    pub fallback: Option<bool>,
    /// Whether a reused connection turned out to be closed and the request was made again on another one.
    pub retried: bool,
    /// Whether the server allowed no more streams when the request was made, so that it had to wait here.
    pub queued: bool,
    /// What it is waiting for until it has a connection.
    pub(crate) opening: Step,
    /// What becomes of bytes that went ahead of TLS's handshake.
    pub(crate) ahead: Option<Arc<Outcome>>,
    stamps: Arc<Stamps>,
}

impl Trace {
    /// A request that starts at `now`.
    pub fn start(now: u64) -> Self {
        Self { started: now, ..Self::default() }
    }

    /// What it is waiting for, or was when it was given up.
    pub fn step(&self) -> Step {
        match self.protocol {
            None => self.opening,
            Some(_) if self.final_headers.is_some() => Step::Load,
            // On a connection that requests share, writing is stamped when the last part has gone out.
            Some(protocol) if self.last_write().is_some() => {
                if protocol != "http/1.1" || self.stamps.is_sent() { Step::Wait } else { Step::Send }
            }
            Some(_) => Step::Send,
        }
    }

    /// When the request's first bytes were handed to the kernel (HTTP/1) or to the connection (HTTP/2, HTTP/3).
    pub fn first_write(&self) -> Option<u64> {
        self.stamps.first_write()
    }

    /// When the request's last bytes were handed to the kernel. Final only once there is a response: until then there may
    /// be more to send.
    pub fn last_write(&self) -> Option<u64> {
        self.stamps.last_write()
    }

    /// When the first interim response (a 100 or 103) came in.
    pub fn first_interim(&self) -> Option<u64> {
        self.stamps.first_interim()
    }

    /// When the first bytes of the response's body came in.
    pub fn first_body_byte(&self) -> Option<u64> {
        self.stamps.first_body_byte()
    }

    /// When the last byte of the response came in; `None` until its body was read to the end, or all of it had come with its head.
    pub fn last_byte(&self) -> Option<u64> {
        self.stamps.last_byte()
    }

    /// Bytes of the response's body read so far; all of them if they came with its head.
    pub fn body_bytes(&self) -> u64 {
        self.stamps.body_bytes()
    }

    /// Bytes that the connection carried for this request, its handshakes included if it was opened for it. `None` until the response's
    /// body was read to the end, and if other requests were on the connection meanwhile.
    pub fn wire(&self) -> Option<WireBytes> {
        self.stamps.wire()
    }

    pub(crate) fn stamps(&self) -> Arc<Stamps> {
        Arc::clone(&self.stamps)
    }

    /// Whether the request failed because its idle connection was closed, before any answer began.
    pub(crate) fn is_lost_in_silence(&self, failure: Failure) -> bool {
        let is_silent = self.stamps.first_read().is_none()
            && self.stamps.first_interim().is_none()
            && self.final_headers.is_none();
        is_silent && failure.is_lost_connection()
    }

    /// Starts over on another connection; the time lost stays in the total.
    pub(crate) fn retry(&mut self) {
        *self = Self { retried: true, waited: self.waited, ..Self::start(self.started) };
    }

    /// Starts over after a handshake, as the request went ahead of one in vain; the time lost stays in the total.
    pub(crate) fn start_over(&mut self, early: Early) {
        *self = Self { early: Some(early), waited: self.waited, ..Self::start(self.started) };
    }

    /// The request is sent again on the same connection, whose handshake is over now.
    pub(crate) fn send_again(&mut self) {
        self.early = Some(Early::Rejected);
        (self.stamps, self.final_headers, self.queued) = (Arc::default(), None, false);
    }

    /// Puts down what TLS's handshake came to that the request went ahead of, if it is over.
    pub(crate) fn settle(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        let Some(handshake) = ahead.handshake() else { return };
        (self.tls_version, self.cipher) = (handshake.version, handshake.cipher);
        self.resumed = Some(handshake.is_resumed);
        self.early = Some(Early::Accepted);
        if let Some(at) = handshake.sent_again {
            (self.early, self.tls) = (Some(Early::Rejected), Some(handshake.took));
            self.stamps.sent_again(at);
        }
    }
}
