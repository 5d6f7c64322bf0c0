//! Start times of events: seconds since the file's time origin, and steps of its clock.

use crate::{Event, read::EPOCH_NS, unit::nanoseconds};

#[derive(Debug, Default)]
pub(super) struct Clock {
    /// What times count from: 0, or the first time if they are dates. Unknown before the first.
    base_ns: Option<u64>,
    latest_ns: u64,
    backwards: Option<Backwards>,
    is_mixed: bool,
}

#[derive(Debug)]
struct Backwards {
    count: u64,
    number: u64,
    by_s: f64,
}

impl Clock {
    /// From the base. Below 0 for a date before the first.
    pub(super) fn since(&mut self, event: &Event<'_>) -> Option<f64> {
        let started_ns = event.sample.started_ns?;
        let base = *self.base_ns.get_or_insert(if started_ns > EPOCH_NS { started_ns } else { 0 });
        self.is_mixed |= (base > 0) != (started_ns > EPOCH_NS);
        let distance = started_ns.abs_diff(base) as f64 / 1e9;
        Some(if started_ns >= base { distance } else { -distance })
    }

    /// Checks whether an event of this duration is in the expected order.
    pub(super) fn look(&mut self, event: &Event<'_>, value_ms: f64) {
        let Some(started_ns) = event.sample.started_ns else { return };
        // A program that writes an event at its end delays it by its latency at most.
        let ended_ns = started_ns.saturating_add(nanoseconds(value_ms)).saturating_add(LEEWAY_NS);
        if ended_ns < self.latest_ns {
            let by_s = (self.latest_ns - started_ns) as f64 / 1e9;
            self.backwards.get_or_insert(Backwards { count: 0, number: event.number, by_s }).count += 1;
        }
        self.latest_ns = self.latest_ns.max(started_ns);
    }

    pub(super) fn base_unix_s(&self) -> Option<f64> {
        self.base_ns.filter(|&base| base > 0).map(|base| base as f64 / 1e9)
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let backwards = self.backwards.as_ref().map(|Backwards { count, number, by_s }| {
            let start =
                if *count == 1 { "1 sample starts".to_owned() } else { format!("{count} samples start") };
            format!(
                "{start} long before its predecessor, the first (number {number}) by {}: the clock \
                 went back, or the file is not sorted by time.",
                units::show::time(*by_s)
            )
        });
        let mixed = self.is_mixed.then(|| {
            "Some start times are dates and others are not: they cannot be compared with each other."
                .to_owned()
        });
        backwards.into_iter().chain(mixed)
    }
}

/// Tolerance for a busy writer.
const LEEWAY_NS: u64 = 1_000_000_000;
