//! What Longhaul shows: tables on a terminal, JSON for programs, and one HTML file that needs nothing else.
//!
//! - [`compare`], [`charts`]: from samples to the numbers of a comparison.
//! - [`Report`], [`Comparison`]: all numbers of a result, as data. The page draws them and computes nothing.
//! - [`of_comparison`], [`of_scenario`]: start here. A report, from what was read or what was run.
//! - [`html`]: the page. [`terminal`]: the tables.

mod assemble;
mod compare;
mod html;
mod model;
pub mod terminal;

pub use assemble::{of_comparison, of_scenario};
pub use compare::{CHART_REQUESTS, SideInput, Timed, charts, compare};
pub use html::html;
pub use model::*;
