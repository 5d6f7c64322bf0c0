//! Longhaul's output: tables on a terminal, JSON for programs, and self-contained HTML files.
//!
//! - [`Question`], [`compare`]: from samples to the numbers of a comparison.
//! - [`Report`], [`Comparison`]: all numbers of a result, as data. The page draws them and computes nothing.
//! - [`of_comparison`]: start here. Makes a report of recordings that were read. `scenario` makes one of a run.
//! - [`figures`]: charts and tables of any experiment, as data. [`figures_html`] is their page.
//! - [`html`]: the page. [`terminal`]: the tables. [`svg`]: the charts as files. [`markdown`]: a comment on a pull
//!   request.

mod assemble;
mod compare;
mod html;
pub mod markdown;
mod model;
pub mod svg;
pub mod terminal;
mod text;

pub use assemble::of_comparison;
pub use compare::{Analysis, Blocks, Columns, Question, SideInput, Unanswered, compare, fitting_resamples};
pub use html::{figures_html, html};
pub use model::*;
