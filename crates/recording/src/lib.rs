//! Recordings: files of samples with their conditions.

mod header;
mod sample;

pub use header::{End, Header, SCHEMA};
pub use sample::{Metric, Sample};
