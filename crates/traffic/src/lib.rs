//! The shell that makes traffic of its own over TCP, to show what the kernel does with it.
//!
//! - [`oscil`]: a reader that misbehaves as applications do, and a sender without end.
//! - [`ports`]: what a port costs by strategy, and by how many are used already.
//! - [`transfer`]: one bulk transfer over TCP or Multipath TCP, every byte of it checked.
//!
//! Inside, for all of them: `bulk` is the one sender, of bytes that `payload` knows by their offset; `socket` opens and
//! connects, `accept` serves many at once, `wait` waits for a socket, `sys` asks for what no safe library has. What the kernel
//! tells of a connection is read by [`tcp`], nowhere else.

mod accept;
#[cfg(test)]
#[path = "../../tcp/src/alone.rs"]
mod alone;
mod bulk;
mod error;
pub mod oscil;
mod payload;
pub mod ports;
mod socket;
mod sys;
pub mod transfer;
mod wait;

pub use error::Error;
