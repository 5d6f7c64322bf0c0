//! Measured round trips as they are written.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Measured round trips, or the name of the file that has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a file's name, or a list of pairs such as [[\"london\", \"paris\", \"5.2ms\"]]"
)]
pub enum Source {
    /// A CSV file, relative to the file that names it.
    File(String),
    /// The pairs themselves.
    Pairs(Vec<Pair>),
}

/// Two cities and the round trip between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair(pub String, pub String, #[serde(with = "units::duration")] pub Duration);
