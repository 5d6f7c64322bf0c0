//! Scenarios: a world, programs in its hosts, faults on a timeline, measurements, and claims.
//!
//! - [`Plan`]: start here. Reads a scenario file and checks every name in it before anything is
//!   started.
//! - [`run`]: starts the planet and the programs, measures, and stops everything.
//! - [`Outcome`]: results, judged claims, and the planet's fidelity. [`report()`] builds a report
//!   from it.
//! - [`Measurement`]: one kind of measurement. Each kind has a file in `kind/`; [`lists`] names
//!   their lists in a report.

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
