//! Scenarios: a world, programs on it, faults on a timeline, measurements, and claims that hold or do not.
//!
//! - [`Plan`]: start here. Reads a scenario file and checks every name in it before anything is started.
//! - [`run`]: brings the planet up, starts the programs, measures, and takes it all down.
//! - [`Outcome`]: what was measured, whether the claims hold, and how faithful the planet was. [`report()`] makes a report of it.
//! - [`Measurement`]: one of the kinds of measurement. Each has a file in `kind/`; [`lists`] tells where in a report
//!   they are.
//!
//! Everything that a scenario does in a host goes through `longhaul lab exec`, and it measures with `longhaul probe`,
//! `transfer` and `ping`, or with any program that prints JSON: you can repeat each step on the command line.

mod assemble;
mod check;
pub mod clock;
mod emulator;
mod error;
mod evaluate;
mod file;
mod folder;
mod kind;
mod measurement;
mod outcome;
mod output;
mod plan;
mod prepare;
mod program;
mod run;

pub use assemble::report;
pub use check::Seed;
pub use error::Error;
pub use folder::OUT;
pub use kind::{
    List, Measurement,
    command::{Command, CommandResult, Figure},
    kv::{Kv, Role},
    lists,
    ping::{Pair, Ping, PingResult, RoundTripError, Target},
    probe::{Outage, Outages, Probe},
    speed::{Speed, SpeedResult},
    transfer::{Receiver, Transfer, TransferResult},
};
pub use measurement::ResultEntry;
pub use outcome::Outcome;
pub use plan::{Change, Mutant, Plan};
pub use program::Program;
pub use run::{Options, Progress, run, run_until_interrupted};
