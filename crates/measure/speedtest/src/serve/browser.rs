//! The plan and the measurements of the web page. Its result is computed by the same code as the
//! command-line client's.

use std::{collections::BTreeMap, time::Duration};

use http_stack::clock::rfc3339;
use serde::{Deserialize, Serialize};

use crate::{
    bandwidth::Transfer,
    bottleneck::{Limits, Times},
    delivery::Delivery,
    latency::{Sample, round_trip},
    plan::{Direction, Larger, Plan, Step},
    result::{Loss, Outcome, Seen},
};

pub(crate) const PLAN: &str = "/__plan";
pub(crate) const RESULT: &str = "/__result";
pub(crate) const MOST_TOLD: usize = 1 << 20;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Written {
    name: String,
    stop_after_ms: f64,
    /// Round trips of a set's fastest request before the set is final.
    stop_after_round_trips: u32,
    longest_set_ms: f64,
    probe_every_ms: f64,
    loaded_from_ms: f64,
    larger: Option<WrittenLarger>,
    steps: Vec<WrittenStep>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct WrittenLarger {
    by: u32,
    up_to: u64,
    count: u32,
    within_ms: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum WrittenStep {
    WarmUp { bytes: u64 },
    Latency { samples: u32 },
    Download { bytes: u64, count: u32 },
    Upload { bytes: u64, count: u32 },
    Loss { messages: u32 },
}

impl Written {
    pub(crate) fn of(plan: &Plan) -> Self {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let steps = plan.steps.iter().map(|step| match *step {
            Step::WarmUp { bytes } => WrittenStep::WarmUp { bytes },
            Step::Latency { samples } => WrittenStep::Latency { samples },
            Step::Transfer { direction: Direction::Download, bytes, count } => {
                WrittenStep::Download { bytes, count }
            }
            Step::Transfer { direction: Direction::Upload, bytes, count } => {
                WrittenStep::Upload { bytes, count }
            }
            Step::Loss { messages } => WrittenStep::Loss { messages },
        });
        Self {
            name: plan.name.clone(),
            stop_after_ms: ms(plan.limits.stop_after),
            stop_after_round_trips: plan.limits.stop_after_round_trips,
            longest_set_ms: ms(plan.limits.longest_set),
            probe_every_ms: ms(plan.probe_every),
            loaded_from_ms: ms(plan.loaded_from),
            larger: plan.larger.map(|Larger { by, up_to, count, within }| WrittenLarger {
                by,
                up_to,
                count,
                within_ms: ms(within),
            }),
            steps: steps.collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    plan: String,
    protocol: String,
    took_ms: f64,
    interrupted: bool,
    download: Vec<Body>,
    upload: Vec<Body>,
    latencies: Vec<Sample>,
    /// Null: the test ended before the loss test.
    #[serde(default)]
    loss: Option<Counted>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Counted {
    Came { sent: u32, came_back: u32 },
    Not { why: String },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    bytes: u64,
    behind_first: u64,
    over_ms: f64,
    took_ms: f64,
    #[serde(default)]
    number: Option<u32>,
}

impl Told {
    /// `times` and `deliveries` are the server's measurements.
    pub(crate) fn conclude(
        self,
        url: String,
        now: Duration,
        times: Option<Times>,
        deliveries: &BTreeMap<u32, Delivery>,
    ) -> Result<Outcome, &'static str> {
        let latencies = self.latencies.iter().map(|sample| sample.ms);
        let latencies = latencies.chain(self.latencies.iter().map(|sample| sample.at_s));
        if !latencies.chain([self.took_ms]).all(|figure| (0.0..1e9).contains(&figure)) {
            return Err("a time that cannot be");
        }
        if self.plan.len() > 100 || self.protocol.len() > 100 {
            return Err("a name that is too long");
        }
        let round_trip = round_trip(&self.latencies);
        let downloads = self.download.iter().map(|body| {
            let delivery = body.number.and_then(|number| deliveries.get(&number));
            let delivery = delivery.filter(|delivery| delivery.size == body.bytes);
            let delivery = delivery.filter(|own| own.ends_at_client(round_trip));
            Some(Download::of(body.transfer()?, delivery, round_trip))
        });
        let uploads = self.upload.iter().map(Body::transfer).collect::<Option<Vec<_>>>();
        let (Some(downloads), Some(upload)) = (downloads.collect::<Option<Vec<_>>>(), uploads) else {
            return Err("a transfer that cannot be");
        };
        let loss = self.loss.map(Counted::loss).transpose()?;
        let download = downloads.iter().map(|download| download.transfer).collect();
        let sending = downloads.iter().map(|download| download.sending).sum();
        let unread = downloads.iter().map(|download| download.unread).sum();
        let seen = Seen {
            url,
            started: rfc3339(now.saturating_sub(Duration::from_secs_f64(self.took_ms / 1e3))),
            took_s: self.took_ms / 1e3,
            plan: self.plan,
            protocol: self.protocol,
            streams: 1,
            limits: [times.and_then(|times| Limits::of_device(times, sending, unread)), None],
            transfers: [download, upload],
            latencies: self.latencies,
            loss,
            interrupted: self.interrupted,
            ..Seen::default()
        };
        Ok(seen.conclude())
    }
}

struct Download {
    transfer: Transfer,
    /// From the request to the last acknowledgement.
    sending: Duration,
    /// From the arrival of the last bytes until the page had read them.
    unread: Duration,
}

impl Download {
    fn of(told: Transfer, delivery: Option<&Delivery>, round_trip: Option<Duration>) -> Self {
        if let Some(own) = delivery {
            let transfer = Transfer { behind_first: own.bytes, over: own.over, ..told };
            // The request takes half a round trip to the server, and the last acknowledgement the
            // other half.
            return Self { transfer, sending: own.took, unread: told.took.saturating_sub(own.took) };
        }
        // Without a server measurement, a late page still gets the rate of the whole request.
        let late = told.took.saturating_sub(told.over + round_trip.unwrap_or_default());
        let is_late = late > told.over / LATE_PART;
        let whole = Transfer { over: Duration::ZERO, ..told };
        let transfer = if is_late && whole.rate() < told.rate() { whole } else { told };
        Self { transfer, sending: told.over, unread: Duration::ZERO }
    }
}

impl Counted {
    fn loss(self) -> Result<Result<Loss, String>, &'static str> {
        match self {
            Self::Came { sent, came_back } if came_back <= sent && sent <= MOST_DATAGRAMS => {
                Ok(Loss::of(sent, came_back).map_err(str::to_owned))
            }
            Self::Came { .. } => Err("datagrams that cannot be"),
            Self::Not { why } if why.len() <= 200 && !why.chars().any(char::is_control) => Ok(Err(why)),
            Self::Not { .. } => Err("a reason that is too long"),
        }
    }
}

impl Body {
    fn transfer(&self) -> Option<Transfer> {
        let time = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).ok();
        let is_possible = self.behind_first <= self.bytes && self.bytes <= MOST_BYTES;
        let (over, took) = (time(self.over_ms)?, time(self.took_ms)?);
        is_possible.then_some(Transfer { bytes: self.bytes, behind_first: self.behind_first, over, took })
    }
}

/// If the first bytes are late by this part of the transfer, the rate is 5 % too high.
const LATE_PART: u32 = 20;
/// The limit of a plan.
const MOST_DATAGRAMS: u32 = 10_000;
const MOST_BYTES: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> Result<Outcome, String> {
        told_with(body, "null")
    }

    fn told_with(body: &str, loss: &str) -> Result<Outcome, String> {
        let text = format!(
            r#"{{"plan": "quick", "protocol": "h2", "took_ms": 5000, "interrupted": false, "upload": [], "loss": {loss},
                "latencies": [{{"at_s": 0.1, "during": "idle", "on": "same", "ms": 20}}], "download": [{body}]}}"#
        );
        let told: Told = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        told.conclude("https://a.example".to_owned(), Duration::from_secs(3605), None, &BTreeMap::new())
            .map_err(str::to_owned)
    }

    #[test]
    fn what_a_page_saw_comes_to_the_same_as_what_the_client_saw() {
        let body = r#"{"bytes": 1001000, "behind_first": 1000000, "over_ms": 800, "took_ms": 820}"#;
        let outcome = told(body).unwrap();
        assert_eq!(outcome.started, "1970-01-01T01:00:00.000Z");
        // 8 Mbit over 0.8 s.
        assert_eq!(outcome.download.bps_p90, Some(10e6));
        assert_eq!(outcome.latency.idle_ms.unwrap().p50, 20.0);
        let missing: Vec<_> = outcome.missing.iter().map(|missing| missing.what.as_str()).collect();
        assert!(missing.contains(&"loss") && missing.contains(&"download.limited_by"), "{missing:?}");
    }

    #[test]
    fn a_late_page_has_the_servers_rate_or_that_of_the_whole_request() {
        let ms = Duration::from_millis;
        let told = Transfer { bytes: 10_000_000, behind_first: 9_000_000, over: ms(500), took: ms(900) };
        let of = |told, delivery| Download::of(told, delivery, Some(ms(40)));
        // 9.9 MB over 792 ms, read 50 ms after their arrival.
        let (bytes, over, took) = (9_900_000, ms(792), ms(850));
        let own = Delivery { size: 10_000_000, bytes, over, took, round_trip: Some(ms(40)) };
        let late = of(told, Some(&own));
        assert_eq!((late.transfer.rate(), late.sending, late.unread), (Some(100e6), ms(850), ms(50)));
        // 360 ms late: 10 MB in 900 ms.
        let alone = of(told, None);
        assert_eq!(
            (alone.transfer.rate().map(f64::round), alone.unread),
            (Some(88_888_889.0), Duration::ZERO)
        );
        // 10 ms late: the page's measurement, 9 MB in 500 ms.
        assert_eq!(of(Transfer { took: ms(550), ..told }, None).transfer.rate(), Some(144e6));
        assert_eq!(of(Transfer { took: ms(840), ..told }, Some(&own)).unread, Duration::ZERO);
    }

    #[test]
    fn datagrams_that_a_page_counted_are_loss_and_a_reason_is_none() {
        let counted = told_with("", r#"{"sent": 1000, "came_back": 990}"#).unwrap();
        assert_eq!(counted.loss, Loss::of(1000, 990).ok());
        assert_eq!(counted.loss.map(|loss| loss.ratio), Some(0.01));
        let why = |loss: &str| {
            let outcome = told_with("", loss).unwrap();
            assert_eq!(outcome.loss, None);
            outcome.missing.into_iter().find(|missing| missing.what == "loss").unwrap().why
        };
        assert_eq!(why(r#"{"why": "WebRTC is switched off"}"#), "WebRTC is switched off");
        assert!(why(r#"{"sent": 1000, "came_back": 0}"#).contains("UDP to this port is blocked"));
        assert!(why("null").contains("ended before"));
        for loss in [
            r#"{"sent": 10, "came_back": 11}"#.to_owned(),
            r#"{"sent": 10001, "came_back": 1}"#.to_owned(),
            r#"{"sent": -1, "came_back": 1}"#.to_owned(),
            format!(r#"{{"why": "{}"}}"#, "x".repeat(201)),
            r#"{"why": "a\nb"}"#.to_owned(),
        ] {
            assert!(told_with("", &loss).is_err(), "{loss}");
        }
    }

    #[test]
    fn what_cannot_be_is_not_taken() {
        for body in [
            r#"{"bytes": 1, "behind_first": 2, "over_ms": 1, "took_ms": 1}"#,
            r#"{"bytes": 2, "behind_first": 1, "over_ms": -1, "took_ms": 1}"#,
            r#"{"bytes": 2, "behind_first": 1, "over_ms": 1, "took_ms": 1e300}"#,
            r#"{"bytes": 2}"#,
        ] {
            assert!(told(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_page_gets_the_steps_that_it_can_make() {
        let written = serde_json::to_value(Written::of(&Plan::quick())).unwrap();
        assert_eq!(written["steps"][0], serde_json::json!({"kind": "warm_up", "bytes": 100_000}));
        assert_eq!(written["steps"][2]["kind"], "download");
        assert_eq!(written["steps"].as_array().unwrap().len(), Plan::quick().steps.len());
        assert_eq!(written["probe_every_ms"], 200.0);
    }
}
