//! Which side wins, by how much and how surely.

use std::collections::BTreeMap;

use claim::{Measure, Statistic};
use statistics::{Certainty, Difference, Page, Resamples, Settings, share_faster, together};

use super::{
    SideInput,
    certainty::claim,
    failures::{self, SideFailures},
    headline::{Answer, Phrases},
    inference,
    observed::Observed,
};
use crate::model::{Basis, Pair, SpeedVerdicts, Verdict, Verdicts};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    MedianRequest,
    Request,
    /// What people wait, by the model of independent requests.
    Model,
    /// What people waited, by the page views of the recordings.
    Observed,
}

impl By {
    fn measure(self) -> Measure {
        match self {
            Self::MedianRequest => Measure::of_samples(Statistic::Percentile(50.0)),
            Self::Request => Measure::of_samples(Statistic::Mean),
            Self::Model | Self::Observed => Measure::of_people(Statistic::Mean),
        }
    }
}

pub(crate) struct Judge<'j> {
    pub sides: &'j [SideInput],
    pub labels: &'j [String],
    pub page: Page,
    pub resamples: Option<&'j Resamples<'j>>,
    /// `None` unless all sides have page views.
    pub observed: Option<&'j Observed<'j>>,
    /// Without intervals, the level of exact tests.
    pub settings: Settings,
}

/// Needs at least two sides. `identical` are the indices of sides with the same samples.
pub(super) fn verdicts(
    judge: &Judge<'_>,
    failing: &[SideFailures],
    identical: &[[usize; 2]],
) -> Option<Verdicts> {
    let sides = judge.sides.len();
    if sides < 2 {
        return None;
    }
    let all: Vec<usize> = (0..sides).collect();
    let [of_median, of_people] = judge.headline_claims(&all);
    let median_request = judge.best(&all, By::MedianRequest, &of_median);
    let of_request = match judge.of_people() {
        By::Model if judge.page.effective_requests() == 1 => of_people.clone(),
        _ => judge.claims(&all, By::Request),
    };
    let request = judge.best(&all, By::Request, &of_request);
    let experienced = judge.best(&all, judge.of_people(), &of_people);
    let model = judge.observed.filter(|_| judge.page.requests() > 1).map(|_| {
        let claims = judge.claims(&all, By::Model);
        judge.best(&all, By::Model, &claims)
    });
    let leader =
        experienced.better.as_ref().and_then(|better| judge.labels.iter().position(|one| one == better));
    let failures = failures::verdict(failing, judge.labels, judge.page, leader, judge.settings.level);
    let answer = Answer {
        median: &median_request,
        experienced: &experienced,
        model: model.as_ref(),
        failures: failures.as_ref(),
        failing,
        labels: judge.labels,
        page: judge.page,
        requests: judge.observed.map(Observed::requests),
        identical: identical.first().filter(|_| sides == 2).map(|_| judge.sides[0].distribution.n() as u64),
    };
    let Phrases { headline, certainty } = answer.phrases();
    let sentence = certainty.as_ref().map_or_else(|| headline.clone(), |more| format!("{headline} {more}"));
    let speed = Some(SpeedVerdicts { median_request, request, experienced, model });
    Some(Verdicts { speed, failures, headline, certainty, sentence })
}

pub(super) fn pairs(judge: &Judge<'_>) -> Vec<Pair> {
    if judge.sides.len() < 3 {
        return Vec::new();
    }
    let all: Vec<usize> = (0..judge.sides.len()).collect();
    let [_, of_people] = judge.headline_claims(&all);
    let claimed = [(By::Request, judge.claims(&all, By::Request)), (judge.of_people(), of_people)];
    let every = (0..all.len()).flat_map(|first| (first + 1..all.len()).map(move |second| [first, second]));
    let verdict = |pair: [usize; 2], (by, claims): &(By, Claims)| {
        let mut verdict = judge.between(pair, *by);
        if let Some(found) = claims.get(&pair).filter(|_| verdict.better.is_some()) {
            claim(&mut verdict, found);
        }
        verdict
    };
    every
        .map(|pair| Pair {
            first: judge.labels[pair[0]].clone(),
            second: judge.labels[pair[1]].clone(),
            request: verdict(pair, &claimed[0]),
            experienced: verdict(pair, &claimed[1]),
        })
        .collect()
}

