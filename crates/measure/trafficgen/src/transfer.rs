//! One bulk transfer over TCP or Multipath TCP. Verifies every byte and records stalls.
//!
//! The sender starts with a greeting, one line of JSON; the server replies that it is ready, or with an
//! error ([`wire`]). Then the sender sends bytes of a known pattern ([`crate::payload`]) and closes its
//! half. The server verifies them, records their arrival times ([`arrivals`]), and returns a receipt, one
//! line of JSON. Lost bytes are the difference of two counts, never assumed to be 0.

mod arrivals;
mod buffer;
mod config;
mod connect;
mod error;
mod send;
mod serve;
mod summary;
mod telemetry;
mod wire;

pub use self::{
    config::{Protocol, Sending, Serving, Stopping},
    error::Error,
    send::send,
    serve::serve,
    summary::{Interval, Stall, Summary},
    telemetry::Memory,
};

#[cfg(test)]
mod tests;
