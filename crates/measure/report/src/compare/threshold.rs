//! Checks a comparison against the thresholds of `--fail-if`.

use claim::{Condition, Failed, Judgement, Surely, Threshold};

use super::{Judge, SideFailures};
use crate::text::{self, difference, difference_beside, milliseconds, percent};

pub(super) struct Evidence<'e> {
    pub judge: &'e Judge<'e>,
    pub failing: &'e [SideFailures],
}

impl Evidence<'_> {
    /// Fails if there are too few samples to judge.
    pub(super) fn judge(&self, threshold: &Threshold) -> Judgement {
        let first = usize::from(threshold.is_relative());
        let findings: Vec<(bool, String)> = (first..self.judge.sides.len())
            .map(|side| {
                let (holds, figure) = judge_side(threshold, self, side);
                (holds, format!("{}: {figure}", self.judge.labels[side]))
            })
            .collect();
        Judgement {
            claim: threshold.requirement(),
            holds: findings.iter().all(|(holds, _)| *holds),
            decided: true,
            figure: findings.into_iter().map(|(_, figure)| figure).collect::<Vec<_>>().join("; "),
        }
    }
}

fn judge_side(threshold: &Threshold, evidence: &Evidence<'_>, side: usize) -> (bool, String) {
    let judge = evidence.judge;
    match *threshold.condition() {
        Condition::Failed { of, limit } => {
            let (share, figure) = failed(evidence, side, of);
            (share <= limit, figure)
        }
        Condition::FailsMore { of } => {
            let (baseline, candidate) = (&evidence.failing[0], &evidence.failing[side]);
            let chance = candidate.chance_of_more(baseline, of == Failed::Pages);
            let chance = (chance * (judge.sides.len() - 1) as f64).min(1.0);
            let ((_, figure), (_, of_baseline)) = (failed(evidence, side, of), failed(evidence, 0, of));
            let sure = text::sure((1.0 - chance).max(0.0));
            let holds = chance > (1.0 - judge.settings.level) / 2.0;
            let word = if holds { String::new() } else { format!(": sure ({sure} %)") };
            (holds, format!("{figure} against {of_baseline}{word}"))
        }
        Condition::Above { measure, limit_ms } => match judge.value(measure, side) {
            Some(ms) => (ms <= limit_ms, milliseconds(ms)),
            None => (false, "too few samples to say".to_owned()),
        },
        Condition::Worse { measure, by, surely } => {
            let (Some(baseline), Some(ms)) = (judge.value(measure, 0), judge.value(measure, side)) else {
                return (false, "too few samples to say".to_owned());
            };
            let limit = by.milliseconds(baseline);
            let mut figure = format!("{} against {}", milliseconds(ms), milliseconds(baseline));
            if baseline > 0.0 {
                let percent = difference_beside((ms / baseline - 1.0) * 100.0, 10.0);
                figure += &format!(" ({percent} %)");
            }
            let fails_more = fails_more(evidence, side);
            if surely == Surely::No {
                return (ms - baseline <= limit, figure + &fails_more);
            }
            match judge.surely_above(measure, side, limit) {
                Some((is_above, low, word)) => {
                    let interval = low.map_or_else(
                        || "the interval has no lower end".to_owned(),
                        |low| format!("the interval begins at {} ms", difference(low)),
                    );
                    (!is_above, format!("{figure}, {interval}{word}{fails_more}"))
                }
                None => (false, format!("{figure}, without an interval")),
            }
        }
    }
}

fn failed(evidence: &Evidence<'_>, side: usize, of: Failed) -> (f64, String) {
    let failing = &evidence.failing[side];
    match of {
        Failed::Requests => {
            let (failed, all, share) = failing.of_requests();
            (share, format!("{failed} of {all} failed ({})", text::share(share)))
        }
        Failed::Pages => match failing.of_pages() {
            Some((failed, all, share)) => {
                (share, format!("{failed} of {all} page views failed ({})", text::share(share)))
            }
            None => {
                let share = failing.described(evidence.judge.page, None).page_share;
                (share, format!("{} of page views fail, by the model", text::share(share)))
            }
        },
    }
}

/// A note, because the speed of a side would hide its failures.
fn fails_more(evidence: &Evidence<'_>, side: usize) -> String {
    let (baseline, candidate) = (&evidence.failing[0], &evidence.failing[side]);
    let by_pages = baseline.of_pages().is_some() && candidate.of_pages().is_some();
    if candidate.chance_of_more(baseline, by_pages) > (1.0 - evidence.judge.settings.level) / 2.0 {
        return String::new();
    }
    let share = |side: &SideFailures| match side.of_pages().filter(|_| by_pages) {
        Some((.., share)) => percent(share * 100.0),
        None => percent(side.of_requests().2 * 100.0),
    };
    let what = if by_pages { "page views" } else { "requests" };
    format!("; {} % of its {what} failed, {} % of the baseline's", share(candidate), share(baseline))
}
