//! Claims about results: their judgement, and the caveats of a result. Pure.
//!
//! [`judge`] decides whether a [`Claim`] holds for [`Measured`] values. A [`Doubt`] is a problem
//! that invalidates or weakens a result. A [`Route`] bounds the emulator's error per sample, from
//! its [`Journal`].

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
