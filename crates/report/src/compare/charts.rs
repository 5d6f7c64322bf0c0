//! What the charts draw, computed here so that the page only draws.

use experience::{Distribution, Interval, fitting_interval_s, over_time, share_of_rank, tail_ranks};

use super::{PERCENTILES, SideInput, distinct_labels};
use crate::model::{Experienced, OverTime, Quantiles, SideCharts};

/// The chart data of each side, in their order. `most_requests` is the largest number of effective requests that the
/// page can be set to: [`CHART_REQUESTS`], or the page's own if that is more.
///
/// All sides share one interval of time, so that their lines can be laid over each other.
///
/// # Errors
/// [`Timed`](super::Timed) columns of unequal length, or a time that is NaN, infinite or negative.
pub fn charts(sides: &[SideInput], most_requests: u32) -> Result<Vec<SideCharts>, experience::Error> {
    let interval_s = shared_interval_s(sides);
    let chart = |(side, label): (&SideInput, String)| {
        Ok(SideCharts {
            label,
            quantiles: quantiles(&side.distribution),
            experienced: experienced(&side.distribution, most_requests),
            over_time: side_over_time(side, interval_s)?,
        })
    };
    sides.iter().zip(distinct_labels(sides)).map(chart).collect()
}

fn quantiles(side: &Distribution) -> Quantiles {
    let n = side.n();
    // A quantile function runs from 0 to 1, even that of a single sample.
    let ranks = if n == 1 { vec![0, 0] } else { tail_ranks(n) };
    let last = ranks.len() - 1;
    let share = |(index, &rank): (usize, &usize)| if index == last { 1.0 } else { share_of_rank(rank, n) };
    Quantiles {
        share: ranks.iter().enumerate().map(share).collect(),
        latency_ms: ranks.iter().map(|&rank| side.at_rank(rank)).collect(),
    }
}

fn experienced(side: &Distribution, most_requests: u32) -> Vec<Experienced> {
    let percentiles =
        |requests| PERCENTILES.map(|(_, visitors)| side.experienced_quantile(requests, visitors));
    let expected = side.expected_experienced_up_to(most_requests);
    let entry = |(requests, expected_ms)| Experienced { expected_ms, percentiles_ms: percentiles(requests) };
    (1..).zip(expected).map(entry).collect()
}

/// Fits the longest side, and the one with the most samples: a side of few must not blur one of many.
fn shared_interval_s(sides: &[SideInput]) -> f64 {
    let timed = || sides.iter().filter_map(|side| side.timed.as_ref());
    let samples = timed().map(|timed| timed.started_s.len()).max().unwrap_or(0);
    let span_s = timed().flat_map(|timed| &timed.started_s).copied().fold(0.0, f64::max);
    fitting_interval_s(samples, span_s)
}

fn side_over_time(side: &SideInput, interval_s: f64) -> Result<Option<OverTime>, experience::Error> {
    let Some(timed) = &side.timed else { return Ok(None) };
    let intervals = over_time(&timed.started_s, &timed.values_ms, interval_s)?;
    let column = |value: fn(&Interval) -> f64| intervals.iter().map(value).collect();
    Ok(Some(OverTime {
        interval_s,
        start_s: column(|interval| interval.start_s),
        count: intervals.iter().map(|interval| interval.count as u64).collect(),
        p50_ms: column(|interval| interval.p50_ms),
        p90_ms: column(|interval| interval.p90_ms),
        p99_ms: column(|interval| interval.p99_ms),
        max_ms: column(|interval| interval.max_ms),
    }))
}

/// How far the page's control of effective requests goes by default: the heaviest shops make 400 requests a page.
pub const CHART_REQUESTS: u32 = 400;
