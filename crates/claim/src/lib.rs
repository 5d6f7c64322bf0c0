//! What can be claimed of a result, whether it holds, and what gives reason to doubt it. Pure.
//!
//! - [`Claim`]: a statement about a result; [`judge`] says whether it holds, with the figures that decide.
//! - [`Subject`]: the number that a claim is about. Each kind of measurement has names for its own.
//! - [`Evidence`], [`Measured`]: what was measured, as claims ask for it.
//! - [`Threshold`]: a condition of `--fail-if`, as it is written.
//! - [`Doubt`]: everything that invalidates or weakens a result. [`Caveat`] is its form in JSON.
//! - [`Fidelity`]: how faithful an emulated run was; [`Journal`]: when it was not; [`Route`]: how much of a sample that may be.
//!
//! Inside: [`Unit`] reads and shows values, [`Path`] finds a number in JSON, [`Measure`] is a number of a distribution.

mod claim;
mod doubt;
mod evidence;
mod fidelity;
mod journal;
mod judgement;
mod measure;
mod own_error;
mod path;
mod route;
mod subject;
mod threshold;
mod unit;

pub use claim::{Claim, Margin, Relation, Statement};
pub use doubt::{Caveat, Doubt, caveats_of, is_valid, reasons, warnings};
pub use evidence::{Evidence, Measured, Object};
pub use fidelity::{Bin, Fidelity, HeldUp, LateFlow};
pub use journal::{Delay, Flow, Held, Journal, Service, Slot};
pub use judgement::{Judgement, judge};
pub use measure::{Measure, Statistic};
pub use own_error::{OwnError, Ranged};
pub use path::Path;
pub use route::{Index, Route, Span, WAITS};
pub use subject::{Fold, Number, Query, Source, Subject, Tempo};
pub use threshold::{Amount, Condition, Failed, Surely, Threshold};
pub use unit::{Faster, Unit};