/// Indices ascend; certainty is corrected for all pairs.
type Claims = BTreeMap<[usize; 2], Difference>;

impl Judge<'_> {
    fn of_people(&self) -> By {
        if self.observed.is_some() { By::Observed } else { By::Model }
    }

    pub(super) fn first_two(&self) -> (Verdict, Option<Difference>) {
        let by = self.of_people();
        let verdict = self.between([0, 1], by);
        let difference = verdict.better.as_ref().and_then(|_| self.difference(0, 1, by));
        (verdict, difference)
    }

    /// Page views of the recordings take precedence for numbers about people.
    pub(crate) fn value(&self, measure: Measure, side: usize) -> Option<f64> {
        match self.observed.filter(|_| measure.is_of_people()) {
            Some(observed) => observed.value(side, measure),
            None => measure.value(&self.sides[side].distribution, self.page),
        }
    }

    /// Limit 0 uses the verdict's certainty; otherwise the whole interval must lie above the limit.
    /// Returns also the lower end of the interval, and a word if the decision is borderline.
    pub(crate) fn surely_above(
        &self,
        measure: Measure,
        side: usize,
        limit_ms: f64,
    ) -> Option<(bool, Option<f64>, &'static str)> {
        // Without the emulator's own error it may be less.
        let own = self.own_error(side, measure);
        let low = self.measured(measure, side)?.interval.low.map(|low| low - own);
        let is_beyond = low.is_some_and(|low| low > limit_ms);
        if limit_ms > 0.0 {
            return Some((is_beyond, low, ""));
        }
        let others: Vec<(usize, Difference)> =
            (1..self.sides.len()).filter_map(|side| Some((side, self.measured(measure, side)?))).collect();
        let differences: Vec<Difference> = others.iter().map(|(_, difference)| *difference).collect();
        let claims = together(&differences, &self.settings);
        let at = others.iter().position(|(place, _)| *place == side)?;
        let (is_above, word) = (claims[at].difference_ms > 0.0, claims[at].certainty);
        let said = if is_above && word == Certainty::Borderline { ", borderline" } else { "" };
        Some((is_above && word == Certainty::Sure && (own == 0.0 || is_beyond), low, said))
    }

    fn measured(&self, measure: Measure, side: usize) -> Option<Difference> {
        match self.observed.filter(|_| measure.is_of_people()) {
            Some(observed) => observed.difference(0, side, measure),
            None => measure.difference(&self.resamples?.pair(0, side)?),
        }
    }

    /// By the model of independent requests if the measure is about people.
    fn own_error(&self, side: usize, measure: Measure) -> f64 {
        let SideInput { distribution, without_error, .. } = &self.sides[side];
        let value = |samples| measure.value(samples, self.page);
        let without = without_error.as_deref().and_then(value);
        value(distribution).zip(without).map_or(0.0, |(with, without)| (with - without).max(0.0))
    }

    /// Needs at least two contenders.
    fn best(&self, contenders: &[usize], by: By, claims: &Claims) -> Verdict {
        let mut ranked = contenders.to_vec();
        ranked.sort_by(|&a, &b| self.number(a, by).total_cmp(&self.number(b, by)));
        let mut verdict = self.between([ranked[0], ranked[1]], by);
        if verdict.better.is_some() {
            let of_best = claims.iter().filter(|(pair, _)| pair.contains(&ranked[0])).map(|(_, claim)| claim);
            let least = of_best.min_by(|a, b| a.sure.total_cmp(&b.sure));
            least.into_iter().for_each(|least| claim(&mut verdict, least));
        }
        verdict
    }

    fn between(&self, [first, second]: [usize; 2], by: By) -> Verdict {
        let (one, other) = (self.number(first, by), self.number(second, by));
        let (best, other, least, next) =
            if one <= other { (first, second, one, other) } else { (second, first, other, one) };
        let difference = self.difference(best, other, by);
        let mut verdict = Verdict {
            better: None,
            difference_ms: 0.0,
            within_own_error: false,
            relative: None,
            ci_ms: difference.map(|difference| inference::ci(difference.interval)),
            share_better: None,
            share_better_ci: None,
            sure: None,
            certainty: None,
            samples_needed: None,
            basis: match by {
                By::Observed => Some(Basis::ObservedPages),
                By::Model => Some(Basis::Model),
                By::MedianRequest | By::Request => None,
            },
        };
        if next - least <= LEVEL * next {
            return verdict;
        }
        verdict.difference_ms = next - least;
        verdict.relative = Some((next - least) / next);
        if next - self.own_error(other, by.measure()) < least {
            verdict.within_own_error = true;
            return verdict;
        }
        let (share, share_ci) = self.share_faster(best, other, by);
        verdict.better = Some(self.labels[best].clone());
        (verdict.share_better, verdict.share_better_ci) = (Some(share), share_ci);
        if let Some(difference) = difference {
            claim(&mut verdict, &difference);
        }
        verdict
    }

    /// Corrected for each other: 5 % is the chance that any of them is falsely sure.
    fn headline_claims(&self, contenders: &[usize]) -> [Claims; 2] {
        let claims = self.together(contenders, &[By::MedianRequest, self.of_people()]);
        let mut claims = claims.into_iter();
        [(); 2].map(|()| claims.next().unwrap_or_default())
    }

    /// Corrected for all pairs.
    fn claims(&self, contenders: &[usize], by: By) -> Claims {
        self.together(contenders, &[by]).pop().unwrap_or_default()
    }

    /// Corrected for all pairs of all numbers.
    fn together(&self, contenders: &[usize], numbers: &[By]) -> Vec<Claims> {
        let every: Vec<[usize; 2]> = contenders
            .iter()
            .flat_map(|&first| contenders.iter().map(move |&second| [first, second]))
            .filter(|[first, second]| first < second)
            .collect();
        let (places, differences): (Vec<_>, Vec<_>) = numbers
            .iter()
            .enumerate()
            .flat_map(|(number, &by)| every.iter().map(move |&pair| (number, by, pair)))
            .filter_map(|(number, by, pair)| Some(((number, pair), self.difference(pair[0], pair[1], by)?)))
            .filter(|(_, difference)| difference.difference_ms != 0.0)
            .unzip();
        let mut claims = vec![Claims::new(); numbers.len()];
        for ((number, pair), claim) in places.into_iter().zip(together(&differences, &self.settings)) {
            claims[number].insert(pair, claim);
        }
        claims
    }

    fn difference(&self, first: usize, second: usize, by: By) -> Option<Difference> {
        if by == By::Observed {
            return self.observed?.mean_difference(first, second);
        }
        let pair = self.resamples?.pair(first, second)?;
        Some(match by {
            By::MedianRequest => pair.quantile(0.5),
            By::Request => pair.mean(),
            By::Model | By::Observed => pair.expected_experienced(),
        })
    }

    fn number(&self, side: usize, by: By) -> f64 {
        let samples = &self.sides[side].distribution;
        match (by, self.observed) {
            (By::MedianRequest, _) => samples.quantile(0.5),
            (By::Request, _) => samples.mean(),
            (By::Observed, Some(observed)) => observed.mean(side),
            (By::Model | By::Observed, _) => samples.expected_experienced(self.page.effective_requests()),
        }
    }

    fn share_faster(&self, first: usize, second: usize, by: By) -> (f64, Option<[f64; 2]>) {
        let requests = match (by, self.observed) {
            (By::Observed, Some(observed)) => return observed.share_faster(first, second),
            (By::MedianRequest | By::Request, _) => 1,
            (By::Model | By::Observed, _) => self.page.effective_requests(),
        };
        match self.resamples.and_then(|resamples| resamples.pair(first, second)) {
            Some(pair) => {
                let (share, interval) = pair.share_faster(requests);
                (share, inference::share_ci(interval))
            }
            None => {
                let side = |side: usize| &self.sides[side].distribution;
                (share_faster(side(first), side(second), requests), None)
            }
        }
    }
}

/// Relative leads up to this are ties: a nanosecond in a millisecond is finer than the clocks.
const LEVEL: f64 = 1e-6;
