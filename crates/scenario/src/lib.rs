//! Scenarios: a world, programs on it, faults on a timeline, measurements, and claims that hold or do not.
//!
//! - [`Plan`]: start here. Reads a scenario file and checks every name in it before anything is started.
//! - [`run`]: brings the planet up, starts the programs, measures, and takes it all down.
//! - [`Outcome`]: what was measured, whether the claims hold, and how faithful the planet was. [`report()`] makes a report of it.
//! - [`Measurement`]: one of the kinds of measurement. Each has a file in `kind/`; [`lists`] says where in a report they are.
//!
//! Whatever a scenario does in a host it does by `longhaul lab exec`, and it measures by `longhaul probe`, `transfer` and
//! `ping`, or by any program that prints JSON: each step can be repeated by hand.

mod assemble;
mod check;
pub mod clock;
mod error;
mod evaluate;
mod file;
mod folder;
mod kept;
mod kind;
mod measurement;
mod outcome;
mod plan;
mod program;
mod run;

pub use assemble::report;
pub use check::Seed;
pub use error::Error;
pub use folder::OUT;
pub use kind::{
    List, Measurement,
    command::{Command, Figure, Printed},
    lists,
    ping::{Pair, Ping, Pinged, RoundTripError, Target},
    probe::{Outage, Outages, Probe},
    transfer::{Receiver, Transfer, Transferred},
};
pub use measurement::Measured;
pub use outcome::Outcome;
pub use plan::Plan;
pub use program::Program;
pub use run::{Options, Progress, run, run_until_interrupted};
