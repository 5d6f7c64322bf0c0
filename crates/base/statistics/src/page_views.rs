//! The latency of each page of a recording: samples of the experience of users, without any model.
//!
//! A page of m requests needs k = max(1, round(m r)) of them, but the recording does not contain
//! which. So the page has every choice of k: it is complete with the probability C(m - f, k)/C(m,
//! k) that its f failed requests are not among them. The result contains:
//!
//! - its *mean latency* over all choices, which makes means as exact as the pages allow;
//! - one random *view* of it, for percentiles. Draws are stratified over all pages (McKay, Beckman
//!   and Conover 1979), so they hardly affect a percentile.
//!
//! A page of which a required request failed has no latency. It is counted.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Error, Page, distribution::as_f64, independence::subset_maximum, inputs::check_values,
    resample::draw::below, sum::sum,
};

/// The page views of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct PageViews {
    /// The mean wait of each complete view, ms, ordered by time, or else by first sample.
    pub mean_ms: Vec<f64>,
    /// The wait of each of these in the random view, ms.
    pub drawn_ms: Vec<f64>,
    /// Of all views, in that order, whether a required request failed.
    pub failed: Vec<bool>,
    /// The smallest number of requests of a page, failed ones included.
    pub smallest: u32,
    /// The lower median of the numbers of requests.
    pub median: u32,
    /// The largest number of requests of a page.
    pub largest: u32,
}

/// A request that failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedRequest {
    /// When it started, seconds since the start. Absent if unknown.
    pub started_s: Option<f64>,
    /// Its page; `u32::MAX` is not a page.
    pub page: u32,
}

impl PageViews {
    /// The number of views, complete or not; at least 2.
    pub fn views(&self) -> usize {
        self.failed.len()
    }

    /// The number of complete views.
    pub fn whole(&self) -> usize {
        self.mean_ms.len()
    }
}

struct PageSamples {
    start: f64,
    from: usize,
    to: usize,
    failed: usize,
}

/// Groups samples by page (`u32::MAX` for none). `required` is the share of its requests that a
/// page needs, above 0 and at most 1.
///
/// # Errors
/// Invalid samples or `required`, unequal lengths, or unsuitable pages ([`Error::TooFew`],
/// [`Error::Requests`]).
pub fn page_views(
    values_ms: &[f64],
    pages: &[u32],
    started_s: Option<&[f64]>,
    failed: &[FailedRequest],
    required: f64,
) -> Result<PageViews, Error> {
    let values = values_ms.len();
    let uneven = |column, found| Err(Error::Uneven { column, found, values });
    if pages.len() != values {
        return uneven("page numbers", pages.len());
    }
    if started_s.is_some_and(|times| times.len() != values) {
        return uneven("times", started_s.map_or(0, <[f64]>::len));
    }
    check_values(values_ms)?;
    Page::new(1, required)?;
    let mut samples: Vec<(u32, f64)> =
        pages.iter().copied().zip(values_ms.iter().copied()).filter(|sample| sample.0 != NONE).collect();
    samples.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut found = found(&samples, failed);
    if found.len() < 2 {
        return Err(Error::TooFew { what: "pages with samples", found: found.len(), least: 2 });
    }
    for (place, &page) in pages.iter().enumerate().filter(|(_, page)| **page != NONE) {
        let at = found.partition_point(|one| one.0 < page);
        let start = started_s.map_or(as_f64(place), |times| times[place]);
        found[at].1.start = found[at].1.start.min(start);
    }
    let mut found: Vec<PageSamples> = found.into_iter().map(|(_, page)| page).collect();
    // A stable sort: pages with the same start stay in the order of their numbers.
    found.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut sizes = Vec::with_capacity(found.len());
    let mut views = PageViews {
        mean_ms: Vec::new(),
        drawn_ms: Vec::new(),
        failed: Vec::new(),
        smallest: 0,
        median: 0,
        largest: 0,
    };
    for (page, stratum) in found.iter().zip(strata(found.len())) {
        let waits = &samples[page.from..page.to];
        let all = u32::try_from(waits.len() + page.failed).unwrap_or(u32::MAX);
        sizes.push(all);
        let needed = Page::new(all, required)?.effective_requests();
        let whole = chance_of_whole(waits.len(), page.failed, needed as usize);
        views.failed.push(stratum >= whole);
        if stratum < whole {
            let weighted = || subset_maximum(waits.len(), needed).zip(waits.iter().rev());
            views.mean_ms.push(sum(weighted().map(|(weight, sample)| weight * sample.1)));
            let mut left = 1.0 - stratum / whole;
            let drawn = weighted().find(|(weight, _)| {
                left -= weight;
                left <= 0.0
            });
            views.drawn_ms.push(drawn.map_or(waits[needed as usize - 1].1, |(_, sample)| sample.1));
        }
    }
    sizes.sort_unstable();
    (views.smallest, views.median, views.largest) =
        (sizes[0], sizes[(sizes.len() - 1) / 2], sizes[sizes.len() - 1]);
    Ok(views)
}

/// Pages without a sample start where they failed.
fn found(samples: &[(u32, f64)], failed: &[FailedRequest]) -> Vec<(u32, PageSamples)> {
    let mut failed: Vec<(u32, f64)> = failed
        .iter()
        .filter(|one| one.page != NONE)
        .map(|one| (one.page, one.started_s.unwrap_or(f64::INFINITY)))
        .collect();
    failed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut found = Vec::new();
    let (mut from, mut broken) = (0, 0);
    while from < samples.len() || broken < failed.len() {
        let page = match (samples.get(from), failed.get(broken)) {
            (Some(sample), Some(failure)) => sample.0.min(failure.0),
            (Some(sample), None) => sample.0,
            (None, Some(failure)) => failure.0,
            (None, None) => break,
        };
        let to = from + samples[from..].partition_point(|sample| sample.0 == page);
        let up_to = broken + failed[broken..].partition_point(|failure| failure.0 == page);
        let start = failed[broken..up_to].first().map_or(f64::INFINITY, |failure| failure.1);
        found.push((page, PageSamples { start, from, to, failed: up_to - broken }));
        (from, broken) = (to, up_to);
    }
    found
}

/// C(whole, needed)/C(whole + failed, needed).
fn chance_of_whole(whole: usize, failed: usize, needed: usize) -> f64 {
    if needed > whole {
        return 0.0;
    }
    // Draws the needed requests from the successful ones, or the failed ones from those not needed.
    let all = whole + failed;
    let (steps, room) = if needed < failed { (needed, whole) } else { (failed, all - needed) };
    (0..steps).map(|step| as_f64(room - step) / as_f64(all - step)).product()
}

/// The middles of equal strata of 0..1, shuffled.
fn strata(pages: usize) -> Vec<f64> {
    let mut strata: Vec<f64> = (0..pages).map(|stratum| (as_f64(stratum) + 0.5) / as_f64(pages)).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for place in (1..pages).rev() {
        strata.swap(place, below(place + 1, &mut random));
    }
    strata
}

/// Fixed, so that results are reproducible.
const SEED: u64 = 1;

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests;
