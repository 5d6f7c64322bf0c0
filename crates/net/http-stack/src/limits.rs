//! Limits on everything whose size a peer determines.
//!
//! Limits that a caller chooses are in [`client::Limits`](crate::client::Limits),
//! [`client::Windows`](crate::client::Windows) and [`server::Config`](crate::server::Config), with
//! defaults from this module.

use std::time::Duration;

/// Header fields of one HTTP/1 message, in either direction, and of its trailers. The same as hyper's
/// limit. HTTP/2 and HTTP/3 limit only the size: see [`HEADER_BYTES`].
pub const HEADERS: usize = 100;

/// Bytes of one message's header, and of its read buffer.
pub const HEADER_BYTES: usize = 64 * 1024;

/// Names and origins for which a client caches addresses and connections.
pub const ORIGINS: usize = 64;

/// How long a server waits for a connection's handshake, a request's header, or the next piece of a
/// body.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server waits for requests in flight during shutdown.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// Concurrent connections of a server, if the limit of open files allows.
pub const CONNECTIONS: usize = 16_384;

/// Concurrent streams of a client on one HTTP/2 connection of a server.
pub const STREAMS: u32 = 1000;

/// The HTTP/2 flow-control window of a server, per stream and per connection.
pub const UPLOAD_WINDOW: u32 = 1 << 20;

/// The HTTP/2 flow-control window of a client per stream: Chrome's 6 MiB, which allows 160 Mbit/s at an
/// RTT of 300 ms.
pub const STREAM_WINDOW: u32 = 6 << 20;

/// The HTTP/2 flow-control window of a client per connection: Chrome's 15 MiB.
pub const CONNECTION_WINDOW: u32 = 15 << 20;
