//! What a server has done, and the same as Prometheus reads it.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Counters of a server's life.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) tests: AtomicU64,
    pub(crate) downloads: AtomicU64,
    pub(crate) uploads: AtomicU64,
    pub(crate) bytes_down: AtomicU64,
    pub(crate) bytes_up: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) kept: AtomicU64,
    pub(crate) not_kept: AtomicU64,
    pub(crate) datagrams_back: AtomicU64,
    pub(crate) datagrams_ignored: AtomicU64,
}

/// What a server did in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Tests that began.
    pub tests: u64,
    /// Bytes of bodies that were sent.
    pub bytes_down: u64,
    /// Bytes of bodies that came.
    pub bytes_up: u64,
}

impl Counts {
    pub(crate) fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, Relaxed);
    }

    pub(crate) fn totals(&self) -> Totals {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        Totals { tests: of(&self.tests), bytes_down: of(&self.bytes_down), bytes_up: of(&self.bytes_up) }
    }

    /// In Prometheus' text format; `running` transfers are under way.
    pub(crate) fn prometheus(&self, running: usize) -> String {
        let counters = [
            ("tests", "Tests that began.", &self.tests),
            ("downloads", "Downloads that began.", &self.downloads),
            ("uploads", "Uploads that began.", &self.uploads),
            ("sent_bytes", "Bytes of downloads that connections took.", &self.bytes_down),
            ("received_bytes", "Bytes of uploads that came.", &self.bytes_up),
            ("refused", "Requests that were refused because of a limit.", &self.refused),
            ("kept", "Results that were kept.", &self.kept),
            ("not_kept", "Results that were to be kept and were not.", &self.not_kept),
            ("datagrams_sent_back", "Datagrams of loss tests that were sent back.", &self.datagrams_back),
            ("datagrams_ignored", "Datagrams of no test, or of somebody else's.", &self.datagrams_ignored),
        ];
        let mut text = String::new();
        for (name, help, counter) in counters {
            let name = format!("longhaul_speed_{name}_total");
            let value = counter.load(Relaxed);
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
        }
        let name = "longhaul_speed_transfers";
        let _ = write!(text, "# HELP {name} Transfers under way.\n# TYPE {name} gauge\n{name} {running}\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_says_what_it_is() {
        let counts = Counts::default();
        Counts::add(&counts.bytes_up, 5);
        let text = counts.prometheus(2);
        assert!(text.contains(
            "# TYPE longhaul_speed_received_bytes_total counter\nlonghaul_speed_received_bytes_total 5\n"
        ));
        assert!(text.ends_with("# TYPE longhaul_speed_transfers gauge\nlonghaul_speed_transfers 2\n"));
        assert_eq!(text.lines().count(), 33);
    }
}
