//! Recordings in which every request failed: they have no latency and are compared by their
//! failures.

use recording::{Error, Series};
use report::Unanswered;

pub(super) fn unanswered(
    number: usize,
    label: Option<&str>,
    error: anyhow::Error,
) -> anyhow::Result<Unanswered> {
    match error.downcast_ref() {
        Some(Error::AllFailed { failed, label: own, format, .. }) => Ok(Unanswered {
            place: number,
            label: label.unwrap_or(own).to_owned(),
            format: (*format).to_owned(),
            failed: *failed,
        }),
        _ => Err(error),
    }
}

/// Labels that are derived from file names may be equal by chance and are not merged.
pub(super) fn together(failed: Vec<(bool, Unanswered)>, answered: &mut [(usize, Series)]) -> Vec<Unanswered> {
    let mut all: Vec<Unanswered> = Vec::new();
    for (is_given, mut one) in failed {
        let with_answers = answered.iter_mut().find(|(_, side)| is_given && side.label == one.label);
        let without = all.iter_mut().find(|side| is_given && side.label == one.label);
        match (with_answers, without) {
            (Some((_, side)), _) => side.add_failed(one.failed),
            (None, Some(side)) => side.failed += one.failed,
            (None, None) => {
                let before = answered.iter().filter(|(number, _)| *number < one.place).count();
                one.place = before + all.len();
                all.push(one);
            }
        }
    }
    all
}
