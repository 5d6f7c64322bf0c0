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

impl Truth {
    /// Whether what was found is too far from it, or nothing was.
    pub(super) fn is_missed(&self, found: Option<f64>) -> bool {
        found.is_none_or(|found| (found - self.is).abs() > self.within)
    }
}

/// Somebody else who looked at the same link.
pub(super) struct Peer {
    pub(super) who: &'static str,
    pub(super) found: f64,
}

/// All that was judged.
pub(super) struct Verdicts {
    good: usize,
    /// Not near enough, but others got no nearer over the same link.
    as_peer: usize,
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
        Self { good: 0, as_peer: 0, missed: Vec::new(), invalid: 0 }
    }

    /// Judges a figure of a test over this link; `doubts` say why the planet itself was not good enough, `note` what the test says of it, and
    /// `peer` what others found.
    pub(super) fn judge(
        &mut self,
        link: &str,
        truth: &Truth,
        found: Option<f64>,
        doubts: &[String],
        note: &str,
        peer: Option<Peer>,
    ) {
        let Truth { what, unit, is, within } = truth;
        let off = found.map(|found| found - is);
        let is_as_peer = peer.as_ref().zip(found).is_some_and(|(peer, found)| {
            // No further from it on the same side.
            if found < *is { found >= peer.found - within } else { found <= peer.found + within }
        });
        let verdict = if !doubts.is_empty() {
            self.invalid += 1;
            format!("INVALID: {}", doubts.join("; "))
        } else if !truth.is_missed(found) {
            self.good += 1;
            "good".to_owned()
        } else if is_as_peer {
            self.as_peer += 1;
            "as others".to_owned()
        } else {
            self.missed.push(format!("{link}: {what}"));
            "MISSED".to_owned()
        };
        let beside = peer.map_or_else(String::new, |Peer { who, found }| format!("; {who} found {found:.4}"));
        let shown =
            |number: Option<f64>| number.map_or("not measured".to_owned(), |number| format!("{number:.4}"));
        println!(
            "| {link} | {what}, {unit} | {is:.4} | {} | {} | ±{within:.4} | {verdict}{note}{beside} |",
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
        let Self { good, as_peer, missed, invalid } = self;
        write!(f, "{good} good, {as_peer} as others, {} missed, {invalid} INVALID", missed.len())?;
        missed.iter().try_for_each(|missed| write!(f, "\nmissed: {missed}"))
    }
}
