//! What a test does, as data: which requests, how many, in which order, and when a larger one is not worth its time.
//!
//! A plan is a file ([`Plan::read`]); those that are compiled in, [`Plan::quick`] and [`Plan::full`], are files too.

mod file;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use document::{Document, Mistake};
use units::Bytes;

/// A test, from its first step to its last.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What the result calls it.
    pub name: String,
    /// In this order; at least one.
    pub steps: Vec<Step>,
    /// When to stop growing.
    pub limits: Limits,
    /// What a direction gets after its last set if that was too short for a line of this length; nothing if the plan does not say.
    pub larger: Option<Larger>,
    /// How often latency is looked at while the line is full.
    pub probe_every: Duration,
    /// A transfer that takes less does not fill a line for long enough to say anything about its latency.
    pub loaded_from: Duration,
}

/// When a direction has seen enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A set whose fastest request took longer is the last of its direction: larger ones would tell the same and take more of the line.
    pub stop_after: Duration,
    /// ... if it took more than so many round trips as well.
    pub stop_after_round_trips: u32,
    /// A set begins no further request after this time, so that a slow line is not full for minutes.
    pub longest_set: Duration,
}

/// Sets of bodies that are larger than those of the plan, for lines that are so long and fast that the sender's window may not have opened
/// in the plan's largest: those that took fewer round trips than [`Limits::stop_after_round_trips`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Larger {
    /// How many times as large the bodies of a set are as those of the one before.
    pub by: u32,
    /// No body is larger.
    pub up_to: u64,
    /// How many requests a set has.
    pub count: u32,
    /// No set begins of whose bodies one would take longer, at the pace of the one before.
    pub within: Duration,
}

/// A part of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A download that counts for nothing: connections are made, and the server's window has begun to open.
    WarmUp {
        /// The size of the body.
        bytes: u64,
    },
    /// Requests without a body, one after the other, with the line idle.
    Latency {
        /// How many.
        samples: u32,
    },
    /// Requests of one size, one after the other.
    Transfer {
        /// Which way the body goes.
        direction: Direction,
        /// The size of the body.
        bytes: u64,
        /// How many requests.
        count: u32,
    },
    /// Datagrams that the server sends back.
    Loss {
        /// How many.
        messages: u32,
    },
}

/// Which way a body goes, as the one who tests the line sees it.
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

    /// The word for it in plans and results.
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
    /// Some seconds on most lines.
    pub fn quick() -> Self {
        Self::compiled("quick", include_str!("plan/quick.toml"))
    }

    /// More sizes and more requests of each.
    pub fn full() -> Self {
        Self::compiled("full", include_str!("plan/full.toml"))
    }

    /// Reads a plan that somebody wrote.
    ///
    /// # Errors
    /// What is wrong with it, by line and column.
    pub fn read(name: &str, document: &Document) -> Result<Self, Mistake> {
        file::read(name, document)
    }

    fn compiled(name: &str, text: &str) -> Self {
        Self::read(name, &Document::new(name, text)).expect("a test reads the plans that are compiled in")
    }

    /// How many bytes all steps of the plan move in a direction if nothing stops them.
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
