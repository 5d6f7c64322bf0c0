//! One bulk transfer over TCP or Multipath TCP. Verifies every byte and records stalls.
//!
//! The sender greets with one line of JSON, and the server replies ([`wire`]). The server verifies
//! the [`crate::payload`] and returns a receipt, one line of JSON.

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
