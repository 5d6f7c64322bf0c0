//! Time spent in the kernel's functions that free memory in a full receive buffer, where tracing is
//! permitted.
//!
//! Such a call can take tens of milliseconds, during which its processor handles no other packet,
//! and no counter shows it.

mod events;
mod tracefs;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::tracefs::{Instance, Tracefs};
use crate::error::Error;

/// The traced functions, by their names in the kernel. They call each other, so their times
/// overlap.
pub const FUNCTIONS: [&str; 4] =
    ["tcp_try_rmem_schedule", "tcp_prune_queue", "tcp_collapse", "tcp_prune_ofo_queue"];

/// The reason why tracing is unavailable, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unavailable {
    /// The reason.
    pub why: String,
    /// The remedy.
    pub remedy: String,
}

/// Calls that took longer than `from_us` and no longer than `to_us`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Lower bound (exclusive), us; 0 includes calls of no measurable time.
    pub from_us: u64,
    /// Upper bound (inclusive), us. Bounds are powers of two.
    pub to_us: u64,
    /// Number of calls.
    pub calls: u64,
}

/// A running trace of functions on the whole machine, in all network namespaces.
#[derive(Debug)]
pub struct Trace {
    instance: Instance,
    functions: Vec<&'static str>,
}

/// Whether this kernel and this user can trace. Changes nothing; a missing function is detected only by
/// [`Trace::start`].
pub fn available() -> Result<(), Unavailable> {
    Tracefs::find().map(drop)
}

impl Trace {
    /// Starts a trace of the [`FUNCTIONS`] that this kernel has. Removes the remains of dead processes.
    pub fn start() -> Result<Self, Unavailable> {
        let tracefs = Tracefs::find()?;
        tracefs.sweep();
        let instance = tracefs.instance()?;
        let mut functions = Vec::new();
        for function in FUNCTIONS {
            if instance.time(function)? {
                functions.push(function);
            }
        }
        if functions.is_empty() {
            return Err(Unavailable {
                why: format!("this kernel lacks all of the functions {}", FUNCTIONS.join(", ")),
                remedy: "use a kernel whose /proc/kallsyms lists one of them".to_owned(),
            });
        }
        Ok(Self { instance, functions })
    }

    /// Call durations since the start: each traced function with its non-empty bins, in ascending order.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<Bin>>, Error> {
        let bins = |function: &&'static str| Ok(((*function).to_owned(), self.instance.histogram(function)?));
        self.functions.iter().map(bins).collect()
    }
}
