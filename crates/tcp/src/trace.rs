//! Time spent in the functions of the kernel that look for room in a full receive buffer, where the kernel lets us trace.
//!
//! Such a call can take tens of milliseconds, during which its processor serves no other packet, and no counter tells. Probes
//! at a function's beginning and end (kprobes) take the time, and the kernel itself keeps the histogram (a hist trigger), so
//! that nothing is copied for a packet. All of it hangs on an instance of tracefs of our own: what others trace is not
//! touched. It is removed when a [`Trace`] is dropped; what a killed process leaves costs a microsecond a call and is removed
//! by the next one to start.

mod events;
mod tracefs;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::tracefs::{Instance, Tracefs};
use crate::error::Error;

/// The functions, by the kernel's names. One calls the next, so their times contain one another: find room for a packet;
/// prune the queue; collapse packets into fewer; drop those out of order. A kernel's compiler may have put one into another:
/// then it is not measured by itself.
pub const FUNCTIONS: [&str; 4] =
    ["tcp_try_rmem_schedule", "tcp_prune_queue", "tcp_collapse", "tcp_prune_ofo_queue"];

/// Why nothing can be traced here, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unavailable {
    /// What is missing.
    pub why: String,
    /// How to get it.
    pub remedy: String,
}

/// Calls that took longer than `from_us` and no longer than `to_us`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Longer than this, us; 0: those of no measurable time too.
    pub from_us: u64,
    /// Up to this, us. Bins end at powers of two.
    pub to_us: u64,
    /// How many calls.
    pub calls: u64,
}

/// Functions whose calls are being timed, on the whole machine and in all network namespaces.
#[derive(Debug)]
pub struct Trace {
    instance: Instance,
    functions: Vec<&'static str>,
}

/// Whether this kernel and this user can trace. Changes nothing; a function that is missing shows only when a trace starts.
pub fn available() -> Result<(), Unavailable> {
    Tracefs::find().map(drop)
}

impl Trace {
    /// Begins to time the calls of those [`FUNCTIONS`] that this kernel has. Removes what dead processes left of theirs.
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
                why: format!("this kernel has none of the functions {}", FUNCTIONS.join(", ")),
                remedy: "use a kernel whose /proc/kallsyms lists one of them".to_owned(),
            });
        }
        Ok(Self { instance, functions })
    }

    /// How long the calls took since the start: every function that is timed, and its bins with calls, the shortest first.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<Bin>>, Error> {
        let bins = |function: &&'static str| Ok(((*function).to_owned(), self.instance.histogram(function)?));
        self.functions.iter().map(bins).collect()
    }
}
