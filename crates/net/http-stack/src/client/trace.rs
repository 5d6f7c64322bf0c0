//! The trace of one request: how it obtained its connection, and when its bytes were sent and received.
//!
//! The trace belongs to the caller and outlives the request's future, so the measurements of a
//! cancelled request remain available.

use std::{net::SocketAddr, sync::Arc};

use super::{
    byte_counter::WireBytes, early_data::Early, early_data_stream::Outcome, phase::Phase, timestamps::Stamps,
};
use crate::Failure;

/// Durations and stamps of one request, in nanoseconds of [`Client::clock`](crate::Client::clock).
///
/// `None` means "did not happen": `dns` for an address literal or a cached name; `dns`, `connect`,
/// `tls` and `quic` on a reused connection.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// When the request started.
    pub started: u64,
    /// How long it waited for a connection, because the limit was reached or another request was opening
    /// one.
    pub waited: Option<u64>,
    /// From the DNS query to its response.
    pub dns: Option<u64>,
    /// Whether the addresses for a new connection were cached, so that no query was sent.
    pub is_name_cached: bool,
    /// From the first SYN to the established connection.
    pub connect: Option<u64>,
    /// From the ClientHello to the end of the handshake.
    pub tls: Option<u64>,
    /// From the first QUIC datagram to the end of the handshake, including TLS.
    pub quic: Option<u64>,
    /// When the final response's head arrived: its first byte on HTTP/1, its last on HTTP/2 and HTTP/3.
    pub final_headers: Option<u64>,
    /// "http/1.1", "h2" or "h3", once there is a connection.
    pub protocol: Option<&'static str>,
    /// Whether the connection had carried a request before.
    pub reused: Option<bool>,
    /// The TLS version of a handshake for this request.
    pub tls_version: Option<&'static str>,
    /// The IANA name of that handshake's cipher suite. Not available for QUIC.
    pub cipher: Option<&'static str>,
    /// Whether that handshake resumed a session; `None` if resumption is off
    /// ([`Connections::Resume`](super::Connections::Resume)).
    pub resumed: Option<bool>,
    /// The result if the request was sent as early data. An accepted request waited for no handshake, so
    /// it has neither `tls` nor `quic`.
    pub early: Option<Early>,
    /// The local address of a connection that was opened for this request.
    pub local: Option<SocketAddr>,
    /// The remote address of the connection.
    pub remote: Option<SocketAddr>,
    /// Whether the connection uses another address than the first one tried; `None` if no connection was
    /// opened for this request.
    pub fallback: Option<bool>,
    /// Whether a reused connection turned out to be closed and the request was retried on another one.
    pub retried: bool,
    /// Whether the server's limit of streams was reached, so that the request had to wait.
    pub queued: bool,
    pub(crate) opening: Phase,
    pub(crate) ahead: Option<Arc<Outcome>>,
    stamps: Arc<Stamps>,
}

impl Trace {
    /// Starts the trace of a request at `now`.
    pub fn start(now: u64) -> Self {
        Self { started: now, ..Self::default() }
    }

    /// The current step, or the last one of a cancelled request.
    pub fn step(&self) -> Phase {
        match self.protocol {
            None => self.opening,
            Some(_) if self.final_headers.is_some() => Phase::Load,
            // On a shared connection a write is stamped when the last part has been sent.
            Some(protocol) if self.last_write().is_some() => {
                if protocol != "http/1.1" || self.stamps.is_sent() { Phase::Wait } else { Phase::Send }
            }
            Some(_) => Phase::Send,
        }
    }

    /// When the request's first bytes were passed to the kernel (HTTP/1) or to the connection (HTTP/2,
    /// HTTP/3).
    pub fn first_write(&self) -> Option<u64> {
        self.stamps.first_write()
    }

    /// When the request's last bytes were passed to the kernel. Final only once there is a response;
    /// before that, more may be sent.
    pub fn last_write(&self) -> Option<u64> {
        self.stamps.last_write()
    }

    /// When the first interim response (a 100 or 103) arrived.
    pub fn first_interim(&self) -> Option<u64> {
        self.stamps.first_interim()
    }

    /// When the first bytes of the response's body arrived.
    pub fn first_body_byte(&self) -> Option<u64> {
        self.stamps.first_body_byte()
    }

    /// When the last byte of the response arrived; `None` until the body has been read to its end or has
    /// arrived with the head.
    pub fn last_byte(&self) -> Option<u64> {
        self.stamps.last_byte()
    }

    /// Bytes of the response's body read so far; all of them if they arrived with the head.
    pub fn body_bytes(&self) -> u64 {
        self.stamps.body_bytes()
    }

    /// Bytes carried by the connection for this request, including the handshakes if it was opened for
    /// it. `None` until the response's body has been read to its end, and if the connection carried
    /// other requests in the meantime.
    pub fn wire(&self) -> Option<WireBytes> {
        self.stamps.wire()
    }

    pub(crate) fn stamps(&self) -> Arc<Stamps> {
        Arc::clone(&self.stamps)
    }

    pub(crate) fn is_lost_in_silence(&self, failure: Failure) -> bool {
        let is_silent = self.stamps.first_read().is_none()
            && self.stamps.first_interim().is_none()
            && self.final_headers.is_none();
        is_silent && failure.is_lost_connection()
    }

    pub(crate) fn retry(&mut self) {
        *self = Self { retried: true, waited: self.waited, ..Self::start(self.started) };
    }

    /// The time lost remains in the total.
    pub(crate) fn start_over(&mut self, early: Early) {
        *self = Self { early: Some(early), waited: self.waited, ..Self::start(self.started) };
    }

    pub(crate) fn send_again(&mut self) {
        self.early = Some(Early::Rejected);
        (self.stamps, self.final_headers, self.queued) = (Arc::default(), None, false);
    }

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
