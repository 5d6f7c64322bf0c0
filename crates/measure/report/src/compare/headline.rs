//! The result in sentences. Failures precede speed.

use statistics::Page;

use super::failures::SideFailures;
use crate::{
    model::{Basis, Certainty, FailureVerdict, Verdict},
    text::{certainty, count, digits, latency, milliseconds, percent, plural, relative},
};

pub(super) struct Answer<'a> {
    pub median: &'a Verdict,
    pub experienced: &'a Verdict,
    /// The model's verdict, if page views of the recordings decide.
    pub model: Option<&'a Verdict>,
    pub failures: Option<&'a FailureVerdict>,
    pub failing: &'a [SideFailures],
    pub labels: &'a [String],
    pub page: Page,
    /// The fewest and the most requests of a recorded page, if recorded pages decide.
    pub requests: Option<[u32; 2]>,
    /// The number of common samples, if two sides are identical.
    pub identical: Option<u64>,
}

pub(super) struct Phrases {
    pub headline: String,
    pub certainty: Option<String>,
}

impl Answer<'_> {
    pub(super) fn phrases(&self) -> Phrases {
        if let Some(samples) = self.identical {
            let both = format!("{} and {}", self.labels[0], self.labels[1]);
            let headline =
                format!("{both} hold the same {}: there is nothing to compare.", plural(samples, "sample"));
            return Phrases { headline, certainty: None };
        }
        let more: Vec<String> = [
            self.certainly(),
            self.disagreement().is_none().then(|| self.of_model()).flatten(),
            self.failures.map(|failures| failures.sentence.clone()),
        ]
        .into_iter()
        .flatten()
        .collect();
        Phrases { headline: self.headline(), certainty: (!more.is_empty()).then(|| more.join(" ")) }
    }

    fn headline(&self) -> String {
        let speed = self.disagreement().unwrap_or_else(|| self.speed());
        match self.fails_first() {
            Some(failing) => {
                let came = if self.is_page() { "complete page views" } else { "successful requests" };
                format!("{failing} Of the {came}: {speed}.")
            }
            None => capitalised(&speed) + ".",
        }
    }

    /// `Some` if the lead in speed must not hide the failures.
    fn fails_first(&self) -> Option<String> {
        let failures = self.failures?;
        let (more, than) = (failures.more.as_ref()?, failures.than.as_ref()?);
        let is_slower_surely = matches!(self.experienced.certainty, Some(Certainty::Sure) | None)
            && self.experienced.better.as_ref().is_some_and(|better| better != more);
        if is_slower_surely {
            return None;
        }
        let share = |label: &String| {
            let place = self.labels.iter().position(|one| one == label)?;
            let shares = self.failing[place].shares(self.page, None, failures.of == "page views");
            let share = if self.is_page() { shares.page_share } else { shares.request_share };
            Some(percent(share * 100.0))
        };
        let views = match (self.is_page(), failures.of.as_str()) {
            (true, "page views") => "page views",
            (true, _) => "page views, by the model",
            (false, _) => "requests",
        };
        Some(format!("{more} fails for {} % of {views}, {than} for {} %.", share(more)?, share(than)?))
    }

    /// `Some` if page views and the model name different winners, and both are certain.
    fn disagreement(&self) -> Option<String> {
        let model = self.model?;
        let (real, said) = (self.experienced.better.as_ref()?, model.better.as_ref()?);
        let is_said = |verdict: &Verdict| verdict.certainty != Some(Certainty::Undecided);
        (real != said && is_said(self.experienced) && is_said(model)).then(|| {
            format!(
                "real page views and the model disagree: {} {}, although the model of {} favours {said}, by {}",
                self.lead(self.experienced),
                self.place(),
                independent(self.page),
                lead(model)
            )
        })
    }

    fn speed(&self) -> String {
        let (median, people, place) = (self.median, self.experienced, self.place());
        let at = "at the median request";
        let level = self.level(if people.better.is_none() { people } else { median });
        let is_undecided = |verdict: &Verdict| verdict.certainty == Some(Certainty::Undecided);
        match (&median.better, &people.better) {
            (Some(_), Some(_)) if is_undecided(median) && is_undecided(people) => {
                format!("undecided: the samples do not show which side is faster, neither {at} nor {place}")
            }
            (None, Some(_)) if is_undecided(people) => format!("undecided {place}; {at} {level}"),
            (Some(_), Some(_)) if is_undecided(people) => {
                format!("undecided {place}; {at} {}", self.lead(median))
            }
            (Some(_), Some(_)) if is_undecided(median) => {
                format!("{} {place}; {at} it is undecided", self.lead(people))
            }
            (Some(_), None) if is_undecided(median) => format!("{level} {place}; {at} it is undecided"),
            (Some(request), Some(person))
                if request == person
                    && median.certainty == people.certainty
                    && people.certainty != Some(Certainty::Borderline) =>
            {
                format!("{} {at} and {} faster{} {place}", self.lead(median), lead(people), self.than())
            }
            (Some(request), Some(person)) => {
                let turn = if request == person { " and" } else { ", but" };
                format!("{} {at}{turn} {} {place}", self.lead(median), self.lead(people))
            }
            (Some(_), None) => format!("{} {at}, but {level} {place}", self.lead(median)),
            (None, Some(_)) => format!("{level} {at}, but {} {place}", self.lead(people)),
            (None, None) => format!("{level} {at} and {place}"),
        }
    }

    fn level(&self, verdict: &Verdict) -> &'static str {
        match (verdict.within_own_error, self.labels.len()) {
            (true, _) => "there is no difference beyond the emulator's own error",
            (false, 2) => "both are level",
            (false, _) => "the best are level",
        }
    }

    fn lead(&self, verdict: &Verdict) -> String {
        let better = verdict.better.as_deref().unwrap_or_default();
        let (before, after) = match verdict.certainty {
            Some(Certainty::Borderline) => ("", " (borderline)"),
            Some(Certainty::Likely) => (" likely", ""),
            Some(Certainty::Sure | Certainty::Undecided) | None => ("", ""),
        };
        format!("{better} is{before} {} faster{}{after}", lead(verdict), self.than())
    }

    fn than(&self) -> &'static str {
        if self.labels.len() > 2 { " than the next" } else { "" }
    }

    fn is_page(&self) -> bool {
        self.requests.is_some() || self.page.effective_requests() > 1
    }

    fn place(&self) -> String {
        if let Some(requests) = self.requests {
            return real_pages(requests, self.page);
        }
        match (self.page.requests(), self.page.effective_requests()) {
            (1, _) => "on average".to_owned(),
            (all, 1) => format!("for the expected page of {all} requests (1 required)"),
            (all, required) if all == required => format!("for the expected page of {all} requests"),
            (all, required) => format!("for the expected page of {all} requests ({required} required)"),
        }
    }

    fn certainly(&self) -> Option<String> {
        let verdict = self.experienced;
        let (better, sure, word) = (verdict.better.as_ref()?, verdict.sure?, verdict.certainty?);
        let (views, expected) = match (verdict.basis, self.is_page()) {
            (Some(Basis::ObservedPages), _) => ("real page views", "real page views are on average"),
            (_, true) => ("page views", "expected page is"),
            (_, false) => ("requests", "expected request is"),
        };
        let is_undecided = word == Certainty::Undecided;
        let wins = match verdict.share_better_ci {
            // A few large leads can decide the mean.
            Some([low, high]) if high < 0.5 => {
                format!("{better} is faster for only {} of {views}, but its {expected}", percents(low, high))
            }
            Some([low, high]) if high - low < SAYS_NOTHING && !is_undecided => {
                format!("{better} is faster for {} of {views}; its {expected}", percents(low, high))
            }
            _ => format!("{better}'s {expected}"),
        };
        let wins = if is_undecided { format!("In these samples {wins}") } else { wins };
        let [low, high] = verdict.ci_ms?;
        let interval = match (low, high) {
            (Some(low), Some(high)) => format!("interval {} to {} ms", latency(low), latency(high)),
            (Some(low), None) => format!("at least {} ms", latency(low)),
            (None, Some(high)) => format!("at most {} ms", latency(high)),
            (None, None) => "the samples cannot bound that".to_owned(),
        };
        let needed = verdict.samples_needed.map_or_else(String::new, needed);
        Some(format!("{wins} {} faster ({interval}): {}{needed}.", lead(verdict), certainty(word, sure)))
    }

    fn of_model(&self) -> Option<String> {
        let verdict = self.model?;
        let said = match (&verdict.better, verdict.certainty, verdict.sure) {
            (None, ..) => self.level(verdict).to_owned(),
            (Some(better), None, _) | (Some(better), _, None) => {
                format!("{better} is {} faster", lead(verdict))
            }
            (Some(better), Some(word), Some(sure)) => {
                format!("{better} is {} faster: {}", lead(verdict), certainty(word, sure))
            }
        };
        Some(format!("By the model of {} {said}.", independent(self.page)))
    }
}

