//! Counters of a server, and their Prometheus format.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

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

/// Totals of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Tests started.
    pub tests: u64,
    /// Bytes of sent bodies.
    pub bytes_down: u64,
    /// Bytes of received bodies.
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

    pub(crate) fn prometheus(&self, running: usize) -> String {
        let counters = [
            ("tests", "Started tests.", &self.tests),
            ("downloads", "Started downloads.", &self.downloads),
            ("uploads", "Started uploads.", &self.uploads),
            ("sent_bytes", "Sent bytes of downloads.", &self.bytes_down),
            ("received_bytes", "Received bytes of uploads.", &self.bytes_up),
            ("refused", "Requests refused because of a limit.", &self.refused),
            ("kept", "Stored results.", &self.kept),
            ("not_kept", "Results that could not be stored.", &self.not_kept),
            ("datagrams_sent_back", "Echoed datagrams of loss tests.", &self.datagrams_back),
            ("datagrams_ignored", "Datagrams without a test of their address.", &self.datagrams_ignored),
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
