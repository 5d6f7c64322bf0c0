//! What a test came to, as one document: `longhaul speed test --json`.

mod reported;

use std::time::Duration;

use experience::share_interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    bandwidth::{Bandwidth, Transfer},
    latency::{Latency, Sample, round_trip},
    limited::Limits,
    plan::Direction,
    responsiveness::{Probes, Responsiveness},
    rubric::{Measured, Rubric, Scores},
    sentence::sentence,
};

pub use self::reported::{Implausible, LARGEST};

/// The name of its schema.
pub const SCHEMA: &str = "longhaul.speed/1";

/// A whole test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// By this name the schema is found.
    pub schema: String,
    /// What was tested against.
    pub url: String,
    /// When it began, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub took_s: f64,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Requests at once in each transfer.
    pub streams: u32,
    /// Where the server is.
    #[serde(default)]
    pub server: Option<String>,
    /// To the client.
    pub download: Bandwidth,
    /// To the server.
    pub upload: Bandwidth,
    /// There and back.
    pub latency: Latency,
    /// Datagrams that did not come back. Null if that was not measured.
    pub loss: Option<Loss>,
    /// What it is good for, and the reason for each point.
    pub scores: Scores,
    /// By which rubric.
    pub rubric: String,
    /// Round trips a minute with the line full.
    pub rpm: Responsiveness,
    /// The same in words.
    pub sentence: String,
    /// What was not measured, and why.
    pub missing: Vec<Missing>,
    /// Whether somebody ended the test before its end.
    #[serde(default)]
    pub interrupted: bool,
}

/// Datagrams that the server was to send back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// How many were sent.
    pub sent: u32,
    /// How many did not come back in time.
    pub lost: u32,
    /// Their share.
    pub ratio: f64,
    /// The share of this line is not below this with a confidence of 95 %, if losses are independent of each other.
    #[serde(default)]
    pub low: f64,
    /// Nor above this.
    #[serde(default)]
    pub high: f64,
}

/// Something that a test did not measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// By its name in the result: "download", "loss", "rpm", ...
    pub what: String,
    /// Why, and what it would take.
    pub why: String,
}

impl Loss {
    /// Of so many that were sent and came back.
    ///
    /// # Errors
    /// If none did: a line on which a test over TCP works does not lose all.
    pub fn of(sent: u32, came_back: u32) -> Result<Self, &'static str> {
        if came_back == 0 {
            return Err("no datagram came back: something between lets no UDP through to this port");
        }
        let lost = sent.saturating_sub(came_back);
        let (low, high) = share_interval(lost.into(), sent.into());
        Ok(Self { sent, lost, ratio: f64::from(lost) / f64::from(sent.max(1)), low, high })
    }
}

impl Missing {
    /// Something, and why.
    pub fn new(what: &str, why: impl Into<String>) -> Self {
        Self { what: what.to_owned(), why: why.into() }
    }
}

/// What scores come from, and what they come to: `longhaul speed score --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The figures.
    pub measured: Measured,
    /// What they are good for, and the reason for each point.
    pub scores: Scores,
    /// By which rubric.
    pub rubric: String,
    /// The same in words.
    pub sentence: String,
}

impl Judgement {
    /// Of figures that somebody has.
    pub fn of(measured: Measured) -> Self {
        let scores = Rubric::AIM.score(&measured);
        let sentence = sentence(&measured, &scores);
        Self { measured, scores, rubric: Rubric::AIM.version.to_owned(), sentence }
    }
}

impl Outcome {
    /// The figures that scores come from.
    pub fn measured(&self) -> Measured {
        measured(&self.download, &self.upload, &self.latency, self.loss)
    }
}

/// What a test has seen, before anything was made of it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// What was tested against.
    pub url: String,
    /// When it began, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub took_s: f64,
    /// The plan's name.
    pub plan: String,
    /// "http/1.1", "h2" or "h3".
    pub protocol: String,
    /// Requests at once in each transfer.
    pub streams: u32,
    /// Where the server is.
    pub server: Option<String>,
    /// The transfers of each [`Direction`].
    pub transfers: [Vec<Transfer>; 2],
    /// Who limited them, where somebody saw it.
    pub limits: [Option<Limits>; 2],
    /// All looks at the latency.
    pub latencies: Vec<Sample>,
    /// What probes took while a direction was full.
    pub probes: [Probes; 2],
    /// Lost datagrams, or why they were not counted.
    pub loss: Option<Result<Loss, String>>,
    /// Whether somebody ended it before its end.
    pub interrupted: bool,
}

impl Seen {
    /// What it comes to.
    pub fn conclude(mut self) -> Outcome {
        let mut missing = Vec::new();
        let latency = Latency::of(std::mem::take(&mut self.latencies));
        let round_trip = round_trip(&latency.samples);
        let [download, upload] =
            Direction::BOTH.map(|direction| self.bandwidth(direction, round_trip, &mut missing));
        let loaded = [(latency.loaded_down_ms, "loaded_down_ms"), (latency.loaded_up_ms, "loaded_up_ms")];
        for (_, name) in loaded.into_iter().filter(|(figure, _)| figure.is_none()) {
            let why = "no transfer took long enough for a look at the latency beside it";
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

    /// What a direction carries, and who limited it.
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

/// The figures that scores come from.
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
