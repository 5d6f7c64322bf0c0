//! The result of sending a response, as reported to the handler.

/// The result of sending a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Whether it was passed to the connection completely.
    pub is_whole: bool,
    /// The bytes of its body that were sent.
    pub body_bytes: u64,
    /// The bytes written to the connection for it, before TLS, including header and framing. `None` over
    /// HTTP/2 and HTTP/3, where responses share one byte stream.
    pub bytes: Option<u64>,
}
