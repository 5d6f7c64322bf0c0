//! A score with its reasons.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::show;

use super::{Experience, Input, Known, Measured, Rubric};

/// The suitability of a line for an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Not usable.
    Bad,
    /// Usable with patience.
    Poor,
    /// Usable.
    Average,
    /// Rarely a limitation.
    Good,
    /// Never a limitation.
    Great,
}

/// The suitability of a line for each application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Video streaming.
    pub streaming: Score,
    /// Gaming.
    pub gaming: Score,
    /// Real-time calls and meetings.
    pub rtc: Score,
}

/// Points for one application, and their class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// The guaranteed points; the exact points if nothing is missing.
    pub points: i32,
    /// The points if all missing inputs were as good as possible.
    pub points_at_best: i32,
    /// The maximum of any line.
    pub max: i32,
    /// The class of `points`.
    pub class: Class,
    /// The class of `points_at_best`.
    pub class_at_best: Class,
    /// Each input and its points.
    pub why: Vec<Reason>,
    /// Inputs that were not measured, or not in both directions.
    pub missing: Vec<Input>,
}

/// The points of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The input.
    pub input: Input,
    /// The figure in the unit of the rubric: Mbit/s, ms or percent. Null if not measured; if only one
    /// direction was measured, the lower bound.
    pub figure: Option<f64>,
    /// The points; their lower bound if the figure is missing.
    pub points: i32,
    /// The upper bound of the points.
    pub points_at_best: i32,
    /// The reason as text.
    pub text: String,
}

impl Score {
    pub(super) fn of(rubric: &Rubric, experience: &Experience, measured: &Measured) -> Self {
        let why: Vec<Reason> = experience
            .inputs
            .iter()
            .map(|input| Reason::of(rubric, *input, measured.known(*input)))
            .collect();
        let missing =
            why.iter().filter(|reason| reason.points != reason.points_at_best || reason.figure.is_none());
        let missing = missing.map(|reason| reason.input).collect();
        let sum = |of: fn(&Reason) -> i32| why.iter().map(of).sum::<i32>().max(0);
        let (points, points_at_best) = (sum(|reason| reason.points), sum(|reason| reason.points_at_best));
        Self {
            points,
            points_at_best,
            max: experience.inputs.iter().map(|input| rubric.cuts(*input).most()).sum(),
            class: class(experience, points),
            class_at_best: class(experience, points_at_best),
            why,
            missing,
        }
    }

    /// "good", or "poor to good".
    pub fn class_in_words(&self) -> String {
        if self.class == self.class_at_best {
            self.class.to_string()
        } else {
            format!("{} to {}", self.class, self.class_at_best)
        }
    }

    /// "35", or "15 to 35".
    pub fn points_in_words(&self) -> String {
        if self.points == self.points_at_best {
            self.points.to_string()
        } else {
            format!("{} to {}", self.points, self.points_at_best)
        }
    }
}

impl Reason {
    fn of(rubric: &Rubric, input: Input, known: Known) -> Self {
        let cuts = rubric.cuts(input);
        let (figure, least, most) = match known {
            Known::Is(figure) => (Some(figure), cuts.points(figure), cuts.points(figure)),
            Known::AtLeast(figure) => (Some(figure), cuts.least(), cuts.points(figure)),
            Known::Nothing => (None, cuts.least(), cuts.most()),
        };
        let text = match known {
            Known::Is(figure) => format!("{} {}: {}", input.in_words(), input.shown(figure), signed(least)),
            Known::AtLeast(figure) => format!(
                "{} at least {}, as only one direction was measured: {} to {}",
                input.in_words(),
                input.shown(figure),
                signed(least),
                signed(most)
            ),
            Known::Nothing => {
                format!("{} was not measured: {} to {}", input.in_words(), signed(least), signed(most))
            }
        };
        Self { input, figure, points: least, points_at_best: most, text }
    }
}

impl Input {
    /// The name in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
            Self::Latency => "idle latency",
            Self::LoadedIncrease => "added latency under load",
            Self::Jitter => "jitter",
            Self::Loss => "packet loss",
        }
    }

    fn shown(self, figure: f64) -> String {
        match self {
            Self::Download | Self::Upload => show::rate(figure * 1e6),
            Self::Latency | Self::LoadedIncrease | Self::Jitter => show::time(figure / 1e3),
            Self::Loss => show::percent(figure),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bad => "bad",
            Self::Poor => "poor",
            Self::Average => "average",
            Self::Good => "good",
            Self::Great => "great",
        })
    }
}

fn class(experience: &Experience, points: i32) -> Class {
    let reached = experience.classes.iter().filter(|from| points >= **from).count();
    [Class::Bad, Class::Poor, Class::Average, Class::Good, Class::Great][reached]
}

fn signed(points: i32) -> String {
    format!("{points:+}").replace("+0", "0").replace('-', "\u{2212}")
}
