//! Generates TCP traffic to measure how the kernel handles it.
//!
//! - [`oscil`]: a reader with variable speed, as applications have, and an unlimited sender.
//! - [`ports`]: the latency of source port selection by strategy and by the share of used ports.
//! - [`transfer`]: one bulk transfer over TCP or Multipath TCP in which every byte is verified.
//!
//! The [`tcp`] crate reads all kernel statistics of a connection.

mod accept;
#[cfg(test)]
#[path = "../../../net/tcp/src/alone.rs"]
mod alone;
mod bulk;
mod error;
mod payload;
pub mod ports;
pub mod slow_reader;
mod socket;
mod sys;
pub mod transfer;
mod wait;

pub use error::Error;
