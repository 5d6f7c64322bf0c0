//! One direction of one path: rate, queue, propagation delay and loss, in logical time.
//!
//! A [`Link`] decides the fate of each segment of each [`Packet`]: delivered at a due time, or
//! dropped with a cause. It reads no clock and does no I/O. The same seed and the same arrivals
//! always yield the same verdicts.
//!
//! ```text
//!  arrival ──> queue and its discipline ──> rate or trace ──> loss, damage, copies ──> propagation, jitter ──> due
//! ```
//!
//! Waiting packets are decided slice by slice, at the logical time at which the link becomes free
//! for them. Later arrivals never change a decision, and a late caller never changes the capacity.
//!
//! A packet may be a *super-packet*: up to 64 KB that the kernel segments only at the network card.
//! Everything is accounted for each segment, including headers and link overhead.
//!
//! - [`Link::offer`]: start here. [`Packet`], [`Arrival`]: the input; [`Verdict`]: its fate.
//! - [`netem`]: a [`Config`] in the syntax of Linux netem.
//!
//! ```
//! use std::time::Duration;
//! use link::{Arrival, Config, Ecn, Link, Packet, Rate, Verdict};
//!
//! let rate = Rate::Constant("12Mbit".parse()?);
//! let mut link = Link::new(Config { rate, propagation: Duration::from_millis(50), ..Config::default() }, 1);
//! let packet = Arrival { packet: Packet::single(1500), flow: 0, ecn: Ecn::NotCapable, tag: "ping" };
//! let mut due = None;
//! link.offer(Duration::ZERO, packet, &mut |_tag, verdict| {
//!     if let Verdict::Deliver { due: at, .. } = verdict {
//!         due = Some(at);
//!     }
//! });
//! // 1500 bytes take 1 ms at 12 Mbit/s, then 50 ms of glass.
//! assert_eq!(due, Some(Duration::from_millis(51)));
//! # Ok::<(), units::Error>(())
//! ```

mod amount;
mod config;
mod counters;
mod discipline;
mod error;
mod fate;
mod flight;
mod jitter;
mod link;
mod loss;
pub mod netem;
mod numbers;
mod packet;
mod queue;
mod random;
mod time;
mod trace;
mod transmitter;
mod verdict;

pub use amount::Amount;
pub use config::{Config, Limit, Rate, Receive};
pub use counters::Counters;
pub use discipline::{Discipline, DisciplineError};
pub use error::{FileError, NameError};
pub use jitter::{Jitter, Order, Shape, Table};
pub use link::Link;
pub use loss::{Loss, LossError, LossTrace};
pub use packet::Packet;
pub use trace::Trace;
pub use verdict::{Arrival, Cause, Ecn, Treatment, Verdict};
