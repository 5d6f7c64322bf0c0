//! What can be wrong with samples, pages and intervals.

use crate::{LARGEST_MS, MOST_INTERVALS, MOST_REQUESTS};

/// Input that no statistic can be made of. All of it is the caller's: nothing here depends on the environment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A distribution of nothing.
    #[error("there are no samples; a distribution needs at least 1")]
    Empty,
    /// A sample is NaN or infinite.
    #[error("sample {index} is {value}; a latency is a finite number")]
    NotFinite {
        /// Its place in the input, from 0.
        index: usize,
        /// What was found.
        value: f64,
    },
    /// A sample is below 0.
    #[error("sample {index} is {value} ms; a latency is not negative")]
    Negative {
        /// Its place in the input, from 0.
        index: usize,
        /// What was found.
        value: f64,
    },
    /// A sample is so large that sums of squares could overflow.
    #[error("sample {index} is {value:e} ms; a latency is at most {LARGEST_MS:e} ms")]
    TooLarge {
        /// Its place in the input, from 0.
        index: usize,
        /// What was found.
        value: f64,
    },
    /// A page of no requests, or of more than anybody waits for.
    #[error("a page of {requests} requests; a page makes 1 to {MOST_REQUESTS} requests")]
    Requests {
        /// What was asked for.
        requests: u32,
    },
    /// The share of requests that a page needs is not a share.
    #[error("a required share of {required}; it lies above 0 and is at most 1")]
    Required {
        /// What was asked for.
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
        /// Its place in the input, from 0.
        index: usize,
        /// What was found.
        value: f64,
    },
    /// An interval that cuts the time into nothing, or into more pieces than anybody looks at.
    #[error(
        "intervals of {interval_s} s for {span_s} s; a length above 0 that makes at most {MOST_INTERVALS}"
    )]
    Interval {
        /// The length asked for, seconds.
        interval_s: f64,
        /// The latest time, seconds.
        span_s: f64,
    },
}
