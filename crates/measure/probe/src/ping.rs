//! ICMP echo to many targets from one process: replies, round-trip times and loss.
//!
//! [`rounds`] is the engine, without clock and sockets; [`run()`] is the I/O layer. A round trip is
//! monotonic time from right before `sendto` to right after `recvfrom`.

mod clocks;
mod config;
mod error;
mod packet;
mod resolve;
mod rounds;
mod run;
mod socket;
mod steps;
mod summary;

pub use crate::Family;

pub use self::{
    config::Config,
    error::Error,
    resolve::{Target, resolve},
    run::{header, run},
    summary::{RoundTrips, Summary, TargetSummary},
};

#[cfg(test)]
mod tests;
