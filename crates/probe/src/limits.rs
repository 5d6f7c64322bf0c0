//! What a peer may cost: bounds on everything whose size somebody else decides.
//!
//! No parser of bytes from outside is written by hand in this crate; hyper, h2 and rustls have fuzz targets
//! of their own. What is ours is to bound them.

use std::time::Duration;

/// Header fields of one HTTP/1 message, in either direction. hyper's default.
pub const HEADERS: usize = 100;

/// Bytes of one message's header, and of the buffer that it is read into. Four times what common servers
/// accept.
pub const HEADER_BYTES: usize = 64 * 1024;

/// Redirects that one request follows. What Fetch and curl's documentation call a loop is 20 and 50; 10 is
/// ample.
pub const REDIRECTS: usize = 10;

/// Names whose addresses, and origins whose connections, are kept for the life of a run. Redirects lead
/// anywhere.
pub const ORIGINS: usize = 64;

/// How long the origin waits for a connection's handshake or a request's header, and for its next piece of
/// body.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the origin waits for requests in flight when it is asked to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// Connections that the origin holds at once, if the limit of open files allows.
pub const CONNECTIONS: usize = 16_384;

/// Streams that the origin lets a client open at once on one HTTP/2 connection.
pub const STREAMS: u32 = 1000;
