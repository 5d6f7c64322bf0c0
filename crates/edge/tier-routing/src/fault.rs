//! Why a route to an origin failed, with the names of proxy errors in RFC 9209 (section 2.3).

/// Why a route to an origin failed: an event that ends an exchange before a complete response head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// No SYN-ACK arrived in time.
    ConnectionTimeout,
    /// The connection was refused, or the address is unreachable.
    ConnectionRefused,
    /// The connection was closed before a complete response head.
    ConnectionTerminated,
    /// The TLS handshake failed, or an alert ended the connection.
    TlsProtocolError,
    /// The received bytes are not HTTP.
    HttpProtocolError,
    /// No response head arrived in time.
    HttpResponseTimeout,
    /// The operator attributes the response's status to the path. RFC 9209 has no name for this.
    HttpResponseStatus,
    /// The next data centre does not respond, or does not reach the origin.
    DestinationUnavailable,
}

impl Fault {
    /// All faults, in order.
    pub const ALL: [Self; 8] = [
        Self::ConnectionTimeout,
        Self::ConnectionRefused,
        Self::ConnectionTerminated,
        Self::TlsProtocolError,
        Self::HttpProtocolError,
        Self::HttpResponseTimeout,
        Self::HttpResponseStatus,
        Self::DestinationUnavailable,
    ];

    /// The stable name in JSON and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConnectionTimeout => "connection_timeout",
            Self::ConnectionRefused => "connection_refused",
            Self::ConnectionTerminated => "connection_terminated",
            Self::TlsProtocolError => "tls_protocol_error",
            Self::HttpProtocolError => "http_protocol_error",
            Self::HttpResponseTimeout => "http_response_timeout",
            Self::HttpResponseStatus => "http_response_status",
            Self::DestinationUnavailable => "destination_unavailable",
        }
    }

    /// A short description for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ConnectionTimeout => "no SYN-ACK in time",
            Self::ConnectionRefused => "connection refused",
            Self::ConnectionTerminated => "closed before the response",
            Self::TlsProtocolError => "TLS handshake failed",
            Self::HttpProtocolError => "not an HTTP response",
            Self::HttpResponseTimeout => "no response head in time",
            Self::HttpResponseStatus => "error status of the path",
            Self::DestinationUnavailable => "data centre does not reach it",
        }
    }

    pub(crate) fn is_of_connection(self) -> bool {
        matches!(self, Self::ConnectionTimeout | Self::ConnectionRefused)
    }
}
