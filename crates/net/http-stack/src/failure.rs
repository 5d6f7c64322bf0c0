//! Why a request failed, as a short phrase that is stable across runs.
//!
//! Failures are counted by their phrase, so a phrase must not contain data chosen by a server.

mod quic;

use std::{fmt, io};

use rustls::CertificateError;

use crate::{Family, http1::Malformed};

/// Why a request or a body failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The timeout expired.
    Timeout,
    /// The name does not exist, or no DNS server could resolve it.
    Dns(&'static str),
    /// The name has addresses, but not in the requested family.
    NoAddress(Family),
    /// No process listens on the address.
    Refused,
    /// The Unix socket does not exist.
    NoSocket,
    /// The accept queue of the Unix socket is full.
    QueueFull,
    /// The peer, or a middlebox, reset the connection.
    Reset,
    /// The address is unreachable.
    Unreachable,
    /// The kernel's TCP timeout expired.
    KernelTimeout,
    /// The process has reached its limit of open files.
    OutOfFiles,
    /// No local port is available for a connection to that address.
    OutOfPorts,
    /// Too many requests wait for a connection to this origin
    /// ([`client::Limits`](crate::client::Limits)).
    Busy,
    /// The peer closed the connection in an orderly way before the end of the response.
    Closed(Stage),
    /// The handshake failed.
    Tls(&'static str),
    /// The peer reset the stream or closed the connection with this code.
    Http2(Option<h2::Reason>),
    /// The peer reset the stream or closed the connection with this code, or violated the protocol
    /// accordingly.
    Http3(u64),
    /// The QUIC connection could not be established, or was lost.
    Quic(&'static str),
    /// The received data is not HTTP.
    Garbled,
    /// A response header exceeds [`crate::limits`], or a body exceeds the permitted length.
    TooLarge,
    /// The source of the body being sent failed.
    Source,
    /// Another I/O error.
    Io(io::ErrorKind),
}

/// The part of a message that was being received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The head.
    Head,
    /// The body.
    Body,
}

impl Failure {
    /// Whether the local machine ran out of sockets, which is not the server's fault.
    pub fn is_own_shortage(self) -> bool {
        matches!(self, Self::OutOfFiles | Self::OutOfPorts)
    }

    /// Whether the request was not processed for lack of capacity. It may be sent elsewhere; the failure
    /// is no evidence about the path.
    pub fn is_capacity_error(self) -> bool {
        matches!(self, Self::Busy | Self::Http2(Some(h2::Reason::REFUSED_STREAM)))
    }

    /// Whether the failure is typical of a request on an idle connection that the server closes at the
    /// same time.
    pub fn is_lost_connection(self) -> bool {
        use h2::Reason;
        matches!(
            self,
            Self::Closed(Stage::Head)
                | Self::Reset
                | Self::Http2(
                    Some(Reason::NO_ERROR | Reason::REFUSED_STREAM | Reason::ENHANCE_YOUR_CALM) | None
                )
                | Self::Quic(quic::SILENT | quic::RESET)
        ) || self == Self::Http3(h3::error::Code::H3_REQUEST_REJECTED.value())
    }

    pub(crate) fn from_tls(error: &rustls::Error) -> Self {
        Self::Tls(tls_phrase(error))
    }

    /// Converts an error of a socket, or of TLS on it.
    pub fn from_io(error: &io::Error) -> Self {
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Self::from_tls(tls);
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

    pub(crate) fn from_h2(error: &h2::Error, stage: Stage) -> Self {
        match error.get_io() {
            // In TLS 1.3 a client certificate is rejected only after the client's handshake; h2
            // preserves only the error kind.
            Some(io) if io.kind() == io::ErrorKind::InvalidData => Self::Tls("refused after the handshake"),
            Some(io) => Self::from_io(io).at(stage),
            None => Self::Http2(error.reason()),
        }
    }

    pub(crate) fn at(self, stage: Stage) -> Self {
        if matches!(self, Self::Closed(_)) { Self::Closed(stage) } else { self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("timeout"),
            Self::Dns(what) => write!(f, "dns: {what}"),
            Self::NoAddress(Family::V4) => f.write_str("dns: no IPv4 address"),
            Self::NoAddress(Family::V6) => f.write_str("dns: no IPv6 address"),
            Self::NoAddress(Family::Any) => f.write_str("dns: no address"),
            Self::Refused => f.write_str("connection refused"),
            Self::NoSocket => f.write_str("no such socket"),
            Self::QueueFull => f.write_str("the listener's queue is full"),
            Self::Reset => f.write_str("connection reset"),
            Self::Unreachable => f.write_str("unreachable"),
            Self::KernelTimeout => f.write_str("connection timed out"),
            Self::OutOfFiles => f.write_str("out of file descriptors"),
            Self::OutOfPorts => f.write_str("out of local ports"),
            Self::Busy => f.write_str("too many requests wait for a connection"),
            Self::Closed(Stage::Head) => f.write_str("closed before the response"),
            Self::Closed(Stage::Body) => f.write_str("closed within the body"),
            Self::Tls(what) => write!(f, "tls: {what}"),
            Self::Http2(reason) => write!(f, "http/2: {}", http2_phrase(*reason)),
            Self::Http3(code) => write!(f, "http/3: {}", quic::http3_phrase(*code)),
            Self::Quic(what) => write!(f, "quic: {what}"),
            Self::Garbled => f.write_str("not an HTTP response"),
            Self::TooLarge => f.write_str("response header too large"),
            Self::Source => f.write_str("the request's body broke off"),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        if malformed == Malformed::TooLarge { Self::TooLarge } else { Self::Garbled }
    }
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

pub(crate) fn is_authority(error: &CertificateError) -> bool {
    let CertificateError::Other(other) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn tls_phrase(error: &rustls::Error) -> &'static str {
    use CertificateError as Certificate;
    use rustls::Error as Tls;
    match error {
        Tls::InvalidCertificate(certificate) => match certificate {
            Certificate::UnknownIssuer => "unknown issuer",
            Certificate::Expired | Certificate::ExpiredContext { .. } => "certificate expired",
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => "certificate not valid yet",
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "certificate for another name"
            }
            // Often a certificate that was regenerated while its predecessor is still trusted.
            Certificate::BadSignature => "certificate not signed by the key of its issuer",
            Certificate::Revoked => "certificate revoked",
            other if is_authority(other) => "certificate of an authority, not of a server",
            _ => "bad certificate",
        },
        Tls::NoApplicationProtocol => "no common HTTP version",
        Tls::InvalidMessage(_) => "not TLS",
        Tls::PeerIncompatible(_) => "no common TLS version",
        Tls::AlertReceived(alert) => alert_phrase(*alert),
        _ => "handshake failed",
    }
}

fn alert_phrase(alert: rustls::AlertDescription) -> &'static str {
    use rustls::AlertDescription as Alert;
    match alert {
        Alert::NoApplicationProtocol => "no common HTTP version",
        Alert::ProtocolVersion => "no common TLS version",
        Alert::UnrecognisedName => "server knows no such name",
        Alert::CertificateRequired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::BadCertificate
        | Alert::DecryptError => "server refused our certificate",
        _ => "alert from the server",
    }
}
