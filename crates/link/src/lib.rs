//! One direction of one path: rate, queue, propagation delay and loss, in logical time.
//!
//! A [`Link`] is told when a [`Packet`] arrives and answers at once what becomes of each of its segments: delivered at
//! a due time, or dropped and why. It reads no clock and does no I/O, so the same engine runs in tests in virtual time
//! and inside the planet's switch. The same seed and the same arrivals give the same verdicts, always.
//!
//! ```text
//!  arrival ──> queue (drop-tail, bytes) ──> rate ──> loss ──> propagation ──> due
//! ```
//!
//! Departures are computed from the time the link becomes free, never from "now": a caller that is late shifts a
//! packet and never the capacity. Lost segments have occupied the wire like any other; that is where they were lost.
//!
//! A packet may be a *super-packet*: up to 64 KB that the kernel would cut into segments only at the network card.
//! Everything is accounted for each segment that would travel on a real wire, header and link overhead included.
//!
//! - [`Packet`]: what a packet is on the wire.
//! - [`Config`]: what a link is; [`Limit`]: how much may wait in its queue; [`Receive`]: how segments reach the receiver.
//! - [`Link::offer`]: start here.
//!
//! ```
//! use std::time::Duration;
//! use link::{Config, Link, Packet, Verdict};
//!
//! let config = Config { rate: Some("12Mbit".parse()?), propagation: Duration::from_millis(50), ..Config::default() };
//! let mut link = Link::new(config, 1);
//! let mut due = None;
//! link.offer(Duration::ZERO, Packet::single(1500), |verdict| {
//!     if let Verdict::Deliver { due: at, .. } = verdict {
//!         due = Some(at);
//!     }
//! });
//! // 1500 bytes take 1 ms at 12 Mbit/s, then 50 ms of glass.
//! assert_eq!(due, Some(Duration::from_millis(51)));
//! # Ok::<(), units::Error>(())
//! ```

mod config;
mod counters;
mod link;
mod loss;
mod packet;
mod transmitter;

pub use config::{Config, Limit, Receive};
pub use counters::Counters;
pub use link::{Cause, Link, Verdict};
pub use packet::Packet;
