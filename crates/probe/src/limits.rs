//! How much a peer may cost a measurement, in addition to the limits of HTTP ([`http::limits`]).

/// Redirects that one request follows. What Fetch and curl's documentation call a loop is 20 and 50; 10 is
/// ample.
pub const REDIRECTS: usize = 10;
/// Bytes of a response's field that become a label: more than most entity tags have.
pub(crate) const LABEL: usize = 200;
