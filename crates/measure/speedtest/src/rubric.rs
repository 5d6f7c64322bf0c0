//! AIM: points for measured values, and classes of suitability from points. The rubric is data with
//! a version.
//!
//! Missing values turn a score into a range: a test without latency under load must not get the
//! best class.

mod score;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::score::{Class, Reason, Score, Scores};

/// Measured values of a line. Values that were not measured are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measured {
    /// Bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_bps: Option<f64>,
    /// Bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_bps: Option<f64>,
    /// Idle latency, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<f64>,
    /// Latency during downloads, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_down_ms: Option<f64>,
    /// Latency during uploads, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_up_ms: Option<f64>,
    /// Mean difference of consecutive latency samples, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
    /// Share of lost packets, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
}

/// A scored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The rate of downloads.
    Download,
    /// The rate of uploads.
    Upload,
    /// Idle latency.
    Latency,
    /// Increase of the latency under load, in the worse direction.
    LoadedIncrease,
    /// Jitter.
    Jitter,
    /// Packet loss.
    Loss,
}

/// Maps a figure to points: `points[n]`, where n is the number of `cuts` that the figure reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuts {
    /// Ascending, in the unit of the input.
    pub cuts: &'static [f64],
    /// One element more than `cuts`.
    pub points: &'static [i32],
}

/// An application of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experience {
    /// The inputs scored for it.
    pub inputs: &'static [Input],
    /// The minimum points of the classes poor, average, good and great.
    pub classes: [i32; 4],
}

/// The rules from figures to scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rubric {
    /// The version, which results contain.
    pub version: &'static str,
    /// For packet loss, percent.
    pub loss: Cuts,
    /// For latency and its increase, ms.
    pub latency: Cuts,
    /// For jitter, ms.
    pub jitter: Cuts,
    /// For both directions, Mbit/s.
    pub bandwidth: Cuts,
    /// Video streaming.
    pub streaming: Experience,
    /// Gaming.
    pub gaming: Experience,
    /// Real-time calls and meetings.
    pub rtc: Experience,
}

impl Rubric {
    /// The published cuts of AIM. The published example (25, 15, 15 and 45, 35, 35 points) is of
    /// another version: it requires 15 points for latency under load, which these cuts never yield.
    pub const AIM: Self = Self {
        version: "aim/2",
        loss: Cuts { cuts: &[1.0, 5.0, 25.0, 50.0], points: &[10, 5, 0, -10, -20] },
        latency: Cuts { cuts: &[10.0, 20.0, 50.0, 100.0, 500.0], points: &[20, 10, 5, 0, -10, -20] },
        jitter: Cuts { cuts: &[10.0, 20.0, 100.0, 500.0], points: &[10, 5, 0, -10, -20] },
        bandwidth: Cuts { cuts: &[1.0, 10.0, 50.0, 100.0], points: &[0, 5, 10, 20, 30] },
        streaming: Experience {
            inputs: &[Input::Latency, Input::Loss, Input::Download, Input::LoadedIncrease],
            classes: [15, 20, 40, 60],
        },
        gaming: Experience {
            inputs: &[Input::Latency, Input::Loss, Input::LoadedIncrease],
            classes: [5, 15, 25, 30],
        },
        rtc: Experience {
            inputs: &[Input::Latency, Input::Jitter, Input::Loss, Input::LoadedIncrease],
            classes: [5, 15, 25, 40],
        },
    };

    /// The cuts of an input.
    pub fn cuts(&self, input: Input) -> Cuts {
        match input {
            Input::Download | Input::Upload => self.bandwidth,
            Input::Latency | Input::LoadedIncrease => self.latency,
            Input::Jitter => self.jitter,
            Input::Loss => self.loss,
        }
    }

    /// Scores all applications.
    pub fn score(&self, measured: &Measured) -> Scores {
        Scores {
            streaming: Score::of(self, &self.streaming, measured),
            gaming: Score::of(self, &self.gaming, measured),
            rtc: Score::of(self, &self.rtc, measured),
        }
    }
}

impl Cuts {
    /// The points of a figure.
    pub fn points(&self, figure: f64) -> i32 {
        let reached = self.cuts.iter().filter(|cut| figure >= **cut).count();
        self.points[reached]
    }

    fn least(&self) -> i32 {
        self.points.iter().copied().min().unwrap_or(0)
    }

    fn most(&self) -> i32 {
        self.points.iter().copied().max().unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Known {
    Is(f64),
    /// Only one of two directions was measured.
    AtLeast(f64),
    Nothing,
}

impl Measured {
    pub(crate) fn known(&self, input: Input) -> Known {
        let is = |figure: Option<f64>| figure.map_or(Known::Nothing, Known::Is);
        match input {
            Input::Download => is(self.download_bps.map(|bps| bps / 1e6)),
            Input::Upload => is(self.upload_bps.map(|bps| bps / 1e6)),
            Input::Latency => is(self.idle_ms),
            Input::LoadedIncrease => self.loaded_increase(),
            Input::Jitter => is(self.jitter_ms),
            Input::Loss => is(self.loss_ratio.map(|ratio| ratio * 100.0)),
        }
    }

    /// The increase of the round-trip time under load in the worse direction, ms; `None` unless
    /// measured in both.
    pub fn added_ms(&self) -> Option<f64> {
        match self.loaded_increase() {
            Known::Is(ms) => Some(ms),
            Known::AtLeast(_) | Known::Nothing => None,
        }
    }

    fn loaded_increase(&self) -> Known {
        let Some(idle) = self.idle_ms else { return Known::Nothing };
        let more = |loaded: f64| (loaded - idle).max(0.0);
        match (self.loaded_down_ms, self.loaded_up_ms) {
            (Some(down), Some(up)) => Known::Is(more(down.max(up))),
            (Some(one), None) | (None, Some(one)) => Known::AtLeast(more(one)),
            (None, None) => Known::Nothing,
        }
    }

    /// Checks that all values are possible: no negative figure, no share above 1.
    ///
    /// # Errors
    ///
    /// The invalid field, and the reason.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let fields = [
            ("download_bps", self.download_bps),
            ("upload_bps", self.upload_bps),
            ("idle_ms", self.idle_ms),
            ("loaded_down_ms", self.loaded_down_ms),
            ("loaded_up_ms", self.loaded_up_ms),
            ("jitter_ms", self.jitter_ms),
            ("loss_ratio", self.loss_ratio),
        ];
        let wrong =
            fields.into_iter().find(|(_, figure)| figure.is_some_and(|it| !(0.0..=1e15).contains(&it)));
        if let Some((field, _)) = wrong {
            return Err((field, "it is negative or too large"));
        }
        if self.loss_ratio.is_some_and(|ratio| ratio > 1.0) {
            return Err(("loss_ratio", "a share is from 0 to 1, and 5 % is 0.05"));
        }
        Ok(())
    }
}
