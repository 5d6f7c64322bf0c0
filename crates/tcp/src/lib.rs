//! What the kernel tells about TCP in the calling thread's network namespace, and what follows from it.
//!
//! - [`kernel`]: versions of Linux, and which rules hold from which one.
//! - [`mptcp`]: the Multipath TCP connections, their subflows, and why one has no second.
//! - [`ports`]: what a port costs by strategy, and by how many are used already.
//! - [`source_port`]: how a client gets a port, also where most of them are used.
//!
//! Inside: `netlink` speaks with the kernel. Everything that judges is pure: it takes what was read, and no clock.

#[cfg(test)]
mod alone;
mod clock;
mod error;
pub mod kernel;
pub mod mptcp;
mod netlink;
pub mod ports;
pub mod source_port;

pub use error::Error;
