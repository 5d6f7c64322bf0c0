//! The result document of a test: `longhaul speed test --json`.

mod reported;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistics::share_interval;

use crate::{
    bandwidth::{Bandwidth, Transfer},
    bottleneck::Limits,
    latency::{Latency, Sample, round_trip},
    plan::Direction,
    responsiveness::{Probes, Responsiveness},
    rubric::{Measured, Rubric, Scores},
    summary_text::sentence,
};

pub use self::reported::{Implausible, LARGEST};

/// The name of its schema.
pub const SCHEMA: &str = "longhaul.speed/1";

/// The result of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Identifies the schema.
    pub schema: String,
    /// The server's URL.
    pub url: String,
    /// Start of the test, UTC.
    pub started: String,
    /// Duration, s.
    pub took_s: f64,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Concurrent requests in each transfer.
    pub streams: u32,
    /// Address of the server.
    #[serde(default)]
    pub server: Option<String>,
    /// Towards the client.
    pub download: Bandwidth,
    /// Towards the server.
    pub upload: Bandwidth,
    /// Round-trip times.
    pub latency: Latency,
    /// Datagram loss. Null if not measured.
    pub loss: Option<Loss>,
    /// The suitability for applications, with a reason for each point.
    pub scores: Scores,
    /// The version of the rubric.
    pub rubric: String,
    /// Round trips per minute under load.
    pub rpm: Responsiveness,
    /// The suitability as text.
    pub sentence: String,
    /// Values that were not measured, with reasons.
    pub missing: Vec<Missing>,
    /// Whether the user stopped the test early.
    #[serde(default)]
    pub interrupted: bool,
}

/// Loss of datagrams that the server echoes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// Number of datagrams sent.
    pub sent: u32,
    /// Number of datagrams that did not return in time.
    pub lost: u32,
    /// Share of lost datagrams.
    pub ratio: f64,
    /// Lower bound of the 95 % confidence interval of the line's loss, if losses are independent.
    #[serde(default)]
    pub low: f64,
    /// Upper bound of it.
    #[serde(default)]
    pub high: f64,
}

/// A value that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Its name in the result: "download", "loss", "rpm", ...
    pub what: String,
    /// The reason, and how to measure it.
    pub why: String,
}

impl Loss {
    /// The loss for these numbers of sent and returned datagrams.
    ///
    /// # Errors
    ///
    /// No datagram returned: a line that carries TCP does not lose all datagrams.
    pub fn of(sent: u32, came_back: u32) -> Result<Self, &'static str> {
        if came_back == 0 {
            return Err("no datagram returned: UDP to this port is blocked on the path");
        }
        let lost = sent.saturating_sub(came_back);
        let (low, high) = share_interval(lost.into(), sent.into());
        Ok(Self { sent, lost, ratio: f64::from(lost) / f64::from(sent.max(1)), low, high })
    }
}

impl Missing {
    /// A value and the reason.
    pub fn new(what: &str, why: impl Into<String>) -> Self {
        Self { what: what.to_owned(), why: why.into() }
    }
}

/// Figures and their scores: `longhaul speed score --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The figures.
    pub measured: Measured,
    /// The suitability for applications, with a reason for each point.
    pub scores: Scores,
    /// The version of the rubric.
    pub rubric: String,
    /// The suitability as text.
    pub sentence: String,
}

impl Judgement {
    /// Scores the given figures.
    pub fn of(measured: Measured) -> Self {
        let scores = Rubric::AIM.score(&measured);
        let sentence = sentence(&measured, &scores);
        Self { measured, scores, rubric: Rubric::AIM.version.to_owned(), sentence }
    }
}

impl Outcome {
    /// The figures used for scores.
    pub fn measured(&self) -> Measured {
        measured(&self.download, &self.upload, &self.latency, self.loss)
    }
}

