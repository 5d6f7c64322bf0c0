//! One bulk transfer over TCP or Multipath TCP, of which every byte is checked and every silence noted.
//!
//! The sender greets with one line of JSON, and the server says that it is ready or why it refuses ([`wire`]). Then come
//! bytes of a known pattern ([`crate::payload`]) until the sender closes its half. The server compares them with what they must
//! be, notes when they come ([`arrivals`]), and answers on the same connection with one line of JSON: its receipt.
//! Lost bytes are the difference of two counts, never assumed to be none.

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
