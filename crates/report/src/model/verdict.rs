//! Who is better, by how much, and how sure that is: the answers of a comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ci;

/// Who is better at what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// By the median request.
    pub median_request: Verdict,
    /// By the expected request latency.
    pub request: Verdict,
    /// By what a person on the page waits on average: real page views where all sides have them, else the model of
    /// independent requests. `basis` says which.
    pub experienced: Verdict,
    /// What the model of independent requests says of the page that was asked for, where real page views decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Verdict>,
    /// Who fails more. Absent if nothing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureVerdict>,
    /// The answer: who is faster, and by how much; or that it is undecided.
    pub headline: String,
    /// How sure that is, for how many, and how many page views came whole. Absent if there is nothing to say of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<String>,
    /// Both together.
    pub sentence: String,
}

/// The best side by one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Label of the side with the smaller number; absent for a tie. Whether to believe it says `certainty`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
    /// By how much it beats the next best.
    pub difference_ms: f64,
    /// The same as a share of the next best's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// The confidence interval of that difference; its lower end is below 0 where the other may be better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_ms: Option<Ci>,
    /// The share of requests (or of page views) for which it is faster than the next best, if both draw one at random;
    /// ties count half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_better: Option<f64>,
    /// The confidence interval of that share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_better_ci: Option<[f64; 2]>,
    /// How sure it is that it is the better one, 0.5..=1. Where several comparisons are made at once, all of them are
    /// allowed for (Holm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
    /// The word for it. Absent if there are no intervals, or for a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// How many times as many samples would decide it, were the difference as it is. Absent if it is decided, or if the
    /// samples cannot say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples_needed: Option<f64>,
    /// What people's waits were taken from. Absent for numbers of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

/// How sure a verdict is, in a word. It follows from `sure`, the level and the number of resamples alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The samples show it.
    Sure,
    /// Another seed might make it sure, or not.
    Borderline,
    /// At least 90 %.
    Likely,
    /// The samples do not say.
    Undecided,
}

/// What people's waits are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Basis {
    /// Page views of the recordings, by their page ids.
    #[serde(rename = "observed pages")]
    ObservedPages,
    /// The slowest of as many independent requests as a page needs.
    #[serde(rename = "model")]
    Model,
}

/// Who fails more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureVerdict {
    /// "page views" where all sides have page ids, else "requests".
    pub of: String,
    /// Label of the side that fails more often beyond chance (Fisher's exact test at the level of the intervals). Absent
    /// if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// Label of the side that it is held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub than: Option<String>,
    /// How sure that is.
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
    /// By what a person on the page waits on average.
    pub experienced: Verdict,
}
