//! The order of measurements, and when the last of them ends. Pure.

use std::{collections::BTreeMap, time::Duration};

use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use crate::kind::Measurement;

#[derive(Debug, Clone, Copy)]
struct Step<'s> {
    side: &'s str,
    after: Option<&'s str>,
    lasts: Duration,
}

/// Fails if a measurement waits for a side that is missing or never ends.
pub(super) fn check(measurements: &[Measurement], document: &Document) -> Result<Duration, Diagnostic> {
    let all = || measurements.iter().map(Measurement::measures);
    let mut afters = all().filter_map(|one| one.after());
    let sides = || all().map(|one| one.side());
    if let Some(unknown) = afters.clone().find(|after| !sides().any(|side| side == after.get_ref())) {
        let hint = suggestion(unknown.get_ref(), sides());
        let message = format!("nothing measures the side \"{}\"{hint}", unknown.get_ref());
        return Err(document.mistake(unknown.span(), message));
    }
    let steps: Vec<Step<'_>> = all()
        .map(|one| Step {
            side: one.side(),
            after: one.after().map(|after| after.get_ref().as_str()),
            lasts: one.lasts(),
        })
        .collect();
    duration(&steps).map_err(|side| {
        let span = afters.find(|after| after.get_ref() == side).map_or(0..0, Spanned::span);
        document
            .mistake(span, format!("\"{side}\" never ends, because it waits for a side that waits for it"))
    })
}

/// Relative to the start of the first.
///
/// # Errors
/// A side that never ends because of circular waiting.
fn duration<'s>(steps: &[Step<'s>]) -> Result<Duration, &'s str> {
    let mut ends: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut unsettled = None;
    // An end is settled one round after the ends on which it depends. In a cycle, ends grow in
    // every round.
    for _ in 0..=steps.len() {
        unsettled = None;
        for step in steps {
            let begins = step.after.and_then(|after| ends.get(after).copied()).unwrap_or_default();
            let end = begins.saturating_add(step.lasts);
            if ends.get(step.side).is_none_or(|known| *known < end) {
                ends.insert(step.side, end);
                unsettled = unsettled.or(step.after);
            }
        }
    }
    unsettled.map_or_else(|| Ok(ends.into_values().max().unwrap_or_default()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(steps: &[(&'static str, Option<&'static str>, u64)]) -> Result<u64, &'static str> {
        let step = |&(side, after, seconds)| Step { side, after, lasts: Duration::from_secs(seconds) };
        duration(&steps.iter().map(step).collect::<Vec<_>>()).map(|duration| duration.as_secs())
    }

    #[test]
    fn what_waits_begins_at_the_end_of_all_that_it_waits_for() {
        assert_eq!(of(&[]), Ok(0));
        assert_eq!(of(&[("a", None, 5), ("b", None, 3)]), Ok(5));
        // In any order of the file: a takes 5 s, then b 3 s, then c 2 s.
        for steps in [
            [("a", None, 5), ("a", None, 4), ("b", Some("a"), 3), ("c", Some("b"), 2)],
            [("c", Some("b"), 2), ("b", Some("a"), 3), ("a", None, 4), ("a", None, 5)],
        ] {
            assert_eq!(of(&steps), Ok(10));
        }
        assert_eq!(of(&[("a", None, 5), ("b", None, 9), ("b", Some("a"), 3)]), Ok(9));
    }

    #[test]
    fn a_circle_never_ends() {
        assert_eq!(of(&[("a", Some("a"), 5)]), Err("a"));
        assert_eq!(of(&[("a", None, 5), ("a", Some("b"), 5), ("b", Some("a"), 3)]), Err("b"));
        assert_eq!(
            of(&[("x", None, 1), ("c", Some("a"), 1), ("a", Some("b"), 1), ("b", Some("c"), 1)]),
            Err("a")
        );
    }
}
