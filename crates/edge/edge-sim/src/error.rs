//! Errors of a simulation.

use std::{io, path::PathBuf};

use crate::LeftOut;

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network's file or the trace cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of a trace is invalid.
    #[error("{path}:{line}: {what}")]
    Line {
        /// The trace.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The problem and the expected format.
        what: String,
    },
    /// An access log cannot be read.
    #[error(transparent)]
    Log(#[from] recording::Error),
    /// The trace has no usable requests.
    #[error("{path} has no request that can be simulated{}", if .left_out.total() > 0 { format!("; left out: {}", .left_out.sentence()) } else { String::new() })]
    Empty {
        /// The trace.
        path: PathBuf,
        /// The skipped requests.
        left_out: LeftOut,
    },
    /// The gazetteer does not contain the city.
    #[error("unknown city \"{name}\"{}", config_file::suggestion(.name, world::gazetteer::cities().iter().map(|city| city.name.as_str())))]
    City {
        /// The name as given.
        name: String,
    },
    /// The network does not contain the zone.
    #[error("the network has no zone \"{name}\", only {}", .known.join(", "))]
    Zone {
        /// The name as given.
        name: String,
        /// The zones of the network.
        known: Vec<String>,
    },
    /// The network has several zones, and the command does not select one.
    #[error("which of the zones {} is simulated? --zone names it", .known.join(", "))]
    WhichZone {
        /// The zones of the network.
        known: Vec<String>,
    },
    /// The network has too many data centres.
    #[error("the network has {count} data centres; at most {most} can be simulated")]
    TooMany {
        /// Number of data centres.
        count: usize,
        /// The limit.
        most: usize,
    },
}