/// The raw measurements of a test.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The server's URL.
    pub url: String,
    /// Start of the test, UTC.
    pub started: String,
    /// Duration, s.
    pub took_s: f64,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Concurrent requests in each transfer.
    pub streams: u32,
    /// Address of the server.
    pub server: Option<String>,
    /// The transfers of each [`Direction`].
    pub transfers: [Vec<Transfer>; 2],
    /// Limits of the transfers, if measured.
    pub limits: [Option<Limits>; 2],
    /// All latency samples.
    pub latencies: Vec<Sample>,
    /// Durations of probes during load in each direction.
    pub probes: [Probes; 2],
    /// Datagram loss, or the reason why it was not measured.
    pub loss: Option<Result<Loss, String>>,
    /// Whether the user stopped the test early.
    pub interrupted: bool,
}

impl Seen {
    /// Computes the result.
    pub fn conclude(mut self) -> Outcome {
        let mut missing = Vec::new();
        let latency = Latency::of(std::mem::take(&mut self.latencies));
        let round_trip = round_trip(&latency.samples);
        let [download, upload] =
            Direction::BOTH.map(|direction| self.bandwidth(direction, round_trip, &mut missing));
        let loaded = [(latency.loaded_down_ms, "loaded_down_ms"), (latency.loaded_up_ms, "loaded_up_ms")];
        for (_, name) in loaded.into_iter().filter(|(figure, _)| figure.is_none()) {
            let why = "no transfer took long enough to measure the latency during it";
            missing.push(Missing::new(&format!("latency.{name}"), why));
        }
        let loss =
            self.loss.unwrap_or_else(|| Err("the test had no step for it, or ended before".to_owned()));
        let loss = loss.map_err(|why| missing.push(Missing::new("loss", why))).ok();
        let [down, up] = &self.probes;
        let rpm = Responsiveness::of(down, up);
        missing.extend(rpm.missing.map(|why| Missing::new("rpm", why)));
        let figures = measured(&download, &upload, &latency, loss);
        let scores = Rubric::AIM.score(&figures);
        Outcome {
            schema: SCHEMA.to_owned(),
            url: self.url,
            started: self.started,
            took_s: self.took_s,
            plan: self.plan,
            protocol: self.protocol,
            streams: self.streams,
            server: self.server,
            sentence: sentence(&figures, &scores),
            download,
            upload,
            latency,
            loss,
            scores,
            rubric: Rubric::AIM.version.to_owned(),
            rpm,
            missing,
            interrupted: self.interrupted,
        }
    }

    fn bandwidth(
        &self,
        direction: Direction,
        round_trip: Option<Duration>,
        missing: &mut Vec<Missing>,
    ) -> Bandwidth {
        let transfers = &self.transfers[direction as usize];
        let found = Bandwidth::of(transfers, round_trip);
        missing.extend(found.missing.map(|why| Missing::new(direction.name(), why)));
        let limits = self.limits[direction as usize];
        if limits.is_none() && !transfers.is_empty() {
            let why = match direction {
                _ if self.protocol == "h3" => "kernels tell of TCP's connections, and HTTP/3 has none",
                Direction::Download => "the server's kernel did not tell",
                Direction::Upload => "the kernel of the machine that sent it did not tell",
            };
            missing.push(Missing::new(&format!("{direction}.limited_by"), why));
        }
        Bandwidth { limits, limited_by: limits.map(|limits| limits.most().to_owned()), ..found }
    }
}

fn measured(download: &Bandwidth, upload: &Bandwidth, latency: &Latency, loss: Option<Loss>) -> Measured {
    Measured {
        download_bps: download.bps_p90,
        upload_bps: upload.bps_p90,
        idle_ms: latency.idle_ms.map(|idle| idle.p50),
        loaded_down_ms: latency.loaded_down_ms,
        loaded_up_ms: latency.loaded_up_ms,
        jitter_ms: latency.jitter_ms,
        loss_ratio: loss.map(|loss| loss.ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_no_loss_of_all() {
        let loss = Loss::of(200, 150).unwrap();
        assert_eq!((loss.sent, loss.lost, loss.ratio), (200, 50, 0.25));
        // From scipy: binomtest(50, 200).proportion_ci(method="wilson").
        assert!((loss.low - 0.195_081_7).abs() < 1e-6 && (loss.high - 0.314_341_0).abs() < 1e-6, "{loss:?}");
        assert!(Loss::of(200, 0).unwrap_err().contains("UDP"));
    }
}
