//! A reader that misbehaves as real applications do, and a sender without end: what well-behaved benchmarks do not show.
//!
//! - [`Programme`]: what a reader does, as data.
//! - [`serve`]: sends without end to every client that connects.
//! - [`read`]: reads from any sender as a programme says, and looks at the connection meanwhile.
//! - [`Recording`]: what it saw.
//!
//! Inside: `pace` is the engine that says how much may be read until when; `reader` is the thread that does it; `summary`
//! and `warnings` judge what came of it.

mod connect;
mod pace;
mod programme;
mod read;
mod reader;
mod recording;
mod serve;
mod summary;
mod warnings;

pub use self::{
    programme::{Kind, Phase, Programme, Rate},
    read::{Progress, Reading, Tracing, read},
    recording::{Conditions, Ended, Passage, Recording, Second, Summary},
    serve::{Served, Serving, serve},
};

/// Where [`serve`] listens and [`read`] connects by default.
pub const DEFAULT_PORT: u16 = 5203;

#[cfg(test)]
mod tests;
