//! Longhaul's output: tables on a terminal, JSON for programs, and self-contained HTML files.
//!
//! - [`compare`] answers a [`Question`] with a [`Comparison`]; a [`Report`] is a whole result, as
//!   data.
//! - [`of_comparison`]: start here. Makes a report of recordings; `scenario` makes one of a run.
//! - [`figures`]: charts and tables of any experiment, as data. [`figures_html`] is their page.
//! - [`html`]: the page. [`terminal`]: the tables. [`svg`]: the charts as files. [`markdown`]: a
//!   comment on a pull request.

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