fn lead(verdict: &Verdict) -> String {
    let lead = milliseconds(verdict.difference_ms);
    verdict.relative.map_or_else(|| lead.clone(), |share| format!("{lead} ({})", relative(share)))
}

fn needed(times: f64) -> String {
    let times = digits(times);
    format!("; about {times} times as many samples would decide it, if the difference stays the same")
}

fn real_pages([least, most]: [u32; 2], page: Page) -> String {
    let requests = if least == most {
        plural(most.into(), "request")
    } else {
        format!("{} to {} requests", count(least.into()), count(most.into()))
    };
    if page.required() >= 1.0 {
        return format!("for real page views ({requests})");
    }
    match Page::new(most, page.required()) {
        Ok(page) if least == most => {
            format!("for real page views ({requests}, {} required)", page.effective_requests())
        }
        _ => format!("for real page views ({requests}, {} % required)", percent(page.required() * 100.0)),
    }
}

fn independent(page: Page) -> String {
    plural(page.effective_requests().into(), "independent request")
}

fn capitalised(text: &str) -> String {
    for (small, large) in [
        ("undecided", "Undecided"),
        ("both are level", "Both are level"),
        ("there is no", "There is no"),
        ("the best are", "The best are"),
        ("real page views and", "Real page views and"),
    ] {
        if let Some(rest) = text.strip_prefix(small) {
            return format!("{large}{rest}");
        }
    }
    text.to_owned()
}

fn percents(low: f64, high: f64) -> String {
    let decimals = if high - low < 0.02 { 1 } else { 0 };
    let text = |share: f64| format!("{:.decimals$}", share * 100.0);
    if text(low) == text(high) {
        format!("{} %", text(low))
    } else {
        format!("{}-{} %", text(low), text(high))
    }
}

/// A wider interval of a share decides nothing.
const SAYS_NOTHING: f64 = 0.95;
