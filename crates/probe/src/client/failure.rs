//! Why a request failed, as a short phrase that stays the same from run to run.
//!
//! Failures are counted by their phrase, so nothing that a server chooses may get into one.

use std::{error::Error as _, fmt, io};

use super::trust;
use crate::Family;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request took longer than it may.
    Timeout,
    /// The run ended before the response did.
    Abandoned,
    /// The name has no address, or nobody could say.
    Dns,
    /// The name has addresses, but none of the family that was asked for.
    NoAddress(Family),
    Refused,
    Reset,
    Unreachable,
    /// The kernel gave up on the connection by itself.
    KernelTimeout,
    OutOfFiles,
    OutOfPorts,
    /// The connection ended in order, but before the response did.
    Closed(Stage),
    /// The handshake failed.
    Tls(&'static str),
    /// The other end reset the stream or ended the connection with this code.
    Http2(Option<h2::Reason>),
    /// What came is not HTTP.
    Garbled,
    /// The response's header is beyond [`crate::limits`].
    TooLarge,
    /// More redirects than [`crate::limits::REDIRECTS`].
    Redirects,
    /// Something else of the kernel's.
    Io(io::ErrorKind),
}

/// How far a response had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Head,
    Body,
}

impl Failure {
    /// Whether the machine that measures was short of sockets, which says nothing of the server.
    pub(crate) fn is_own_shortage(phrase: &str) -> bool {
        phrase == Self::OutOfFiles.to_string() || phrase == Self::OutOfPorts.to_string()
    }

    /// Whether this is what a request meets when the server has closed an idle connection at the same moment.
    pub(crate) fn is_lost_connection(self) -> bool {
        use h2::Reason;
        matches!(
            self,
            Self::Closed(Stage::Head)
                | Self::Reset
                | Self::Http2(
                    Some(Reason::NO_ERROR | Reason::REFUSED_STREAM | Reason::ENHANCE_YOUR_CALM) | None
                )
        )
    }

    pub(crate) fn from_io(error: &io::Error) -> Self {
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Self::Tls(tls_phrase(tls));
        }
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => return Self::OutOfFiles,
            Some(libc::EADDRNOTAVAIL) => return Self::OutOfPorts,
            _ => {}
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::Reset
            }
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => Self::Unreachable,
            io::ErrorKind::TimedOut => Self::KernelTimeout,
            io::ErrorKind::UnexpectedEof => Self::Closed(Stage::Head),
            kind => Self::Io(kind),
        }
    }

    pub(crate) fn from_hyper(error: &hyper::Error, stage: Stage) -> Self {
        let failure = match source::<io::Error>(error) {
            Some(io) => Self::from_io(io),
            None if error.is_parse_too_large() => Self::TooLarge,
            None if error.is_parse() => Self::Garbled,
            None => Self::Closed(stage),
        };
        failure.at(stage)
    }

    pub(crate) fn from_h2(error: &h2::Error, stage: Stage) -> Self {
        match error.get_io() {
            Some(io) => Self::from_io(io).at(stage),
            None => Self::Http2(error.reason()),
        }
    }

    fn at(self, stage: Stage) -> Self {
        if matches!(self, Self::Closed(_)) { Self::Closed(stage) } else { self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("timeout"),
            Self::Abandoned => f.write_str("unfinished when the run ended"),
            Self::Dns => f.write_str("dns"),
            Self::NoAddress(Family::V4) => f.write_str("dns: no IPv4 address"),
            Self::NoAddress(Family::V6) => f.write_str("dns: no IPv6 address"),
            Self::NoAddress(Family::Any) => f.write_str("dns: no address"),
            Self::Refused => f.write_str("connection refused"),
            Self::Reset => f.write_str("connection reset"),
            Self::Unreachable => f.write_str("unreachable"),
            Self::KernelTimeout => f.write_str("connection timed out"),
            Self::OutOfFiles => f.write_str("out of file descriptors"),
            Self::OutOfPorts => f.write_str("out of local ports"),
            Self::Closed(Stage::Head) => f.write_str("closed before the response"),
            Self::Closed(Stage::Body) => f.write_str("closed within the body"),
            Self::Tls(what) => write!(f, "tls: {what}"),
            Self::Http2(reason) => write!(f, "http/2: {}", http2_phrase(*reason)),
            Self::Garbled => f.write_str("not an HTTP response"),
            Self::TooLarge => f.write_str("response header too large"),
            Self::Redirects => f.write_str("too many redirects"),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

/// The first cause of type `E` behind an error.
fn source<E: std::error::Error + 'static>(error: &hyper::Error) -> Option<&E> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

/// The names of RFC 9113 section 7.
fn http2_phrase(reason: Option<h2::Reason>) -> &'static str {
    use h2::Reason;
    match reason {
        None => "broken",
        Some(Reason::NO_ERROR) => "NO_ERROR",
        Some(Reason::PROTOCOL_ERROR) => "PROTOCOL_ERROR",
        Some(Reason::INTERNAL_ERROR) => "INTERNAL_ERROR",
        Some(Reason::FLOW_CONTROL_ERROR) => "FLOW_CONTROL_ERROR",
        Some(Reason::SETTINGS_TIMEOUT) => "SETTINGS_TIMEOUT",
        Some(Reason::STREAM_CLOSED) => "STREAM_CLOSED",
        Some(Reason::FRAME_SIZE_ERROR) => "FRAME_SIZE_ERROR",
        Some(Reason::REFUSED_STREAM) => "REFUSED_STREAM",
        Some(Reason::CANCEL) => "CANCEL",
        Some(Reason::COMPRESSION_ERROR) => "COMPRESSION_ERROR",
        Some(Reason::ENHANCE_YOUR_CALM) => "ENHANCE_YOUR_CALM",
        Some(Reason::INADEQUATE_SECURITY) => "INADEQUATE_SECURITY",
        Some(Reason::HTTP_1_1_REQUIRED) => "HTTP_1_1_REQUIRED",
        Some(_) => "an error code of its own",
    }
}

fn tls_phrase(error: &rustls::Error) -> &'static str {
    use rustls::{CertificateError as Certificate, Error as Tls};
    match error {
        Tls::InvalidCertificate(certificate) => match certificate {
            Certificate::UnknownIssuer => "unknown issuer",
            Certificate::Expired | Certificate::ExpiredContext { .. } => "certificate expired",
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => "certificate not valid yet",
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "certificate for another name"
            }
            Certificate::Revoked => "certificate revoked",
            other if trust::is_authority(other) => "certificate of an authority, not of a server",
            _ => "bad certificate",
        },
        Tls::NoApplicationProtocol => "no common HTTP version",
        Tls::InvalidMessage(_) => "not TLS",
        Tls::PeerIncompatible(_) => "no common TLS version",
        Tls::AlertReceived(rustls::AlertDescription::NoApplicationProtocol) => "no common HTTP version",
        Tls::AlertReceived(rustls::AlertDescription::ProtocolVersion) => "no common TLS version",
        Tls::AlertReceived(rustls::AlertDescription::UnrecognisedName) => "server knows no such name",
        Tls::AlertReceived(_) => "alert from the server",
        _ => "handshake failed",
    }
}
