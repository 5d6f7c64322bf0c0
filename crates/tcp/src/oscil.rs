//! A reader that misbehaves as real applications do, and a sender without end: what well-behaved benchmarks do not show.
//!
//! - [`Programme`]: what the reader does, as data.
//! - [`Pace`]: the engine; how much may be read until when.

mod pace;
mod programme;

pub use self::{
    pace::{Account, Allow, Pace, Run, Second},
    programme::{Kind, Phase, Programme, Rate},
};
