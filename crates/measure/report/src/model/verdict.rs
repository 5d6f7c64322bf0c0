//! Which side is better, by how much, and how sure that is: the answers of a comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ci;

/// Which side is better, by several numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// Which side is faster. Absent unless at least two sides have answered requests.
    #[serde(flatten)]
    pub speed: Option<SpeedVerdicts>,
    /// Which side fails more. Absent if nothing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureVerdict>,
    /// The answer: which side is faster, and by how much; that it is undecided; or that all requests of a side failed.
    pub headline: String,
    /// How sure that is, for how many people, and how many page views were complete. Absent if none of that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<String>,
    /// Both together.
    pub sentence: String,
}

/// Which of the sides with answered requests is faster, by several numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedVerdicts {
    /// By the median request.
    pub median_request: Verdict,
    /// By the expected request latency.
    pub request: Verdict,
    /// By the mean wait of a person on the page: from real page views if all sides have them, else from the model of
    /// independent requests. `basis` tells which.
    pub experienced: Verdict,
    /// The verdict of the model of independent requests for the requested page, if real page views decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Verdict>,
}

/// The best side by one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Label of the side with the smaller number; absent for a tie, and where `within_own_error`. `certainty` tells whether to
    /// believe it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
    /// Its lead over the next best.
    pub difference_ms: f64,
    /// Whether the emulator's own error of the next best may be all of that lead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_own_error: bool,
    /// The same as a share of the next best's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// The confidence interval of that difference; its lower end is below 0 if the other side may be better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_ms: Option<Ci>,
    /// The share of requests (or page views) for which it is faster than the next best, if both draw one at random;
    /// ties count half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_better: Option<f64>,
    /// The confidence interval of that share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_better_ci: Option<[f64; 2]>,
    /// How sure it is that it is the better one, 0.5..=1. Corrected if several comparisons are made at once (Holm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
    /// The word for it. Absent without intervals, or for a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// How many times as many samples would decide it, if the difference stays the same. Absent if it is decided, or
    /// if the samples cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples_needed: Option<f64>,
    /// The source of people's waits. Absent for numbers of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

/// How sure a verdict is, in a word. It follows from `sure`, the level and the number of resamples only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The samples show it.
    Sure,
    /// Another seed might change it between sure and not sure.
    Borderline,
    /// At least 90 %.
    Likely,
    /// The samples do not decide.
    Undecided,
}

/// The source of people's waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Basis {
    /// Page views of the recordings, by their page ids.
    #[serde(rename = "observed pages")]
    ObservedPages,
    /// The slowest of as many independent requests as a page needs.
    #[serde(rename = "model")]
    Model,
}

/// Which side fails more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureVerdict {
    /// "page views" where all sides have page ids, else "requests".
    pub of: String,
    /// Label of the side that fails more often than chance explains (Fisher's exact test at the level of the
    /// intervals). Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// Label of the side that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub than: Option<String>,
    /// How sure it is.
    pub sure: f64,
    /// All shares as a sentence.
    pub sentence: String,
}

/// Two sides against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The one side.
    pub first: String,
    /// The other.
    pub second: String,
    /// By the expected request latency.
    pub request: Verdict,
    /// By the mean wait of a person on the page.
    pub experienced: Verdict,
}
