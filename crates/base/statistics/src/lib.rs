//! The latency that users experience on a page of many requests: pure arithmetic on distributions of
//! latency.
//!
//! A person who opens a page makes N requests and waits for the slowest that the page needs. If
//! requests are independent, the chance that none of N is slower than the request percentile X is
//! X^N:
//!
//! ```
//! use statistics::Page;
//!
//! let page = Page::new(70, 1.0)?;
//! // The median visitor's worst request is a 99.01st-percentile one; the 99th visitor's is a 99.986th.
//! assert!((page.percentile_to_watch(0.5) - 0.9901).abs() < 1e-4);
//! assert!((page.percentile_to_watch(0.99) - 0.99986).abs() < 1e-5);
//! # Ok::<(), statistics::Error>(())
//! ```
//!
//! Two sides can trade places on the way from one request to a page:
//!
//! ```
//! use statistics::{Distribution, Page};
//!
//! // 99 fast requests and a slow one, against 100 that are all alike.
//! let mut swift = vec![10.0; 99];
//! swift.push(500.0);
//! let swift = Distribution::new(swift)?;
//! let steady = Distribution::new(vec![20.0; 100])?;
//! let page = Page::new(180, 0.5)?;
//! assert_eq!(page.effective_requests(), 90);
//!
//! assert!(swift.mean() < steady.mean());
//! let experienced = |side: &Distribution| side.expected_experienced(page.effective_requests());
//! // 10 ms if all 90 miss the slow one: 10 + 490 (1 - 0.99^90) = 301.68 ms.
//! assert!((experienced(&swift) - 301.68).abs() < 0.01);
//! assert!(experienced(&steady) == 20.0);
//! # Ok::<(), statistics::Error>(())
//! ```
//!
//! - [`Distribution`]: samples of one metric of one side, single or counted in [`Bucket`]s, with
//!   mean, quantiles and shares.
//! - [`Page`]: how many requests a user waits for; [`Distribution::expected_experienced`] and
//!   [`Distribution::experienced_quantile`] return the resulting latency.
//! - [`qq`], [`effective_qq`] and [`crossovers`]: where two sides differ.
//! - [`resample`]: confidence intervals of one side and of the difference of two sides.
//! - [`tail_ranks`]: few points that draw a distribution with its whole tail.
//! - [`independence`], [`consecutive_maxima`], [`slow_clusters`], [`rank_autocorrelation`]: tests
//!   of the independence of requests; [`independent_stretch`] for resampling by stretches of time.
//! - [`page_views`]: the latency of each page of a recording; [`Failing`]: how often a side fails;
//!   [`together`]: simultaneous comparisons.
//! - [`time_shifts`] and [`heat`]: changes of the distribution over time.
//! - [`phase_stack`] and [`phase_difference`]: which phase makes the difference, at which
//!   percentile.
//! - [`over_time`]: percentiles, maximum and count by interval.
//! - [`thin_above`], [`experienced_thin_above`]: from which percentile on there are too few
//!   samples.
//!
//! Latencies are `f64` milliseconds. A share is 0..=1; a percentile in the text is a share in
//! percent.

mod autocorrelation;
mod block_length;
mod crossover;
mod distribution;
mod error;
mod expected_maximum;
mod experienced;
mod failing;
mod heat;
mod histogram;
mod holm;
mod independence;
mod inputs;
mod limits;
mod order_statistics;
mod over_time;
mod page;
mod page_views;
mod phase_stack;
mod proportion;
mod qq;
mod resample;
mod shift;
mod sort;
mod stretch;
mod sum;
#[cfg(test)]
mod synthetic;
mod tail_grid;
mod thin;
mod whole_intervals;

pub use autocorrelation::{
    ConsecutiveMaxima, SlowClusters, consecutive_maxima, rank_autocorrelation, slow_autocorrelation,
    slow_clusters,
};
pub use crossover::{Crossover, Faster, crossovers};
pub use distribution::Distribution;
pub use error::Error;
pub use failing::Failing;
pub use heat::{Heat, MOST_CLASSES, heat};
pub use histogram::Bucket;
pub use holm::{holm, together};
pub use independence::{FEWEST_PAGES, Independence, PagePoint, Versus, independence};
pub use limits::{LARGEST_MS, MOST_INTERVALS, MOST_REQUESTS, MOST_RESAMPLES, MOST_SAMPLES};
pub use over_time::{Interval, Intervals, fitting_interval_s, over_time};
pub use page::Page;
pub use page_views::{FailedRequest, PageViews, page_views};
pub use phase_stack::{
    Part, PhaseDifference, PhaseMix, phase_difference, phase_mix, phase_shares, phase_stack,
};
pub use proportion::share_interval;
pub use qq::{Point, effective_qq, qq};
pub use resample::{
    BandPoint, Certainty, ConfidenceInterval, Difference, DifferencePoint, FEWEST_MAXIMA, LIKELY, Pair,
    PlacedCrossover, Resampled, Resamples, Scheme, Settings, Timed, resample, share_faster,
};
pub use shift::{MOST_SHIFTS, SHUFFLES, SURE, Shift, time_shifts};
pub use stretch::independent_stretch;
pub use tail_grid::{SLOWEST, share_of_rank, tail_ranks};
pub use thin::{experienced_thin_above, thin_above};
