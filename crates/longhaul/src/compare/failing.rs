//! A side of which every request failed: it has no latency, and the verdict is about failures.

use std::{fmt, path::Path};

use experience::Failing;
use recording::Series;
use units::show::{count, share};

/// A side without an answered request.
pub(super) struct FailedSide {
    label: String,
    failed: u64,
}

/// The verdict on sides of which at least one has no answered request.
#[derive(Debug)]
pub(super) struct AllFailed(String);

impl std::error::Error for AllFailed {}

impl fmt::Display for AllFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The side of a recording that could not be read, if all its requests failed; or else the error.
pub(super) fn failed_side(
    label: Option<&str>,
    path: &Path,
    error: anyhow::Error,
) -> anyhow::Result<FailedSide> {
    match error.downcast_ref() {
        Some(&recording::Error::AllFailed { failed, .. }) => {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let label = label.map(str::to_owned).or(stem).unwrap_or_default();
            Ok(FailedSide { label, failed })
        }
        _ => Err(error),
    }
}

impl AllFailed {
    pub(super) fn new(failed: &[FailedSide], answered: &[Series]) -> Self {
        let mut sentences: Vec<String> = Vec::new();
        for side in failed {
            sentences.push(match side.failed {
                1 => format!("the only request of {} failed", side.label),
                all => format!("all {} requests of {} failed", count(all), side.label),
            });
        }
        for other in answered {
            let (other_failed, all) = (other.failed, other.values.count() + other.failed);
            let verdicts = failed.iter().map(|side| {
                let mine = Failing::independent(side.failed, side.failed);
                let sure = 1.0 - mine.chance_of_more(&Failing::independent(other_failed, all));
                format!("{} fails more often: {} sure", side.label, share(sure))
            });
            let verdicts: Vec<String> = verdicts.collect();
            sentences.push(format!(
                "of {} {} of {} failed ({})",
                other.label,
                count(other_failed),
                count(all),
                verdicts.join(", ")
            ));
        }
        sentences.push("latency is not compared".to_owned());
        Self(sentences.join("; "))
    }
}
