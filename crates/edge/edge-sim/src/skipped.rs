//! Counters of requests that a simulation skips, by reason.

use units::show::plural;

/// Numbers of skipped requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Methods other than GET.
    pub method: u64,
    /// Statuses other than 200, and failures.
    pub status: u64,
    /// Requests of other zones.
    pub zone: u64,
    /// Requests without a URL.
    pub url: u64,
    /// Requests without a time.
    pub time: u64,
    /// Requests without a size.
    pub size: u64,
}

impl LeftOut {
    /// The total number.
    pub fn total(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }

    /// A summary, such as "5 requests: 3 with another status than 200, 2 of another zone"; empty if
    /// no requests were skipped.
    pub fn sentence(&self) -> String {
        let reasons = self.reasons().into_iter().filter(|(_, count)| *count > 0);
        let reasons: Vec<_> =
            reasons.map(|(reason, count)| format!("{} {reason}", units::show::count(count))).collect();
        match reasons.as_slice() {
            [] => String::new(),
            reasons => format!("{}: {}", plural(self.total(), "request"), reasons.join(", ")),
        }
    }

    fn reasons(&self) -> [(&'static str, u64); 6] {
        [
            ("with another method than GET", self.method),
            ("with another status than 200", self.status),
            ("of another zone", self.zone),
            ("without a URL", self.url),
            ("without a time", self.time),
            ("without a size", self.size),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_named_with_their_counts() {
        assert_eq!(LeftOut::default().sentence(), "");
        let left_out = LeftOut { status: 3, size: 1200, ..LeftOut::default() };
        assert_eq!(
            left_out.sentence(),
            "1 203 requests: 3 with another status than 200, 1 200 without a size"
        );
    }
}
