//! Whether a claim holds, with the figures that decide it. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    claim::{Claim, Margin, Relation, Says},
    subject::Subject,
    unit::Faster,
};

/// A claim and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The claim as its author put it.
    pub claim: String,
    /// Whether it held.
    pub holds: bool,
    /// The figures that decide it, as a sentence.
    pub figure: String,
}

/// Judges a claim. `value` is what was measured of a side, or why there is no such number: then the claim does not hold.
pub fn judge(claim: &Claim, value: impl Fn(&Subject, &str) -> Result<f64, String>) -> Judgement {
    let subject = &claim.subject;
    let verdict = || match &claim.says {
        Says::Faster { side, than, by } => {
            let (own, other) = (value(subject, side)?, value(subject, than)?);
            Ok(faster(subject, (side, own), (than, other), *by))
        }
        Says::Limit { side, relation, limit } => {
            Ok(limited(subject, (side, value(subject, side)?), *relation, *limit))
        }
    };
    let (holds, figure) = verdict().unwrap_or_else(|reason: String| (false, reason));
    Judgement { claim: claim.text.clone(), holds, figure }
}

/// Whether one side is faster than another, and the figures that say so.
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
        Margin::Times(by) => (times > by, format!("{:.2}x", times.max(times.recip()))),
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

/// Whether a side keeps a limit, and the figures that say so.
fn limited(subject: &Subject, (side, value): (&str, f64), relation: Relation, limit: f64) -> (bool, String) {
    let (shown, bound) = (subject.unit().show(value), subject.unit().show(limit));
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

    /// Subjects as kinds of measurement name them; what they are found in does not matter here.
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

    fn judged(at: &str, says: Says) -> Judgement {
        let claim = Claim { text: "it is so".to_owned(), subject: subject(at), says };
        judge(&claim, |_, side| match side {
            "small" => Ok(10.0),
            "large" => Ok(2000.0),
            _ => Err(format!("{side} was not measured")),
        })
    }

    fn faster(side: &str, than: &str, by: f64) -> Says {
        let by = Margin::Difference(by);
        Says::Faster { side: side.to_owned(), than: than.to_owned(), by }
    }

    fn times(side: &str, than: &str, by: f64) -> Says {
        Says::Faster { side: side.to_owned(), than: than.to_owned(), by: Margin::Times(by) }
    }

    fn limit(side: &str, relation: Relation, limit: f64) -> Says {
        Says::Limit { side: side.to_owned(), relation, limit }
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
        // 2000 of something and 10 of it.
        let duration = judged("transfer.duration", times("small", "large", 199.0));
        assert!(duration.holds);
        assert_eq!(
            duration.figure,
            "transfer.duration: small 10.0 ms, large 2.00 s; small is 200.00x faster"
        );
        assert!(!judged("transfer.duration", times("small", "large", 200.0)).holds);
        assert!(judged("json.connects_per_s", times("large", "small", 199.0)).holds);
        let slower = judged("json.connects_per_s", times("small", "large", 2.0));
        assert!(!slower.holds);
        assert_eq!(slower.figure, "json.connects_per_s: small 10/s, large 2000/s; small is 200.00x slower");
    }

    #[test]
    fn a_limit_is_kept_from_its_own_side() {
        assert!(judged("outage.max", limit("small", Relation::Below, 11.0)).holds);
        assert!(!judged("outage.max", limit("small", Relation::Below, 10.0)).holds);
        assert!(judged("outage.max", limit("small", Relation::Above, 9.0)).holds);
        assert!(!judged("outage.max", limit("small", Relation::Above, 10.0)).holds);
        let lost = judged("transfer.lost", limit("small", Relation::Is, 0.0));
        assert!(!lost.holds);
        assert_eq!(lost.figure, "transfer.lost: small 10 bytes, 0 bytes expected");
        assert!(judged("transfer.lost", limit("small", Relation::Is, 10.0)).holds);
    }

    #[test]
    fn a_share_of_page_views_is_a_limit_like_any_other() {
        let claim = Claim {
            text: "it is".to_owned(),
            subject: subject("experienced.faster_than.swift"),
            says: limit("steady", Relation::Above, 0.75),
        };
        let said = |share: f64| judge(&claim, |_, _| Ok(share));
        assert_eq!(
            said(0.9342).figure,
            "experienced.faster_than.swift: steady 93.4 %, more than 75.0 % expected"
        );
        assert!(said(0.9342).holds && !said(0.75).holds);
        assert!(said(0.99999).figure.contains("steady 99.9 %"), "nearly all is not all");
    }

    #[test]
    fn a_side_that_was_not_measured_proves_nothing() {
        let judgement = judged("request.p50", faster("nobody", "small", 0.0));
        assert!(!judgement.holds);
        assert_eq!(judgement.figure, "nobody was not measured");
    }
}
