//! Origins and the routes to them: selection, health, attempts, connections.

pub(crate) mod balance;
pub(crate) mod connectors;
pub(crate) mod forwarded;
pub(crate) mod origin_request;
pub(crate) mod origins;
pub(crate) mod route_attempts;
pub(crate) mod select;
pub(crate) mod sigv4;
pub(crate) mod trailers;
