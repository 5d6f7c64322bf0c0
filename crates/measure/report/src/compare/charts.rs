//! Chart data, computed here so that the page only draws.

use statistics::{
    Distribution, Error, Interval, Resampled, fitting_interval_s, heat, over_time, share_of_rank, tail_ranks,
};

use super::{Analysis, PERCENTILES, SideInput, inference, phases};
use crate::model::{Band, DifferenceCurve, Experienced, Heat, OverTime, Quantiles, SideCharts};

impl Analysis<'_> {
    /// The chart data of each side, in order. All sides have the same interval of time.
    ///
    /// # Errors
    ///
    /// A time that is NaN, infinite or negative.
    pub fn charts(&self) -> Result<Vec<SideCharts>, Error> {
        let most_requests = CHART_REQUESTS.max(self.comparison.page.effective_requests);
        let interval_s = shared_interval_s(self.sides);
        let chart = |(number, side): (usize, &SideInput)| {
            Ok(SideCharts {
                label: self.labels[number].clone(),
                quantiles: quantiles(&side.distribution),
                experienced: experienced(&side.distribution, most_requests),
                band: self.resamples.as_ref().map(|all| band(&all.sides()[number])),
                page_views: self.page_views[number].as_ref().map(|(views, _)| views.clone()),
                page_views_band: self.page_views[number].as_ref().and_then(|(_, band)| band.clone()),
                over_time: side_over_time(side, interval_s)?,
                heat: side_heat(side)?,
                phases: phases::stack(self.metric, side)?,
            })
        };
        self.sides.iter().enumerate().map(chart).collect()
    }

    /// The difference of each other side from the first, if there are intervals.
    pub fn differences(&self) -> Vec<DifferenceCurve> {
        let Some(resamples) = &self.resamples else { return Vec::new() };
        let curve = |second: usize| {
            let points = resamples.pair(0, second)?.difference_band();
            Some(DifferenceCurve {
                first: self.labels[0].clone(),
                second: self.labels[second].clone(),
                share: points.iter().map(|point| point.share).collect(),
                difference_ms: points.iter().map(|point| point.difference.difference_ms).collect(),
                ci_ms: points.iter().map(|point| inference::ci(point.difference.interval)).collect(),
            })
        };
        (1..self.sides.len()).filter_map(curve).collect()
    }
}

pub(super) fn band(side: &Resampled<'_>) -> Band {
    let points = side.band();
    Band {
        share: points.iter().map(|point| point.share).collect(),
        ci_ms: points.iter().map(|point| [Some(point.low_ms), point.high_ms]).collect(),
    }
}

fn side_heat(side: &SideInput) -> Result<Option<Heat>, Error> {
    let Some((started_s, values_ms)) = side.in_time() else { return Ok(None) };
    let found = heat(started_s, values_ms)?;
    Ok(Some(Heat {
        interval_s: found.interval_s,
        start_s: found.start_s,
        intervals: u32::try_from(found.intervals()).unwrap_or(u32::MAX),
        edges_ms: found.edges_ms,
        counts: found.counts,
        left_out: found.left_out as u64,
    }))
}

pub(super) fn quantiles(side: &Distribution) -> Quantiles {
    let n = side.n();
    // A quantile function runs from 0 to 1, even for a single sample.
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

/// Fits the longest side and the side with the most samples, so that a small side does not coarsen
/// others.
fn shared_interval_s(sides: &[SideInput]) -> f64 {
    let times = || sides.iter().filter_map(SideInput::in_time).map(|(times, _)| times);
    let samples = times().map(<[f64]>::len).max().unwrap_or(0);
    let span = |times: &[f64]| Some(times.last()? - times.first()?);
    fitting_interval_s(samples, times().filter_map(span).fold(0.0, f64::max))
}

fn side_over_time(side: &SideInput, interval_s: f64) -> Result<Option<OverTime>, Error> {
    let Some((started_s, values_ms)) = side.in_time() else { return Ok(None) };
    let found = over_time(started_s, values_ms, interval_s)?;
    let intervals = &found.whole;
    let column = |value: fn(&Interval) -> f64| intervals.iter().map(value).collect();
    Ok(Some(OverTime {
        interval_s,
        start_s: column(|interval| interval.start_s),
        count: intervals.iter().map(|interval| interval.count as u64).collect(),
        p50_ms: column(|interval| interval.p50_ms),
        p90_ms: column(|interval| interval.p90_ms),
        p99_ms: column(|interval| interval.p99_ms),
        max_ms: column(|interval| interval.max_ms),
        left_out: found.left_out as u64,
    }))
}

/// The heaviest shops make 400 requests a page.
const CHART_REQUESTS: u32 = 400;
