//! ICMP echo to many targets from one process: which ones answer, how fast, and how much is lost.
//!
//! A round sends one ping to each target, spread evenly over the interval. One thread sends and receives, with one
//! socket for each family of addresses. The engine that decides what is due, answered and lost ([`rounds`]) is given the
//! time; the shell around it ([`run()`]) owns sockets and clock.
//!
//! A round trip is monotonic time from right before `sendto` to right after `recvfrom`: the ways through both kernels
//! and this program's own wake-up are in it. Send times are kept here; no time is read from a reply.

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
