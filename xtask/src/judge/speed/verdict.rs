//! How far a figure is from the truth, and whether that is near enough.

use std::fmt;

/// What is to be found.
pub(super) struct Truth {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) is: f64,
    /// How far from that a figure may be, either way.
    pub(super) within: f64,
}

/// All that was judged.
pub(super) struct Verdicts {
    good: usize,
    missed: Vec<String>,
    /// Of planets that were not what they should be.
    invalid: usize,
}

impl Verdicts {
    /// Writes the table's head.
    pub(super) fn begin() -> Self {
        println!(
            "| link | what | is | found | off | may be | |\n| --- | --- | --- | --- | --- | --- | --- |"
        );
        Self { good: 0, missed: Vec::new(), invalid: 0 }
    }

    /// Judges a figure of a test over this link; `doubts` say why the planet itself was not good enough, `note` what the test says of it.
    pub(super) fn judge(
        &mut self,
        link: &str,
        truth: &Truth,
        found: Option<f64>,
        doubts: &[String],
        note: &str,
    ) {
        let Truth { what, unit, is, within } = truth;
        let off = found.map(|found| found - is);
        let is_good = off.is_some_and(|off| off.abs() <= *within);
        let verdict = if !doubts.is_empty() {
            self.invalid += 1;
            format!("INVALID: {}", doubts.join("; "))
        } else if is_good {
            self.good += 1;
            "good".to_owned()
        } else {
            self.missed.push(format!("{link}: {what}"));
            "MISSED".to_owned()
        };
        let shown =
            |number: Option<f64>| number.map_or("not measured".to_owned(), |number| format!("{number:.4}"));
        println!(
            "| {link} | {what}, {unit} | {is:.4} | {} | {} | ±{within:.4} | {verdict}{note} |",
            shown(found),
            shown(off)
        );
    }

    /// Whether nothing was missed, and something was judged.
    pub(super) fn are_good(&self) -> bool {
        self.missed.is_empty() && self.good > 0
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { good, missed, invalid } = self;
        write!(f, "{good} good, {} missed, {invalid} INVALID", missed.len())?;
        missed.iter().try_for_each(|missed| write!(f, "\nmissed: {missed}"))
    }
}
