//! Recordings: files of samples with their conditions.
//!
//! A native recording is JSON lines: a [`Header`], then a [`Sample`] a line with integer
//! nanoseconds, then an [`End`]:
//!
//! ```text
//! {"schema":"longhaul.recording/1"}
//! {"latency_ns":12700000}
//! {"latency_ns":9100000,"started_ns":1000000000}
//! {"end":{}}
//! ```
//!
//! [`read_series`] gives one [`Metric`] of any format as columns:
//!
//! ```
//! use std::path::Path;
//! use recording::{Metric, Values, Wanted, decode_series};
//!
//! let text = "ttfb_us,city\n1500,Oslo\n,Oslo\n2500,Lima\n";
//! let series = decode_series(text.as_bytes(), Path::new("edge.csv"), &Wanted::default())?;
//! assert_eq!((series.label.as_str(), series.metric), ("edge", Metric::Ttfb));
//! assert_eq!(series.values, Values::Exact(vec![1.5, 2.5]));
//! // An empty cell was not measured: it is missing, not 0.
//! assert_eq!(series.without_metric, 1);
//! # Ok::<(), recording::Error>(())
//! ```
//!
//! [`open`] gives every [`Sample`] of a native recording, one after the other. [`Writer`] writes
//! one.
//!
//! Reading is strict: malformed content in the middle of a file is an [`Error`] with its place.
//! Defects that only reduce confidence, such as a truncated recording, become sentences in
//! `warnings`.

mod error;
pub mod formats;
mod header;
mod histogram;
mod merge;
mod read;
mod sample;
mod series;
mod sink;
mod standard_streams;
mod unit;
mod write;

pub use error::{Error, Place, Unknown};
pub use header::{End, Header, SCHEMA};
pub use histogram::Histogram;
pub use merge::{Merged, merge};
pub use read::{
    AccessFormat, AccessLog, ColumnMapping, EPOCH_NS, Format, Labels, Options, Origin, decode,
    file::is_same_file,
    native::{Reader, open},
    read, unix_seconds,
};
pub use sample::{Metric, Sample};
pub use series::{
    Failure, Groups, Moment, NO_GROUP, Part, Series, Values, Wanted, decode_series, read_series,
    read_series_beside,
};
pub use sink::{Counts, Event, Sink};
pub use standard_streams::is_standard;
pub use statistics::Bucket;
pub use unit::Unit;
pub use write::{
    Growing, Recorder, Target, WriteOptions, Writer, Written, annotate, create, temporaries_of, write_whole,
    write_whole_by,
};
