//! Determines whether the plain numbers of a log are seconds.
//!
//! Servers that log seconds write fractions; a whole number has another unit, as of Caddy's
//! `duration_format ms`, or is by chance a whole second. So a fraction anywhere in a file proves
//! seconds, and without one the user must specify the unit.

use crate::{Error, Place, Unit};

pub(super) struct Seconds {
    given: Option<Unit>,
    is_proven: bool,
    /// Whole numbers above 0, and where the first is.
    whole: u64,
    first: Option<(Place, String)>,
}

impl Seconds {
    /// With a unit that was given there is nothing to prove.
    pub(super) fn new(given: Option<Unit>) -> Self {
        Self { given, is_proven: false, whole: 0, first: None }
    }

    /// Assumed until the end of the file.
    pub(super) fn unit(&self) -> Unit {
        self.given.unwrap_or(Unit::S)
    }

    pub(super) fn prove(&mut self) {
        self.is_proven = true;
    }

    pub(super) fn look(&mut self, text: &str, place: impl FnOnce() -> Place) {
        if self.given.is_some() {
            return;
        }
        if text.contains(['.', 'e', 'E']) {
            self.prove();
        } else if text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
            self.whole += 1;
            self.first.get_or_insert_with(|| (place(), text.to_owned()));
        }
    }

    /// A warning, or an error if the unit cannot be known.
    pub(super) fn finish(self) -> Result<Option<String>, Error> {
        match self.first {
            None => Ok(None),
            Some((place, found)) if !self.is_proven => {
                Err(Error::Number { place, found, expected: FRACTION })
            }
            Some((place, _)) => Ok(Some(format!(
                "{} {} whole, the first in line {}: read as seconds, like the fractions next to {}. If the log's \
                 format changed meanwhile, give the unit (--unit).",
                self.whole,
                if self.whole == 1 { "duration is" } else { "durations are" },
                place.line,
                if self.whole == 1 { "it" } else { "them" },
            ))),
        }
    }
}

pub(super) const FRACTION: &str = "a fraction of seconds somewhere in the file, which proves the unit; without one give \
                                   the unit: --unit s, --unit ms, --unit us or --unit ns";

#[cfg(test)]
mod tests {
    use super::*;

    fn said(given: Option<Unit>, numbers: &[&str]) -> Result<Option<String>, String> {
        let mut seconds = Seconds::new(given);
        for (number, line) in numbers.iter().zip(1..) {
            seconds.look(number, || Place { path: "x".into(), line, column: 7 });
        }
        seconds.finish().map_err(|error| error.to_string())
    }

    #[test]
    fn only_a_fraction_proves_seconds() {
        assert_eq!(said(None, &["0.5", "0", "1.25"]), Ok(None));
        assert_eq!(said(None, &["0", "0"]), Ok(None));
        let error = said(None, &["0", "12", "40"]).unwrap_err();
        assert!(error.starts_with("x:2:7: found 12; expected a fraction of seconds"), "{error}");
        assert!(error.contains("--unit ms"), "{error}");
        assert_eq!(said(Some(Unit::Ms), &["12"]), Ok(None));
        for numbers in [["0.5", "3"], ["3", "0.5"]] {
            let warning = said(None, &numbers).unwrap().unwrap();
            assert!(warning.starts_with("1 duration is whole, the first in line "), "{warning}");
        }
    }
}
