//! Limits of the resources that a peer can consume, in addition to the limits of HTTP
//! ([`http_stack::limits`]).

/// Redirects that one request follows. Fetch limits redirects to 20, and curl to 50.
pub const REDIRECTS: usize = 10;
/// Bytes of a response field that become a label: more than most entity tags have.
pub(crate) const LABEL: usize = 200;
