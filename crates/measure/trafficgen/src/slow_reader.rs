//! A reader with variable speed, as real applications have, and an unlimited sender.
//!
//! [`serve`] sends to every client; [`read`] reads from any sender according to a [`Programme`] and
//! returns a [`Recording`].

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
