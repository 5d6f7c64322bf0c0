//! Logs refused connections of a server for members, at most once per second, because anyone can
//! connect.

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rustls::{CertificateError, Error as Tls};
use tracing::{debug, warn};

use crate::clock::Clock;

#[derive(Debug)]
pub(super) struct MtlsRejections {
    clock: Clock,
    /// Nothing is logged before this time, in nanoseconds.
    silent_until: AtomicU64,
    unsaid: AtomicU64,
}

impl MtlsRejections {
    pub(super) fn new() -> Self {
        Self { clock: Clock::start(), silent_until: AtomicU64::new(0), unsaid: AtomicU64::new(0) }
    }

    pub(super) fn tell(&self, client: SocketAddr, error: &io::Error) {
        let Some(why) = reason(error) else { return debug!(%client, %error, "a TLS handshake failed") };
        let now = self.clock.now();
        let silent_until = self.silent_until.load(Relaxed);
        let may_say = now >= silent_until
            && self
                .silent_until
                .compare_exchange(silent_until, now.saturating_add(PAUSE), Relaxed, Relaxed)
                .is_ok();
        if may_say {
            let unsaid = self.unsaid.swap(0, Relaxed);
            warn!(%client, others = unsaid, "a connection was refused: {why}");
        } else {
            self.unsaid.fetch_add(1, Relaxed);
        }
    }
}

/// `None` if the connection merely ended.
fn reason(error: &io::Error) -> Option<&'static str> {
    let tls = error.get_ref()?.downcast_ref::<Tls>()?;
    Some(match tls {
        Tls::NoCertificatesPresented => "it shows no certificate",
        Tls::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "its certificate is not signed by this network's authority"
        }
        Tls::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "its certificate has expired"
        }
        Tls::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        ) => "its certificate is not valid yet",
        Tls::InvalidCertificate(CertificateError::Revoked) => {
            "its certificate is revoked in the network's file"
        }
        Tls::InvalidCertificate(_) => "its certificate is not one for clients",
        Tls::AlertReceived(_) => "it does not trust this certificate, or not under the name that it called",
        _ => "it does not speak as members do (TLS 1.3 and HTTP/2)",
    })
}

const PAUSE: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_is_said_of_those_who_said_something() {
        let of = |error: Tls| reason(&io::Error::new(io::ErrorKind::InvalidData, error));
        assert_eq!(of(Tls::NoCertificatesPresented), Some("it shows no certificate"));
        let stranger = Tls::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(of(stranger), Some("its certificate is not signed by this network's authority"));
        assert_eq!(reason(&io::ErrorKind::UnexpectedEof.into()), None);
    }
}
