//! Compares a figure with the true value and its tolerance.

use std::fmt;

pub(super) struct Truth {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) is: f64,
    pub(super) within: f64,
}

impl Truth {
    pub(super) fn is_missed(&self, found: Option<f64>) -> bool {
        found.is_none_or(|found| (found - self.is).abs() > self.within)
    }
}

pub(super) struct Peer {
    pub(super) who: &'static str,
    pub(super) found: f64,
}

pub(super) struct Verdicts {
    good: usize,
    /// Outside the tolerance, but the peers were no closer on the same link.
    as_peer: usize,
    missed: Vec<String>,
    /// Results from planets that were not faithful.
    invalid: usize,
}

impl Verdicts {
    pub(super) fn begin() -> Self {
        println!(
            "| link | what | is | found | off | may be | |\n| --- | --- | --- | --- | --- | --- | --- |"
        );
        Self { good: 0, as_peer: 0, missed: Vec::new(), invalid: 0 }
    }

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
            // Our figure is at most `within` further from the true value than the peer's, in the same
            // direction.
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
        let beside =
            peer.map_or_else(String::new, |Peer { who, found }| format!("; {who} measured {found:.4}"));
        let shown =
            |number: Option<f64>| number.map_or("not measured".to_owned(), |number| format!("{number:.4}"));
        println!(
            "| {link} | {what}, {unit} | {is:.4} | {} | {} | ±{within:.4} | {verdict}{note}{beside} |",
            shown(found),
            shown(off)
        );
    }

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
