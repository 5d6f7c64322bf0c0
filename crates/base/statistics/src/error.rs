//! Errors in samples, pages and intervals.

use crate::limits::{LARGEST_MS, MOST_INTERVALS, MOST_REQUESTS, MOST_RESAMPLES, MOST_SAMPLES};

/// Input for which a statistic is undefined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A distribution of nothing.
    #[error("there are no samples; a distribution needs at least 1")]
    Empty,
    /// A sample is NaN or infinite.
    #[error("sample {index} is {value}; a latency is a finite number")]
    NotFinite {
        /// Its index in the input, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A sample is below 0.
    #[error("sample {index} is {value} ms; a latency is not negative")]
    Negative {
        /// Its index in the input, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A sample is so large that sums of squares could overflow.
    #[error("sample {index} is {value:e} ms; a latency is at most {LARGEST_MS:e} ms")]
    TooLarge {
        /// Its index in the input, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A page of no requests, or of implausibly many.
    #[error("a page of {requests} requests; a page makes 1 to {MOST_REQUESTS} requests")]
    Requests {
        /// The requested number.
        requests: u32,
    },
    /// The share of requests that a page needs is not a share.
    #[error("a required share of {required}; it must be above 0 and at most 1")]
    Required {
        /// The requested share.
        required: f64,
    },
    /// Times and values do not belong together.
    #[error("{times} times for {values} values; each value needs its time")]
    Unpaired {
        /// How many times.
        times: usize,
        /// How many values.
        values: usize,
    },
    /// A time is NaN, infinite or negative.
    #[error("time {index} is {value} s; a time is a finite number of seconds since the start, 0 or more")]
    Time {
        /// Its index in the input, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// An interval that gives no pieces, or too many.
    #[error(
        "intervals of {interval_s} s for {span_s} s; a length above 0 that makes at most {MOST_INTERVALS}"
    )]
    Interval {
        /// The requested length, seconds.
        interval_s: f64,
        /// The latest time, seconds.
        span_s: f64,
    },
    /// More samples than can be counted exactly.
    #[error("{count} samples or more; counts are exact up to {MOST_SAMPLES}")]
    TooMany {
        /// How many there were when it became too many.
        count: u64,
    },
    /// The error of a histogram is not a share of its values.
    #[error("a relative error of {relative_error}; it is 0 or more and below 1")]
    RelativeError {
        /// The stated error.
        relative_error: f64,
    },
    /// A number of resamples or a level that makes no interval.
    #[error(
        "{resamples} resamples for a level of {level}; 100 to {MOST_RESAMPLES} for a level from 0.5 up to 0.999"
    )]
    Resamples {
        /// The requested number.
        resamples: u32,
        /// The requested level.
        level: f64,
    },
    /// A series that is not the side's samples ordered by time, or an impossible block length.
    #[error(
        "blocks of {length} of {values} values in time for {samples} samples; exact samples, all of them, and a block is 1 to all of them long"
    )]
    Blocks {
        /// The requested length of a block.
        length: usize,
        /// How many values were given, ordered by time.
        values: usize,
        /// How many samples the side has.
        samples: usize,
    },
    /// A column that has not the length of the others.
    #[error("{found} {column} for {values}; there must be as many of one as of the other")]
    Uneven {
        /// The content of the column, in the plural.
        column: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        values: usize,
    },
    /// Too few values for a result.
    #[error("{found} {what}; at least {least} are needed")]
    TooFew {
        /// The kind of values, in the plural.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many it takes.
        least: usize,
    },
}
