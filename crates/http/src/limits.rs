//! What a peer may cost: bounds on everything whose size somebody else decides.
//!
//! h2, h3, quinn and rustls parse foreign bytes, and have fuzz targets of their own. What is ours is to bound them; for
//! that, the types and lengths of HTTP/3's frames are read here too (`http3/bounded.rs`), and the field sections of requests are validated. HTTP/1.1 is read and bounded in
//! [`http1`](crate::http1). What a caller may choose for itself is in
//! [`client::Limits`](crate::client::Limits), [`client::Windows`](crate::client::Windows) and
//! [`server::Config`](crate::server::Config), whose defaults are from here.

use std::time::Duration;

/// Header fields of one HTTP/1 message, in either direction, and of its trailers. As many as hyper takes. HTTP/2 and HTTP/3 limit only the
/// size: see [`HEADER_BYTES`].
pub const HEADERS: usize = 100;

/// Bytes of one message's header, and of the buffer that it is read into. Four times what common servers
/// accept. HTTP/2 and HTTP/3 add 32 bytes for each field (RFC 9113 section 6.5.2, RFC 9114 section 4.2.2).
pub const HEADER_BYTES: usize = 64 * 1024;

/// Names whose addresses, and origins whose connections, a client keeps. Redirects lead anywhere.
pub const ORIGINS: usize = 64;

/// How long a server waits for a connection's handshake or a request's header, and for the next piece of a
/// body.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server waits for requests in flight when it is asked to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// Connections that a server holds at once, if the limit of open files allows.
pub const CONNECTIONS: usize = 16_384;

/// Streams that a server lets a client open at once on one HTTP/2 connection.
pub const STREAMS: u32 = 1000;

/// What may arrive on one HTTP/2 stream of a server before somebody reads it, and on all of one connection together: a window a round trip,
/// so that at 100 ms a client can send 84 Mbit/s.
pub const UPLOAD_WINDOW: u32 = 1 << 20;

/// What may arrive on one HTTP/2 stream of a client before somebody reads it: Chrome's 6 MiB, which at a round trip of
/// 300 ms let 160 Mbit/s through.
pub const STREAM_WINDOW: u32 = 6 << 20;

/// What may arrive on all HTTP/2 streams of one connection of a client together: Chrome's 15 MiB.
pub const CONNECTION_WINDOW: u32 = 15 << 20;
