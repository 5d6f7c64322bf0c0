//! Why something cannot be simulated.

use std::{io, path::PathBuf};

use crate::LeftOut;

/// What keeps a simulation from its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network's file, or the trace.
    #[error("cannot read {path}")]
    Unreadable {
        /// As it was given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of a trace is wrong.
    #[error("{path}:{line}: {what}")]
    Line {
        /// The trace.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it, and what was expected.
        what: String,
    },
    /// A trace that is an access log.
    #[error(transparent)]
    Log(#[from] recording::Error),
    /// There is not one request.
    #[error("{path} has no request that can be simulated{}", if .left_out.total() > 0 { format!("; left out: {}", .left_out.sentence()) } else { String::new() })]
    Empty {
        /// The trace.
        path: PathBuf,
        /// What was left out.
        left_out: LeftOut,
    },
    /// The gazetteer does not have it.
    #[error("unknown city \"{name}\"{}", document::suggestion(.name, world::gazetteer::cities().iter().map(|city| city.name.as_str())))]
    City {
        /// As it was given.
        name: String,
    },
    /// The network has no such zone.
    #[error("the network has no zone \"{name}\", only {}", .known.join(", "))]
    Zone {
        /// As it was given.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The network has several, and none was chosen.
    #[error("which of the zones {} is simulated? --zone names it", .known.join(", "))]
    WhichZone {
        /// Those that it has.
        known: Vec<String>,
    },
    /// More than the distances and counts are made for.
    #[error("the network has {count} data centres; at most {most} can be simulated")]
    TooMany {
        /// Data centres.
        count: usize,
        /// The limit.
        most: usize,
    },
}
