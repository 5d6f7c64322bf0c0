//! Scenarios: a world, programs on it, faults on a timeline, measurements, and claims that hold or do not.
//!
//! - [`Plan`]: start here. Reads a scenario file and checks every name in it before anything is started.
//! - [`run`]: brings the planet up, starts the programs, measures, and takes it all down.
//! - [`Outcome`]: what was measured, whether the claims hold, and how faithful the planet was.
//! - [`Subject`], [`Measure`]: the numbers that claims speak of. [`judge`]: the claims' judge. Pure.
//!
//! Whatever a scenario does in a host it does by `longhaul lab exec`, and it measures by `longhaul probe`, `transfer` and
//! `ping`, or by any program that prints JSON: each step can be repeated by hand.

mod claim;
mod clock;
mod error;
mod evaluate;
mod file;
mod json;
mod kept;
mod measure;
mod outage;
mod outcome;
mod pinged;
mod plan;
mod printed;
mod program;
mod run;
mod subject;
pub mod sweep;
mod transferred;

pub use claim::{Claim, Judgement, Margin, Relation, Says, judge};
pub use error::Error;
pub use json::Path;
pub use measure::Measure;
pub use outage::{Outage, Outages};
pub use outcome::{FaultMark, Outcome, Partial, Side};
pub use pinged::{Pair, Pinged, RoundTripError};
pub use plan::{Command, OUT, Ping, Plan, Probe, Program, Receiver, Seed, Target, Transfer};
pub use printed::{Figure, Printed};
pub use run::{Options, Progress, run, run_until_interrupted};
pub use subject::{OverHosts, OverPings, Source, Subject, Unit};
pub use transferred::Transferred;
