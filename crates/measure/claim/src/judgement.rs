//! Judgement of claims, with the deciding figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    claim::{Claim, Margin, Relation, Statement},
    own_error::Ranged,
    subject::Subject,
    unit::Faster,
};

/// A claim and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The claim as written by its author.
    pub claim: String,
    /// Whether the claim holds, for the measured values and at both ends of the emulator's own error.
    pub holds: bool,
    /// Whether the verdict is the same at both ends of the emulator's own error. If not, this machine cannot
    /// decide the claim.
    #[serde(default = "yes")]
    pub decided: bool,
    /// The deciding figures, as a sentence.
    pub figure: String,
}

fn yes() -> bool {
    true
}

/// Judges a claim at both ends of the emulator's own error. `value` returns a side's value, or why
/// it is missing; then the claim does not hold.
pub fn judge(claim: &Claim, value: impl Fn(&Subject, &str) -> Result<Ranged, String>) -> Judgement {
    let subject = &claim.subject;
    let verdict = || match &claim.says {
        Statement::Faster { side, than, by } => {
            let (own, other) = (value(subject, side)?, value(subject, than)?);
            let at = |own, other| faster(subject, (side, own), (than, other), *by);
            let ends = [at(own.low, other.high).0, at(own.high, other.low).0];
            Ok((at(own.value, other.value), ends, own.own_error().max(other.own_error())))
        }
        Statement::Fewer { side, than, by } => {
            let (own, other) = (value(subject, side)?, value(subject, than)?);
            let at = |own, other| fewer(subject, (side, own), (than, other), *by);
            let ends = [at(own.low, other.high).0, at(own.high, other.low).0];
            Ok((at(own.value, other.value), ends, own.own_error().max(other.own_error())))
        }
        Statement::Limit { side, relation, limit } => {
            let value = value(subject, side)?;
            let at = |value| limited(subject, (side, value), *relation, *limit);
            Ok((at(value.value), [at(value.low).0, at(value.high).0], value.own_error()))
        }
    };
    let judgement = |holds, decided, figure| Judgement { claim: claim.text.clone(), holds, decided, figure };
    match verdict() {
        Err(reason) => judgement(false, true, reason),
        Ok(((holds, figure), ends, own_error)) => {
            let decided = ends == [holds; 2];
            let figure = if own_error > 0.0 {
                let error = subject.unit().show(own_error);
                let turns = if decided { "" } else { ", and without it the answer may be the other one" };
                format!("{figure} (the emulator's own error is at most {error}{turns})")
            } else {
                figure
            };
            judgement(holds && decided, decided, figure)
        }
    }
}

fn faster(
    subject: &Subject,
    (side, own): (&str, f64),
    (than, other): (&str, f64),
    by: Margin,
) -> (bool, String) {
    let unit = subject.unit();
    let (quick, slow) = if unit.faster() == Some(Faster::More) { (own, other) } else { (other, own) };
    let (gain, times) = (quick - slow, quick / slow);
    let (holds, how_much) = match by {
        Margin::Difference(by) => (gain > by, unit.show(gain.abs())),
        Margin::Times(by) => (times > by, units::show::times(times.max(times.recip()))),
    };
    let (own, other) = (unit.show(own), unit.show(other));
    (
        holds,
        format!(
            "{subject}: {side} {own}, {than} {other}; {side} is {how_much} {}",
            subject.comparative(gain)
        ),
    )
}

fn fewer(
    subject: &Subject,
    (side, own): (&str, f64),
    (than, other): (&str, f64),
    by: Margin,
) -> (bool, String) {
    let (holds, at_most) = match by {
        Margin::Difference(by) => (other - own > by, other - by),
        Margin::Times(by) => (own * by < other, other / by),
    };
    let [own, other, at_most] = [own, other, at_most].map(|value| subject.unit().show(value));
    (holds, format!("{subject}: {side} {own}, {than} {other}; fewer than {at_most} expected"))
}

