//! The most that an input may be: checked where it comes in, and named by the error that refuses
//! it.

/// The largest latency, ms. The bound keeps sums of squares finite.
pub const LARGEST_MS: f64 = 1e100;

/// The most samples that counts can stand for: up to 2^53 every count is exact as an `f64`.
pub const MOST_SAMPLES: u64 = 1 << 53;

/// The most intervals that [`crate::over_time`] makes, a bound on memory.
pub const MOST_INTERVALS: usize = 100_000;

/// The most requests that a page can make; the precision of
/// [`crate::Distribution::expected_experienced`] is tested up to here.
pub const MOST_REQUESTS: u32 = 1_000_000;

/// The most resamples: 200 MB of numbers a side.
pub const MOST_RESAMPLES: u32 = 20_000;
