//! What the kernel tells about TCP in the calling thread's network namespace, and what follows from it.
//!
//! - [`diag`]: the sockets, with everything that the kernel tells of each; [`Info`] is its `tcp_info`.
//! - [`counters`]: the namespace's counters and TCP's memory.
//! - [`timeline`]: one connection and the counters, again and again on a schedule.
//! - [`explain`]: why a connection is as fast as it is, and what would help.
//! - [`kernel`]: versions of Linux, and which rules hold from which one.
//! - [`settings`]: the namespace's settings, and the kernel's own choice.
//! - [`mptcp`]: the Multipath TCP connections, their subflows, and why one has no second.
//! - [`source_port`]: how a client gets a port, also where most of them are used.
//! - [`trace`]: time spent in the kernel's functions that look for room, where it lets us trace.
//! - [`window`]: windows and buffers for a path, and the rate that buffers allow.
//!
//! Inside: `netlink` speaks with the kernel. Everything that judges is pure: it takes what was read, and no clock.

#[cfg(test)]
mod alone;
mod clock;
pub mod counters;
pub mod diag;
mod error;
pub mod explain;
mod finding;
mod info;
pub mod kernel;
pub mod mptcp;
mod netlink;
mod processes;
mod run_queue;
pub mod settings;
pub mod source_port;
mod sys;
pub mod timeline;
pub mod trace;
pub mod window;

pub use clock::Clock;
pub use error::{Doing, Error};
pub use finding::Finding;
pub use info::{Info, Options};
pub use processes::Process;
pub use run_queue::RunQueue;
