//! ICMP echo to many targets from one process: replies, round-trip times and loss.
//!
//! A round sends one ping to each target, spread evenly over the interval. One thread sends and receives,
//! with one socket for each address family. The engine ([`rounds`]) decides which pings are due, answered and
//! lost, and receives the time as an argument; the I/O layer ([`run()`]) owns sockets and clock.
//!
//! A round trip is monotonic time from right before `sendto` to right after `recvfrom`: it includes both
//! kernels' network stacks and this program's wake-up. Send times are stored here; no time is read from a
//! reply.

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
