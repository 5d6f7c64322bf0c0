//! Measures HTTP requests with all their phases, and pings.
//!
//! - [`client`]: one request as a [`recording::Sample`]. [`load`]: many requests, and their
//!   [`summary`].
//! - [`serve`]: a small origin whose service time follows a distribution.
//! - [`ping`]: ICMP echo to many targets from one process.

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
