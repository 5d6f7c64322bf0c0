//! The state of TCP in the calling thread's network namespace, and its analysis.
//!
//! - [`diag`]: the sockets with all their attributes; [`Info`] is the `tcp_info`.
//! - [`counters`]: the namespace's counters and TCP's memory.
//! - [`timeline`]: periodic samples of one connection and of the counters.
//! - [`explain`]: the limiting factor of a connection, and the remedy.
//! - [`kernel`]: versions of Linux, and version-dependent rules.
//! - [`settings`]: the namespace's settings, and the kernel's defaults.
//! - [`mptcp`]: Multipath TCP connections, their subflows, and the reason for a missing second subflow.
//! - [`source_port`]: strategies for choosing a source port, including nearly exhausted ranges.
//! - [`trace`]: time in the kernel's functions that free receive buffer memory, where tracing is permitted.
//! - [`window`]: windows and buffers for a path, and the rate that buffers permit.
//!
//! Internally, `netlink` communicates with the kernel. All judgement is pure: it uses data that was read
//! before, and no clock.

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
