//! Counters of the TLS handshakes of servers, over TCP and QUIC.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustls::ProtocolVersion;

/// Counters of handshakes. Servers may share them.
#[derive(Debug, Default)]
pub struct TlsHandshakes {
    tls12: AtomicU64,
    tls13: AtomicU64,
    failed: AtomicU64,
}

/// Numbers of handshakes since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandshakeCounts {
    /// Completed with TLS 1.2.
    pub tls12: u64,
    /// Completed with TLS 1.3, including QUIC.
    pub tls13: u64,
    /// Failed, timed out, or ended by the client.
    pub failed: u64,
}

impl TlsHandshakes {
    /// Returns the numbers so far.
    pub fn counts(&self) -> HandshakeCounts {
        HandshakeCounts {
            tls12: self.tls12.load(Relaxed),
            tls13: self.tls13.load(Relaxed),
            failed: self.failed.load(Relaxed),
        }
    }

    pub(super) fn add(&self, version: Option<ProtocolVersion>) {
        let counter = match version {
            Some(ProtocolVersion::TLSv1_3) => &self.tls13,
            Some(_) => &self.tls12,
            None => &self.failed,
        };
        counter.fetch_add(1, Relaxed);
    }
}
