//! Which side fails more, by requests or page views.

use statistics::{Failing, Page};

use super::{SideInput, observed::ObservedSide};
use crate::{
    model::{Basis, FailureVerdict, Failures},
    text::{list, percent},
};

pub(crate) struct SideFailures {
    requests: Failing,
    pages: Option<Failing>,
}

impl SideFailures {
    pub(super) fn new(side: &SideInput, observed: Option<&ObservedSide>) -> Self {
        let pages = observed.map(|observed| {
            let failed = &observed.views.failed;
            if observed.is_timed {
                return Failing::in_time(failed);
            }
            let count = failed.iter().filter(|failed| **failed).count();
            Failing::independent(count as u64, failed.len() as u64)
        });
        Self { requests: requests(side), pages }
    }

    pub(super) fn of_requests_alone(requests: Failing) -> Self {
        Self { requests, pages: None }
    }

    pub(crate) fn of_requests(&self) -> (u64, u64, f64) {
        (self.requests.failed, self.requests.all, self.requests.share())
    }

    pub(crate) fn of_pages(&self) -> Option<(u64, u64, f64)> {
        self.pages.map(|pages| (pages.failed, pages.all, pages.share()))
    }

    /// The probability of this difference if both failed equally often.
    pub(crate) fn chance_of_more(&self, other: &Self, by_pages: bool) -> f64 {
        match (self.pages, other.pages) {
            (Some(mine), Some(theirs)) if by_pages => mine.chance_of_more(&theirs),
            _ => self.requests.chance_of_more(&other.requests),
        }
    }

    pub(crate) fn described(&self, page: Page, level: Option<f64>) -> Failures {
        self.shares(page, level, true)
    }

    /// Page views of the recording are used only if `by_pages`.
    pub(super) fn shares(&self, page: Page, level: Option<f64>, by_pages: bool) -> Failures {
        let needed = f64::from(page.effective_requests());
        // None of the requests that a page requires may fail.
        let of_page = |share: f64| -(needed * (-share).ln_1p()).exp_m1();
        let request_share_ci = level.map(|level| self.requests.interval(level));
        let (page_share, page_share_ci, basis) = match self.pages.filter(|_| by_pages) {
            Some(pages) => (pages.share(), level.map(|level| pages.interval(level)), Basis::ObservedPages),
            None => {
                (of_page(self.requests.share()), request_share_ci.map(|ends| ends.map(of_page)), Basis::Model)
            }
        };
        Failures {
            request_share: self.requests.share(),
            request_share_ci,
            page_share,
            page_share_ci,
            basis: Some(basis),
        }
    }
}

fn requests(side: &SideInput) -> Failing {
    let all = side.distribution.n() as u64 + side.failed;
    let failed_s: Option<Vec<f64>> = side.failures.iter().map(|failure| failure.started_s).collect();
    let times = side.in_time().map(|(times, _)| times);
    match (times, failed_s) {
        (Some(times), Some(failed_s)) if side.failed > 0 && failed_s.len() as u64 == side.failed => {
            let came = times.iter().map(|&time| (time, false));
            let mut events: Vec<(f64, bool)> =
                came.chain(failed_s.into_iter().map(|time| (time, true))).collect();
            events.sort_by(|a, b| a.0.total_cmp(&b.0));
            Failing::in_time(&events.into_iter().map(|(_, failed)| failed).collect::<Vec<_>>())
        }
        _ => Failing::independent(side.failed, all),
    }
}

/// The leader is compared with the side that fails least, because it would get the traffic. Each
/// side that might have been chosen counts as a comparison (Bonferroni).
pub(super) fn verdict(
    failures: &[SideFailures],
    labels: &[String],
    page: Page,
    leader: Option<usize>,
    level: f64,
) -> Option<FailureVerdict> {
    if failures.iter().all(|side| side.requests.failed == 0) {
        return None;
    }
    let by_pages = failures.iter().all(|side| side.pages.is_some());
    let of = |side: usize| match &failures[side].pages {
        Some(pages) if by_pages => *pages,
        _ => failures[side].requests,
    };
    let places = || 0..failures.len();
    let by_share = |a: &usize, b: &usize| of(*a).share().total_cmp(&of(*b).share());
    let least = places().min_by(by_share)?;
    let most = places().max_by(by_share)?;
    let (worse, comparisons) = match (failures.len(), leader) {
        (0..=2, _) => (most, 1),
        (sides, Some(leader)) => (leader, sides - 1),
        (sides, None) => (most, sides * (sides - 1) / 2),
    };
    let chance = (of(worse).chance_of_more(&of(least)) * comparisons as f64).min(1.0);
    let is_more = worse != least && chance <= (1.0 - level) / 2.0;
    let sentence = sentence(failures, labels, page, by_pages, level);
    Some(FailureVerdict {
        of: if by_pages { "page views" } else { "requests" }.to_owned(),
        more: is_more.then(|| labels[worse].clone()),
        than: is_more.then(|| labels[least].clone()),
        sure: (1.0 - chance).max(0.5),
        sentence,
    })
}

fn sentence(failures: &[SideFailures], labels: &[String], page: Page, by_pages: bool, level: f64) -> String {
    let of_requests = !by_pages && page.effective_requests() == 1;
    let one = |(side, label): (&SideFailures, &String)| {
        let shares = side.shares(page, Some(level), by_pages);
        let (share, ci) = if of_requests {
            (shares.request_share, shares.request_share_ci)
        } else {
            (shares.page_share, shares.page_share_ci)
        };
        let ends = ci.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {} %)", percent((1.0 - high) * 100.0), percent((1.0 - low) * 100.0))
        });
        format!("{} %{ends} of {label}'s", percent((1.0 - share) * 100.0))
    };
    let what = match (by_pages, of_requests) {
        (true, _) => "Complete page views",
        (false, true) => "Successful requests",
        (false, false) => "Complete page views, by the model",
    };
    let shown: Vec<String> = failures.iter().zip(labels).take(MOST_SIDES).map(one).collect();
    let more = if failures.len() > MOST_SIDES { ", and so on" } else { "" };
    format!("{what}: {}{more}.", list(&shown))
}

/// More sides make the sentence unreadable.
const MOST_SIDES: usize = 8;
