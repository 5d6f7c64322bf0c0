//! Scenarios: a world, programs on it, faults on a timeline, measurements, and claims that hold or do not.
//!
//! - [`Plan`]: start here. Reads a scenario file and checks every name in it before anything is started.
//! - [`run`]: brings the planet up, starts the programs, measures, and takes it all down.
//! - [`Outcome`]: what was measured, whether the claims hold, and how faithful the planet was.
//! - [`Measure`], [`judge`]: the numbers that claims speak of, and the claims' judge. Pure.
//!
//! Whatever a scenario does in a host it does by `longhaul lab exec`, and it measures by `longhaul probe`: each step can be
//! repeated by hand.

mod claim;
mod clock;
mod error;
mod file;
mod outcome;
mod plan;
mod program;
mod run;

pub use claim::{Claim, Judgement, Measure, judge};
pub use error::Error;
pub use outcome::{FaultMark, Outcome, Side};
pub use plan::{Fault, Plan, Probe, Program};
pub use run::{Options, Progress, run};
