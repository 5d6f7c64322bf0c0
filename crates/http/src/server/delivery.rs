//! What became of a response: told to the handler that noted something of its request.

/// What became of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Whether all of it was handed to the connection.
    pub is_whole: bool,
    /// Bytes of its body, as far as it came.
    pub body_bytes: u64,
    /// Bytes that the connection took for it, before TLS: header and framing included. `None` over HTTP/2 and HTTP/3, whose frames of
    /// several responses are one stream of bytes.
    pub bytes: Option<u64>,
}
