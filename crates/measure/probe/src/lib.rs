//! The measuring I/O layer: HTTP requests with all their phases, schedules of them, an origin for
//! experiments; pings.
//!
//! - [`client`]: one request, and each of its phases and timestamps as a [`recording::Sample`].
//! - [`load`]: many requests, on a schedule (open loop) or by workers (closed loop), streamed into a
//!   recording. The generator measures itself too; a run in which it was the bottleneck is marked invalid.
//! - [`summary`]: the result of a run, one object per phase.
//! - [`Catalogue`]: selects the object of each request.
//! - [`serve`]: a small origin whose service time follows a distribution.
//! - [`ping`]: ICMP echo to many targets from one process.
//!
//! HTTP itself, with its timestamps, and the clock are in the crate `http`.

mod catalogue;
pub mod client;
mod error;
pub mod limits;
pub mod load;
pub mod metrics;
pub mod ping;
mod random;
pub mod serve;
pub mod summary;
mod sys;
pub mod watch;

pub use catalogue::Catalogue;
pub use error::Error;
pub use http_stack::{Family, ShutdownSignal};
use http_stack::{clock, timer};
