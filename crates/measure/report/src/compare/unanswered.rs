//! Sides of which every request failed: they have no latency, so the others are compared without
//! them.

use claim::{Caveat, Condition, Doubt, Judgement, Threshold};
use statistics::Failing;

use super::{
    Analysis, Question, SideInput,
    failures::{self, SideFailures},
    side::distinct,
};
use crate::{
    model::{Comparison, Side, Verdicts},
    text::{count, share},
};

/// A side without an answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Its position among all sides, from 0.
    pub place: usize,
    /// The side's name.
    pub label: String,
    /// The format that it was read from, for display.
    pub format: String,
    /// Its requests, all of which failed.
    pub failed: u64,
}

impl Unanswered {
    /// The warning about it.
    pub fn doubt(&self) -> Doubt {
        let noticed = format!("{}, so that it has no latency.", all_failed(self.failed));
        Doubt::Noticed(noticed).of(self.label.as_str())
    }
}

struct Sides<'s> {
    all: Vec<Place<'s>>,
    labels: Vec<String>,
    failing: Vec<SideFailures>,
}

enum Place<'s> {
    Answered(&'s SideInput),
    Unanswered(&'s Unanswered),
}

impl Analysis<'_> {
    /// The comparison of all sides; the analysis covers those with answered requests, and
    /// `unanswered` the others in their order.
    pub fn with_unanswered(&self, question: &Question, unanswered: &[Unanswered]) -> Comparison {
        let mut comparison = self.comparison.clone();
        if unanswered.is_empty() {
            return comparison;
        }
        let sides = Sides::new(self.sides, unanswered);
        let level = question.intervals.map(|settings| settings.level);
        for (place, side) in sides.unanswered() {
            let described = Side {
                label: sides.labels[place].clone(),
                format: side.format.clone(),
                read: side.failed,
                n: 0,
                failed: side.failed,
                without_metric: 0,
                excluded: 0,
                relative_error: None,
                invalid: Vec::new(),
                own_error_ms: None,
                figures: None,
                failures: sides.failing[place].described(question.page, level),
                pages: None,
                block_length: None,
                shifts: Vec::new(),
            };
            comparison.sides.insert(place, described);
            comparison.doubts.push(Caveat::from(&side.doubt()));
        }
        comparison.warnings = claim::warnings(&comparison.doubts);
        comparison.thresholds = question
            .thresholds
            .iter()
            .enumerate()
            .map(|(number, threshold)| sides.judge(threshold, self.comparison.thresholds.get(number)))
            .collect();
        let speed = self.comparison.verdict.as_ref();
        comparison.verdict = (sides.all.len() > 1).then(|| sides.verdict(question, speed));
        comparison
    }
}

impl<'s> Sides<'s> {
    fn new(answered: &'s [SideInput], unanswered: &'s [Unanswered]) -> Self {
        let mut all: Vec<Place<'s>> = answered.iter().map(Place::Answered).collect();
        for side in unanswered {
            all.insert(side.place.min(all.len()), Place::Unanswered(side));
        }
        let labels = distinct(all.iter().map(|side| match side {
            Place::Answered(side) => side.label.as_str(),
            Place::Unanswered(side) => side.label.as_str(),
        }));
        let failing = all.iter().map(|side| match side {
            Place::Answered(side) => SideFailures::new(side, None),
            Place::Unanswered(side) => {
                SideFailures::of_requests_alone(Failing::independent(side.failed, side.failed))
            }
        });
        Self { failing: failing.collect(), all, labels }
    }

    fn unanswered(&self) -> impl Iterator<Item = (usize, &'s Unanswered)> {
        self.all.iter().enumerate().filter_map(|(place, side)| match side {
            Place::Unanswered(side) => Some((place, *side)),
            Place::Answered(_) => None,
        })
    }

    fn verdict(&self, question: &Question, speed: Option<&Verdicts>) -> Verdicts {
        let level = question.intervals.unwrap_or_default().level;
        let failures = failures::verdict(&self.failing, &self.labels, question.page, None, level);
        let mut parts: Vec<String> = Vec::new();
        for (place, side) in self.unanswered() {
            let whose = format!("of {} failed", self.labels[place]);
            parts.push(match side.failed {
                1 => format!("the only request {whose}"),
                all => format!("all {} requests {whose}", count(all)),
            });
        }
        for (place, side) in self.all.iter().enumerate() {
            let Place::Answered(_) = side else { continue };
            let (failed, all, _) = self.failing[place].of_requests();
            let verdicts = self.unanswered().map(|(other, _)| {
                let chance = self.failing[other].chance_of_more(&self.failing[place], false);
                format!("{} fails more often: {} sure", self.labels[other], share(1.0 - chance))
            });
            let verdicts: Vec<String> = verdicts.collect();
            let (label, verdicts) = (&self.labels[place], verdicts.join(", "));
            parts.push(format!("of {label} {} of {} failed ({verdicts})", count(failed), count(all)));
        }
        if speed.is_none() {
            parts.push("latency is not compared".to_owned());
        }
        let headline = capitalised(&parts.join("; ")) + ".";
        let certainty = speed.map(|verdicts| verdicts.sentence.clone());
        let sentence =
            certainty.as_ref().map_or_else(|| headline.clone(), |more| format!("{headline} {more}"));
        let speed = speed.and_then(|verdicts| verdicts.speed.clone());
        Verdicts { speed, failures, headline, certainty, sentence }
    }

