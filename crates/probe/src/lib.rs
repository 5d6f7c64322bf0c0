//! The shell that measures: HTTP requests with all their phases, schedules of them, an origin to aim them at; pings.
//!
//! - [`client`]: one request, and each of its phases and stamps as a [`recording::Sample`].
//! - [`load`]: many requests, on a schedule (open loop) or by workers (closed loop), streamed into a
//!   recording. The generator measures itself too; a run in which it was the bottleneck is marked invalid.
//! - [`summary`]: what a run comes to, one object a phase.
//! - [`serve`]: a small origin whose service time follows a distribution.
//! - [`ping`]: ICMP echo to many targets from one process.
//!
//! HTTP from outside is parsed by hyper, h2 and rustls only; what it may cost is bounded in [`limits`].
//! Time is read in `clock` and waited for in `timer`, nowhere else.

pub mod client;
mod clock;
mod error;
mod family;
pub mod limits;
pub mod load;
pub mod ping;
mod random;
pub mod serve;
mod stop;
pub mod summary;
mod sys;
mod timer;

pub use error::Error;
pub use family::Family;
pub use stop::Stop;
