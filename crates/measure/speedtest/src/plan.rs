//! The plan of a test as data: requests, their order, and when larger requests are not worthwhile.
//!
//! A plan is a file ([`Plan::read`]). The built-in plans [`Plan::quick`] and [`Plan::full`] are
//! files too.

mod file;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use config_file::{Diagnostic, Document};
use units::Bytes;

/// The plan of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its name in results.
    pub name: String,
    /// The steps, at least one.
    pub steps: Vec<Step>,
    /// When to stop increasing sizes.
    pub limits: Limits,
    /// Additional larger sets for a direction whose last set was too short for the line, if the
    /// plan has them.
    pub larger: Option<Larger>,
    /// Interval of latency probes under load.
    pub probe_every: Duration,
    /// A shorter transfer does not load the line long enough to measure its latency under load.
    pub loaded_from: Duration,
}

/// When the sets of a direction end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A set whose fastest request took longer is the last of its direction.
    pub stop_after: Duration,
    /// This applies only if the fastest request also took more than this number of round trips.
    pub stop_after_round_trips: u32,
    /// A set starts no request after this time, to bound the load on a slow line.
    pub longest_set: Duration,
}

/// Sets with larger bodies than the plan's, for lines so long and fast that the plan's bodies took
/// fewer round trips than [`Limits::stop_after_round_trips`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Larger {
    /// Ratio of body sizes between consecutive sets.
    pub by: u32,
    /// Maximum size of a body.
    pub up_to: u64,
    /// Number of requests per set.
    pub count: u32,
    /// No set starts if one of its bodies would take longer at the rate of the previous set.
    pub within: Duration,
}

/// A step of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A download that is not counted. It establishes connections and opens the server's congestion
    /// window.
    WarmUp {
        /// The size of the body.
        bytes: u64,
    },
    /// Sequential requests without a body on the idle line.
    Latency {
        /// Number of requests.
        samples: u32,
    },
    /// Sequential requests of one size.
    Transfer {
        /// The direction of the bodies.
        direction: Direction,
        /// The size of the body.
        bytes: u64,
        /// Number of requests.
        count: u32,
    },
    /// Datagrams echoed by the server.
    Loss {
        /// Number of datagrams.
        messages: u32,
    },
}

/// The direction of a body, as seen by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the client.
    Download,
    /// To the server.
    Upload,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Download, Self::Upload];

    /// The name in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Plan {
    /// Takes some seconds on most lines.
    pub fn quick() -> Self {
        Self::compiled("quick", include_str!("plan/quick.toml"))
    }

    /// More sizes, and more requests of each.
    pub fn full() -> Self {
        Self::compiled("full", include_str!("plan/full.toml"))
    }

    /// Parses a plan.
    ///
    /// # Errors
    /// A mistake in the plan, with line and column.
    pub fn read(name: &str, document: &Document) -> Result<Self, Diagnostic> {
        file::read(name, document)
    }

    fn compiled(name: &str, text: &str) -> Self {
        Self::read(name, &Document::new(name, text)).expect("a test reads the plans that are compiled in")
    }

    /// Number of bytes of all steps in a direction, without early stop.
    pub fn most_bytes(&self, wanted: Direction) -> Bytes {
        let bytes = self.steps.iter().map(|step| match *step {
            Step::Transfer { direction, bytes, count } if direction == wanted => bytes * u64::from(count),
            Step::WarmUp { bytes } if wanted == Direction::Download => bytes,
            _ => 0,
        });
        Bytes(bytes.sum())
    }
}

/// The largest body of a request.
pub const LARGEST: u64 = 1_000_000_000;