fn limited(subject: &Subject, (side, value): (&str, f64), relation: Relation, limit: f64) -> (bool, String) {
    let (mut shown, bound) = (subject.unit().show(value), subject.unit().show(limit));
    if shown == bound && value != limit {
        shown += if value > limit { " and a little more" } else { ", a little less" };
    }
    let (holds, limit) = match relation {
        Relation::Below => (value < limit, format!("limit {bound}")),
        Relation::Above => (value > limit, format!("more than {bound} expected")),
        Relation::Is => (value == limit, format!("{bound} expected")),
    };
    (holds, format!("{subject}: {side} {shown}, {limit}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Query, Source, Tempo, Unit};

    fn subject(at: &str) -> Subject {
        let (unit, tempo) = match at {
            "request.p50" | "transfer.duration" => (Unit::Time, Tempo::Faster),
            "transfer.stall" | "outage.max" => (Unit::Time, Tempo::Shorter),
            "transfer.goodput" => (Unit::Rate, Tempo::Shorter),
            "transfer.lost" => (Unit::Size, Tempo::Shorter),
            "json.connects_per_s" => (Unit::Frequency, Tempo::Shorter),
            "experienced.faster_than.swift" => (Unit::Estimate, Tempo::Shorter),
            other => panic!("{other}"),
        };
        let query = Query::FasterThan(String::new());
        Subject::new(Source::new("probe"), at, query, unit).tempo(tempo)
    }

    fn judged(at: &str, says: Statement) -> Judgement {
        let claim = Claim { text: "it is so".to_owned(), subject: subject(at), says };
        judge(&claim, |_, side| match side {
            "small" => Ok(10.0.into()),
            "large" => Ok(2000.0.into()),
            _ => Err(format!("{side} was not measured")),
        })
    }

    fn faster(side: &str, than: &str, by: f64) -> Statement {
        let by = Margin::Difference(by);
        Statement::Faster { side: side.to_owned(), than: than.to_owned(), by }
    }

    fn times(side: &str, than: &str, by: f64) -> Statement {
        Statement::Faster { side: side.to_owned(), than: than.to_owned(), by: Margin::Times(by) }
    }

    fn limit(side: &str, relation: Relation, limit: f64) -> Statement {
        Statement::Limit { side: side.to_owned(), relation, limit }
    }

    #[test]
    fn less_time_is_faster_and_more_rate_is() {
        let request = judged("request.p50", faster("small", "large", 0.0));
        assert!(request.holds);
        assert_eq!(request.figure, "request.p50: small 10.0 ms, large 2.00 s; small is 1.99 s faster");
        let stall = judged("transfer.stall", faster("large", "small", 0.0));
        assert!(!stall.holds);
        assert_eq!(stall.figure, "transfer.stall: large 2.00 s, small 10.0 ms; large is 1.99 s longer");
        assert!(judged("transfer.goodput", faster("large", "small", 0.0)).holds);
        assert!(!judged("transfer.goodput", faster("small", "large", 0.0)).holds);
    }

    #[test]
    fn a_margin_must_be_exceeded() {
        assert!(judged("request.p50", faster("small", "large", 1989.0)).holds);
        assert!(!judged("request.p50", faster("small", "large", 1990.0)).holds);
    }

    #[test]
    fn a_margin_may_be_a_multiple() {
        let duration = judged("transfer.duration", times("small", "large", 199.0));
        assert!(duration.holds);
        assert_eq!(duration.figure, "transfer.duration: small 10.0 ms, large 2.00 s; small is 200x faster");
        assert!(!judged("transfer.duration", times("small", "large", 200.0)).holds);
        assert!(judged("json.connects_per_s", times("large", "small", 199.0)).holds);
        let slower = judged("json.connects_per_s", times("small", "large", 2.0));
        assert!(!slower.holds);
        assert_eq!(slower.figure, "json.connects_per_s: small 10/s, large 2 000/s; small is 200x slower");
    }

    #[test]
    fn one_side_may_have_fewer_than_another() {
        let fewer = |side: &str, than: &str, by| {
            let says = Statement::Fewer { side: side.to_owned(), than: than.to_owned(), by };
            judged("transfer.lost", says)
        };
        let lost = fewer("small", "large", Margin::Difference(0.0));
        assert!(lost.holds);
        assert_eq!(lost.figure, "transfer.lost: small 10 B, large 2.00 KB; fewer than 2.00 KB expected");
        assert!(!fewer("large", "small", Margin::Difference(0.0)).holds);
        assert!(!fewer("small", "small", Margin::Difference(0.0)).holds, "as many are not fewer");
        assert!(fewer("small", "large", Margin::Difference(1989.0)).holds);
        assert!(!fewer("small", "large", Margin::Difference(1990.0)).holds);
        assert!(fewer("small", "large", Margin::Times(199.0)).holds);
        let most = fewer("small", "large", Margin::Times(200.0));
        assert!(!most.holds);
        assert_eq!(most.figure, "transfer.lost: small 10 B, large 2.00 KB; fewer than 10 B expected");
        assert!(!fewer("nobody", "large", Margin::Times(1.0)).holds);
    }

    #[test]
    fn a_limit_is_kept_from_its_own_side() {
        assert!(judged("outage.max", limit("small", Relation::Below, 11.0)).holds);
        assert!(!judged("outage.max", limit("small", Relation::Below, 10.0)).holds);
        assert!(judged("outage.max", limit("small", Relation::Above, 9.0)).holds);
        assert!(!judged("outage.max", limit("small", Relation::Above, 10.0)).holds);
        let lost = judged("transfer.lost", limit("small", Relation::Is, 0.0));
        assert!(!lost.holds);
        assert_eq!(lost.figure, "transfer.lost: small 10 B, 0 B expected");
        assert!(judged("transfer.lost", limit("small", Relation::Is, 10.0)).holds);
    }

    #[test]
    fn a_share_of_page_views_is_a_limit_like_any_other() {
        let claim = Claim {
            text: "it is".to_owned(),
            subject: subject("experienced.faster_than.swift"),
            says: limit("steady", Relation::Above, 0.75),
        };
        let said = |share: f64| judge(&claim, |_, _| Ok(share.into()));
        assert_eq!(
            said(0.9342).figure,
            "experienced.faster_than.swift: steady 93.4 %, more than 75 % expected"
        );
        assert!(said(0.9342).holds && !said(0.75).holds);
        assert!(said(0.99999).figure.contains("steady 99.999 %"), "nearly all is not all");
        assert!(said(0.750_01).figure.ends_with("steady 75 % and a little more, more than 75 % expected"));
        assert!(said(0.749_99).figure.ends_with("steady 75 %, a little less, more than 75 % expected"));
    }

    #[test]
    fn a_claim_is_judged_at_both_ends_of_the_emulators_error() {
        let claim = |says| Claim { text: "it is so".to_owned(), subject: subject("request.p50"), says };
        let judged = |says, error: f64| {
            judge(&claim(says), |_, side| {
                let value = if side == "small" { 10.0 } else { 20.0 };
                Ok(Ranged::between(value, value - error))
            })
        };
        let sure = judged(limit("small", Relation::Below, 11.0), 4.0);
        assert!(sure.holds && sure.decided);
        assert!(sure.figure.ends_with("(the emulator's own error is at most 4.00 ms)"), "{}", sure.figure);
        // 10 ms is not below 8, but 6 ms would be.
        let turned = judged(limit("small", Relation::Below, 8.0), 4.0);
        assert!(!turned.holds && !turned.decided);
        assert!(turned.figure.contains("the answer may be the other one"), "{}", turned.figure);
        assert!(judged(limit("small", Relation::Below, 5.0), 4.0).decided, "it fails at both ends");
        // 10 against 20 ms: an error of 9 ms keeps the order, an error of 11 ms does not.
        assert!(judged(faster("small", "large", 0.0), 9.0).holds);
        let turned = judged(faster("small", "large", 0.0), 11.0);
        assert!(!turned.holds && !turned.decided);
    }

    #[test]
    fn a_side_that_was_not_measured_proves_nothing() {
        let judgement = judged("request.p50", faster("nobody", "small", 0.0));
        assert!(!judgement.holds);
        assert_eq!(judgement.figure, "nobody was not measured");
    }
}