    /// `answered` is the judgement of the sides with answered requests.
    fn judge(&self, threshold: &Threshold, answered: Option<&Judgement>) -> Judgement {
        let claim = threshold.requirement();
        let first = usize::from(threshold.is_relative());
        if let (1, Place::Unanswered(baseline)) = (first, &self.all[0]) {
            // No side can fail more often than one whose requests all failed.
            let holds = matches!(threshold.condition(), Condition::FailsMore { .. });
            let figure = format!("{}: {}", self.labels[0], all_failed(baseline.failed));
            return Judgement { claim, holds, decided: holds, figure };
        }
        let mut figures: Vec<String> = answered.map(|found| found.figure.clone()).into_iter().collect();
        figures.retain(|figure| !figure.is_empty());
        let mut holds = answered.is_none_or(|found| found.holds);
        for (place, side) in self.unanswered().filter(|(place, _)| *place >= first) {
            holds &= match *threshold.condition() {
                Condition::Failed { limit, .. } => limit >= 1.0,
                Condition::FailsMore { .. } | Condition::Above { .. } | Condition::Worse { .. } => false,
            };
            figures.push(format!("{}: {}", self.labels[place], all_failed(side.failed)));
        }
        Judgement { claim, holds, decided: true, figure: figures.join("; ") }
    }
}

fn all_failed(failed: u64) -> String {
    match failed {
        1 => "Its only request failed".to_owned(),
        all => format!("All {} requests failed", count(all)),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use recording::Metric;
    use statistics::{Distribution, Page};

    use super::*;
    use crate::compare::compare;

    fn side(label: &str, values: &[f64]) -> SideInput {
        SideInput::bare(label, Distribution::new(values.to_vec()).unwrap())
    }

    fn dead(place: usize, label: &str, failed: u64) -> Unanswered {
        Unanswered { place, label: label.to_owned(), format: "CSV".to_owned(), failed }
    }

    fn question(thresholds: &[&str]) -> Question {
        let thresholds = thresholds.iter().map(|text| text.parse().unwrap()).collect();
        Question { thresholds, ..Question::new(Metric::Latency, Page::new(1, 1.0).unwrap()) }
    }

    fn all(question: &Question, answered: &[SideInput], unanswered: &[Unanswered]) -> Comparison {
        compare(question, answered).unwrap().with_unanswered(question, unanswered)
    }

    #[test]
    fn one_side_of_two() {
        let thresholds = [
            "failed above 1%",
            "failed above 100%",
            "p50 above 1s",
            "p50 worse by 5%",
            "failed surely worse",
        ];
        let question = question(&thresholds);
        let swift = [side("swift", &[10.0; 100])];
        let comparison = all(&question, &swift, &[dead(1, "dead", 20)]);
        let figures: Vec<bool> = comparison.sides.iter().map(|side| side.figures.is_some()).collect();
        assert_eq!(figures, [true, false]);
        assert_eq!((comparison.sides[1].failed, comparison.sides[1].failures.request_share), (20, 1.0));
        let verdict = comparison.verdict.unwrap();
        assert_eq!(
            verdict.sentence,
            "All 20 requests of dead failed; of swift 0 of 100 failed (dead fails more often: 100 % sure); latency is not compared."
        );
        assert_eq!(verdict.speed, None);
        let failures = verdict.failures.unwrap();
        assert_eq!((failures.more.as_deref(), failures.than.as_deref()), (Some("dead"), Some("swift")));
        let holds: Vec<bool> = comparison.thresholds.iter().map(|judged| judged.holds).collect();
        assert_eq!(holds, [false, true, false, false, false]);
        assert_eq!(
            comparison.warnings.last().unwrap(),
            "dead: All 20 requests failed, so that it has no latency."
        );

        let comparison = all(&question, &swift, &[dead(0, "dead", 20)]);
        let judged = |judged: &Judgement| (judged.holds, judged.decided);
        let judged: Vec<_> = comparison.thresholds.iter().map(judged).collect();
        assert_eq!(judged, [(false, true), (true, true), (false, true), (false, false), (true, true)]);
        assert_eq!(comparison.sides[0].label, "dead");
    }

    #[test]
    fn two_of_three_are_still_compared() {
        let answered = [side("a", &[10.0, 11.0, 12.0]), side("b", &[20.0, 21.0, 22.0])];
        let comparison = all(&question(&[]), &answered, &[dead(1, "a", 1)]);
        let labels: Vec<&str> = comparison.sides.iter().map(|side| side.label.as_str()).collect();
        assert_eq!(labels, ["a", "a (2)", "b"]);
        let verdict = comparison.verdict.unwrap();
        assert!(
            verdict.headline.starts_with("The only request of a (2) failed; of a 0 of 3 failed"),
            "{}",
            verdict.headline
        );
        assert_eq!(verdict.speed.unwrap().request.better.as_deref(), Some("a"));
        assert!(verdict.certainty.is_some());
    }

    #[test]
    fn no_side_has_an_answer() {
        let comparison = all(&question(&["p50 above 1s"]), &[], &[dead(0, "a", 3), dead(1, "b", 4)]);
        let verdict = comparison.verdict.unwrap();
        assert_eq!(
            verdict.headline,
            "All 3 requests of a failed; all 4 requests of b failed; latency is not compared."
        );
        assert_eq!(verdict.failures.unwrap().more, None);
        assert!(!comparison.thresholds[0].holds);
        let alone = all(&question(&[]), &[], &[dead(0, "a", 3)]);
        assert_eq!((alone.verdict, alone.warnings.len()), (None, 1));
    }
}
