//! Delays, searchable by time. Pure.

use crate::journal::Delay;

#[derive(Debug, Default)]
pub(super) struct Delays {
    all: Vec<Delay>,
    longest_ns: u64,
}

impl Delays {
    pub(super) fn new(mut all: Vec<Delay>) -> Self {
        all.sort_unstable_by_key(|delay| delay.from_ns);
        let longest_ns = all.iter().map(|delay| delay.until_ns - delay.from_ns).max().unwrap_or(0);
        Self { all, longest_ns }
    }

    pub(super) fn held(&self, [from, until]: [u64; 2]) -> u64 {
        let begin = self.all.partition_point(|delay| delay.from_ns < from.saturating_sub(self.longest_ns));
        let end = self.all.partition_point(|delay| delay.from_ns < until);
        let overlap = |delay: &Delay| delay.until_ns.min(until).saturating_sub(delay.from_ns.max(from));
        self.all[begin..end].iter().map(|delay| delay.delay_ns.min(overlap(delay))).sum()
    }
}
