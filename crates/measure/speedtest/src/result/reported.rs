//! Validates a result reported by a client: bounds sizes, checks that values are possible, and
//! recomputes derived values.

use std::time::Duration;

use http_stack::Origin;

use super::{Loss, Missing, Outcome, SCHEMA, measured};
use crate::{
    bandwidth::{Bandwidth, Set},
    bottleneck::Limits,
    latency::{Latency, Sample, round_trip},
    responsiveness::Responsiveness,
    rubric::Rubric,
    summary_text::sentence,
};

/// Maximum size of a result, in bytes of JSON.
pub const LARGEST: usize = 256 * 1024;

/// The reason why a result is invalid.
#[derive(Debug, thiserror::Error)]
pub enum Implausible {
    /// The result is too large.
    #[error("a result has at most {LARGEST} bytes")]
    TooLarge,
    /// The result is invalid JSON or incomplete.
    #[error("this is no result of a speed test: {0}")]
    Form(#[from] serde_json::Error),
    /// A part of the result is impossible.
    #[error("{0} of a result is impossible")]
    Part(&'static str),
}

impl Outcome {
    /// Reads a reported result.
    ///
    /// # Errors
    ///
    /// It is too large, not a result, or contains impossible figures or texts.
    pub fn reported(text: &[u8]) -> Result<Self, Implausible> {
        if text.len() > LARGEST {
            return Err(Implausible::TooLarge);
        }
        let told: Self = serde_json::from_slice(text)?;
        let is_url = told.url.len() <= 300 && told.url.parse::<Origin>().is_ok();
        holds(told.schema == SCHEMA, "schema")?;
        holds(is_url, "url")?;
        holds(is_time(&told.started), "started")?;
        holds((0.0..1e6).contains(&told.took_s), "took_s")?;
        holds((1..=64).contains(&told.streams), "streams")?;
        holds(is_word(&told.plan, 100), "plan")?;
        holds(matches!(&*told.protocol, "" | "http/1.1" | "h2" | "h3"), "protocol")?;
        holds(told.server.as_deref().is_none_or(|server| is_word(server, 100)), "server")?;
        holds(told.missing.len() <= 20 && told.missing.iter().all(is_reason), "missing")?;
        holds(told.latency.samples.len() <= 5000 && told.latency.samples.iter().all(is_look), "latency")?;
        let latency = Latency::of(told.latency.samples);
        let round_trip = round_trip(&latency.samples);
        let download = bandwidth(told.download, round_trip, "download")?;
        let upload = bandwidth(told.upload, round_trip, "upload")?;
        let loss = told.loss.map(counted).transpose()?;
        let rpm = responsiveness(told.rpm)?;
        let figures = measured(&download, &upload, &latency, loss);
        let scores = Rubric::AIM.score(&figures);
        let sentence = sentence(&figures, &scores);
        let rubric = Rubric::AIM.version.to_owned();
        let outcome = Self { download, upload, latency, loss, rpm, scores, sentence, rubric, ..told };
        // Figures may have been written with fewer digits than in our output.
        if serde_json::to_vec(&outcome)?.len() > LARGEST { Err(Implausible::TooLarge) } else { Ok(outcome) }
    }
}

fn bandwidth(
    told: Bandwidth,
    round_trip: Option<Duration>,
    part: &'static str,
) -> Result<Bandwidth, Implausible> {
    let Bandwidth { sets, limits, .. } = told;
    let is_rate = |bps: &f64| (1e-3..1e13).contains(bps);
    let is_set = |set: &Set| {
        set.n <= 1000 && set.bps.len() <= set.n && set.bytes < 1 << 40 && set.bps.iter().all(is_rate)
    };
    holds(sets.len() <= 100 && sets.iter().all(is_set), part)?;
    holds(limits.as_ref().is_none_or(are_shares), part)?;
    let sets = sets.into_iter().map(|set| Set::of(set.bytes, set.n, set.bps)).collect();
    let found = Bandwidth::of_sets(sets, round_trip);
    Ok(Bandwidth { limits, limited_by: limits.map(|limits| limits.most().to_owned()), ..found })
}

fn counted(told: Loss) -> Result<Loss, Implausible> {
    let Loss { sent, lost, .. } = told;
    holds(sent <= 1_000_000 && lost < sent, "loss")?;
    Loss::of(sent, sent - lost).map_err(|_| Implausible::Part("loss"))
}

fn responsiveness(told: Responsiveness) -> Result<Responsiveness, Implausible> {
    holds(told.value.is_none_or(|value| (0.0..1e7).contains(&value)), "rpm")?;
    holds(is_word(&told.method, 300), "rpm")?;
    Ok(told)
}

fn is_look(sample: &Sample) -> bool {
    (0.0..1e6).contains(&sample.at_s) && (0.0..1e6).contains(&sample.ms)
}

fn are_shares(limits: &Limits) -> bool {
    let Limits { network, receiver_window, send_buffer, application, device, retransmitted } = limits;
    [network, receiver_window, send_buffer, application, device, retransmitted]
        .into_iter()
        .all(|share| (0.0..=1.0).contains(share))
}

fn is_reason(missing: &Missing) -> bool {
    is_word(&missing.what, 50) && is_word(&missing.why, 300)
}

fn is_word(text: &str, most: usize) -> bool {
    text.len() <= most && !text.chars().any(char::is_control)
}

/// Approximately RFC 3339.
fn is_time(text: &str) -> bool {
    text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_digit() || b"TZ:.+-".contains(&byte))
}

fn holds(condition: bool, part: &'static str) -> Result<(), Implausible> {
    if condition { Ok(()) } else { Err(Implausible::Part(part)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bandwidth::Transfer,
        latency::{During, On},
        result::Seen,
    };

    fn honest() -> Outcome {
        let sample = |ms| Sample { at_s: 0.5, during: During::Idle, on: On::Same, ms };
        let over = Duration::from_millis(800);
        let transfer = Transfer { bytes: 1_001_000, behind_first: 1_000_000, over, took: over };
        let seen = Seen {
            url: "http://192.0.2.1:8090".to_owned(),
            started: "2026-05-04T03:02:01.000Z".to_owned(),
            plan: "quick".to_owned(),
            protocol: "h2".to_owned(),
            streams: 1,
            took_s: 12.0,
            transfers: [vec![transfer; 3], vec![]],
            latencies: vec![sample(20.0), sample(22.0)],
            loss: Some(Ok(Loss::of(200, 199).unwrap())),
            ..Seen::default()
        };
        seen.conclude()
    }

    fn reported(outcome: &Outcome) -> Result<Outcome, String> {
        Outcome::reported(&serde_json::to_vec(outcome).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_honest_result_stays_as_it_is() {
        let honest = honest();
        let read = reported(&honest).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&honest).unwrap());
    }

    #[test]
    fn what_follows_from_figures_is_not_taken_from_others() {
        let honest = honest();
        let mut boasted = honest.clone();
        boasted.sentence = "The best line there is.".to_owned();
        boasted.download.bps_p90 = Some(1e12);
        boasted.scores.gaming = boasted.scores.streaming.clone();
        boasted.latency.jitter_ms = Some(0.0);
        boasted.loss = boasted.loss.map(|loss| Loss { ratio: 0.0, high: 0.0, ..loss });
        let read = reported(&boasted).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&honest).unwrap());
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let wrong = |change: fn(&mut Outcome)| {
            let mut outcome = honest();
            change(&mut outcome);
            reported(&outcome).unwrap_err()
        };
        for (part, change) in [
            ("schema", (|outcome| outcome.schema.push('0')) as fn(&mut Outcome)),
            ("url", |outcome| outcome.url = "javascript:alert(1)".to_owned()),
            ("started", |outcome| outcome.started = "<b>yesterday".to_owned()),
            ("streams", |outcome| outcome.streams = 0),
            ("plan", |outcome| outcome.plan = "a\nb".to_owned()),
            ("protocol", |outcome| outcome.protocol = "gopher".to_owned()),
            ("missing", |outcome| outcome.missing = vec![Missing::new("loss", "x"); 21]),
            ("download", |outcome| outcome.download.sets[0].bps[0] = 1e14),
            ("download", |outcome| outcome.download.sets[0].n = 2),
            ("latency", |outcome| outcome.latency.samples[0].ms = -1.0),
            ("loss", |outcome| outcome.loss = Loss::of(5, 4).ok().map(|loss| Loss { lost: 5, ..loss })),
            ("rpm", |outcome| outcome.rpm.value = Some(1e9)),
        ] {
            assert_eq!(wrong(change), format!("{part} of a result is impossible"));
        }
        assert!(Outcome::reported(b"{}").unwrap_err().to_string().contains("missing field"));
        assert!(matches!(Outcome::reported(&vec![b' '; LARGEST + 1]), Err(Implausible::TooLarge)));
    }
}
