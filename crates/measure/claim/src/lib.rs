//! Claims about results: their judgement, and the caveats of a result. Pure.
//!
//! - [`Claim`]: a statement about a result; [`judge`] decides whether it holds, and returns the deciding
//!   figures.
//! - [`Subject`]: the number that a claim is about. Each kind of measurement names its numbers.
//! - [`Evidence`], [`Measured`]: measured values in the form that claims evaluate.
//! - [`Threshold`]: a parsed condition of `--fail-if`.
//! - [`Doubt`]: a problem that invalidates or weakens a result. [`Caveat`] is its JSON form.
//! - [`Fidelity`]: the fidelity of an emulated run; [`Journal`]: the delays of the emulator; [`Route`]: their
//!   bound per sample.
//!
//! Internally, [`Unit`] parses and formats values, [`Path`] locates a number in JSON, and [`Measure`] is a
//! statistic of a distribution.

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
