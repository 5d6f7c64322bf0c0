//! Recordings: files of samples with their conditions.
//!
//! A native recording is JSON lines: a [`Header`], then a [`Sample`] a line with integer nanoseconds, then an [`End`].
//! `jq` reads it, and a shell loop writes it:
//!
//! ```text
//! {"schema":"longhaul.recording/1"}
//! {"latency_ns":12700000}
//! {"latency_ns":9100000,"started_ns":1000000000}
//! {"end":{}}
//! ```
//!
//! There are two ways to read. [`read_series`] gives one [`Metric`] as columns, also from CSV with a column such as
//! `latency_ms` (`_us`, `_s`, `_ns`) or with nothing but numbers; comparisons use it:
//!
//! ```
//! use std::path::Path;
//! use recording::{Metric, decode_series};
//!
//! let series = decode_series("ttfb_us,city\n1500,Oslo\n,Oslo\n2500,Lima\n".as_bytes(), Path::new("edge.csv"), None)?;
//! assert_eq!((series.label.as_str(), series.metric), ("edge", Metric::Ttfb));
//! assert_eq!(series.values_ms, [1.5, 2.5]);
//! // An empty cell was not measured: it is missing, not 0.
//! assert_eq!(series.without_metric, 1);
//! # Ok::<(), recording::Error>(())
//! ```
//!
//! [`open`] gives every [`Sample`] of a native recording, one after the other. [`Writer`] writes one.
//!
//! Reading is strict: what is not a number where one must be, a row of another width, or a line that is broken in the
//! middle of a file is an [`Error`] with path, line, column and what was expected. What can be read but not fully
//! trusted becomes a sentence in `warnings`: a recording that was cut off. One that calls
//! itself invalid says why in `invalid`.

mod csv;
mod detect;
mod error;
mod header;
mod lines;
mod native;
mod sample;
mod series;
mod writer;

pub use error::{Error, Place};
pub use header::{End, Header, SCHEMA};
pub use native::{Reader, open};
pub use sample::{Metric, Sample};
pub use series::{Series, decode_series, read_series};
pub use writer::Writer;
