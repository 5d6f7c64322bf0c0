//! A reader with variable speed, as real applications have, and an unlimited sender. Benchmarks with a
//! constant reader do not show these effects.
//!
//! - [`Programme`]: the behaviour of a reader, as data.
//! - [`serve`]: sends without limit to every client that connects.
//! - [`read`]: reads from any sender according to a programme, and samples the connection.
//! - [`Recording`]: the result.
//!
//! Internal modules: `pace` computes how much may be read until when; `reader` is the thread that reads;
//! `summary` computes the figures and `warnings` judges them.

mod connect;
mod pace;
mod pattern;
mod read;
mod reader;
mod recording;
mod serve;
mod summary;
mod warnings;

pub use self::{
    pattern::{Kind, Phase, Programme, Rate},
    read::{Progress, Reading, Tracing, read},
    recording::{Conditions, Ended, Passage, Recording, Second, Summary},
    serve::{Served, Serving, serve},
};

/// Default port of [`serve`] and [`read`].
pub const DEFAULT_PORT: u16 = 5203;

#[cfg(test)]
mod tests;
