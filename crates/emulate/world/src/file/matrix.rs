//! The `matrix` key of a world file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Measured round-trip times, or the name of their file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a file's name, or a list of pairs such as [[\"london\", \"paris\", \"5.2ms\"]]"
)]
pub enum Source {
    /// A CSV file, relative to the file that contains the path.
    File(String),
    /// The pairs themselves.
    Pairs(Vec<Pair>),
}

/// Two cities and the round-trip time between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair(pub String, pub String, #[serde(with = "units::duration")] pub Duration);
