//! Joins the recordings of writers and readers by key and version. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kv::{History, Version};
use recording::{Metric, Sample};

#[derive(Debug, Default)]
pub(super) struct Joined {
    writes: BTreeMap<String, Vec<(Version, u64)>>,
    /// A failed write may have been applied.
    unsure: BTreeMap<String, u64>,
    reads: Vec<Read>,
    last: BTreeMap<String, Option<Version>>,
    failed: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Read {
    pub host: String,
    pub key: String,
    pub version: Option<Version>,
    pub source: Option<String>,
    pub sent_ns: u64,
    pub took_ns: u64,
}

#[derive(Debug)]
pub(super) struct Result {
    pub reads: Vec<(Read, Duration)>,
    pub writes: u64,
    pub errors: u64,
    /// Acknowledged writes that are missing at the end, or the reason why the number is unknown.
    pub lost: std::result::Result<u64, String>,
}

impl Joined {
    pub(super) fn write(&mut self, sample: &Sample, started_ns: u64) {
        let key = key(sample);
        let acknowledged = (sample.started_ns.zip(sample.get(Metric::Total)))
            .filter(|_| sample.status == Some(200))
            .zip(version(sample));
        match acknowledged {
            Some(((started, took), version)) => {
                let at = started_ns.saturating_add(started).saturating_add(took);
                self.writes.entry(key).or_default().push((version, at));
            }
            None => {
                self.failed += 1;
                *self.unsure.entry(key).or_default() += 1;
            }
        }
    }

    pub(super) fn read(&mut self, host: &str, sample: &Sample, started_ns: u64) {
        let times = sample.started_ns.zip(sample.get(Metric::Response));
        let Some((started, took_ns)) = times.filter(|_| is_answer(sample)) else {
            self.failed += 1;
            return;
        };
        self.reads.push(Read {
            host: host.to_owned(),
            key: key(sample),
            version: version(sample),
            source: sample.label("kv-source").map(Into::into),
            sent_ns: started_ns.saturating_add(started),
            took_ns,
        });
    }

    pub(super) fn last(&mut self, sample: &Sample) {
        if is_answer(sample) {
            self.last.insert(key(sample), version(sample));
        }
    }

    pub(super) fn finish(self) -> Result {
        let Self { writes, unsure, mut reads, last, failed } = self;
        reads.sort_by_key(|read| read.sent_ns);
        let count = writes.values().map(|of_key| of_key.len() as u64).sum();
        let histories: BTreeMap<String, History> =
            writes.into_iter().map(|(key, writes)| (key, History::of(writes))).collect();
        let nothing = History::default();
        let of = |key: &str| histories.get(key).unwrap_or(&nothing);
        let mut strange: BTreeMap<&str, BTreeSet<&Version>> = BTreeMap::new();
        for read in &reads {
            let unknown = read.version.as_ref().filter(|version| !of(&read.key).has(version));
            unknown.into_iter().for_each(|version| {
                strange.entry(&read.key).or_default().insert(version);
            });
        }
        // A failed write may have been applied with a version that its writer did not receive.
        let strange = strange.into_iter().map(|(key, versions)| {
            (versions.len() as u64).saturating_sub(unsure.get(key).copied().unwrap_or_default())
        });
        let errors = failed + strange.sum::<u64>();
        let lost = histories.iter().map(|(key, history)| match last.get(key) {
            Some(version) => Ok(history.lost(version.as_ref())),
            None => Err(format!("no final read of key {key} from the store succeeded")),
        });
        let lost = lost.sum();
        let stale = |read: Read| {
            let staleness = of(&read.key).staleness(read.version.as_ref(), read.sent_ns);
            (read, staleness)
        };
        Result { reads: reads.into_iter().map(stale).collect(), writes: count, errors, lost }
    }
}

/// A value, or the report that the key does not exist.
fn is_answer(sample: &Sample) -> bool {
    sample.error.is_none() && matches!(sample.status, Some(200 | 404))
}

fn key(sample: &Sample) -> String {
    sample.label("object").map(String::from).unwrap_or_default()
}

fn version(sample: &Sample) -> Option<Version> {
    sample.label("kv-version")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(status: u16, at: u64, stamp: Option<u64>) -> Sample {
        let version = stamp.map(|stamp| ("kv-version".to_owned(), format!("{stamp:012x}-0000-lhr")));
        let object = ("object".to_owned(), "1".to_owned());
        Sample {
            status: Some(status),
            intended_ns: Some(at),
            started_ns: Some(at),
            last_byte_ns: Some(10),
            labels: version.into_iter().chain([object]).collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn recordings_that_began_at_different_times_are_on_one_clock() {
        let mut joined = Joined::default();
        // Acknowledged at 1000 + 90 + 10 = 1100 and at 1200.
        joined.write(&sample(200, 90, Some(1)), 1000);
        joined.write(&sample(200, 190, Some(2)), 1000);
        // Sent at 500 + 750 = 1250, when version 2 is 50 old; a 404 at 1150 is 50 behind version 1.
        joined.read("far", &sample(200, 750, Some(1)), 500);
        joined.read("far", &sample(404, 650, None), 500);
        joined.read("far", &sample(200, 800, Some(2)), 500);
        joined.last(&sample(200, 0, Some(2)));
        let result = joined.finish();
        let stale: Vec<u128> = result.reads.iter().map(|(_, stale)| stale.as_nanos()).collect();
        assert_eq!(stale, [50, 50, 0], "in the order of time");
        assert_eq!((result.writes, result.errors, result.lost), (2, 0, Ok(0)));
    }

    #[test]
    fn errors_are_requests_that_failed_and_values_of_nobody() {
        let mut joined = Joined::default();
        joined.write(&sample(200, 0, Some(1)), 0);
        joined.write(&sample(503, 0, None), 0);
        joined.read("far", &sample(500, 0, None), 0);
        // The failed write may have written one of these versions; the other one has no writer.
        joined.read("far", &sample(200, 0, Some(5)), 0);
        joined.read("far", &sample(200, 0, Some(6)), 0);
        joined.read("far", &sample(200, 0, Some(6)), 0);
        let result = joined.finish();
        assert_eq!(result.errors, 3);
        assert!(result.lost.unwrap_err().contains("no final read of key 1"));
    }

    #[test]
    fn a_store_that_went_back_has_lost_what_was_newer() {
        let mut joined = Joined::default();
        for stamp in 1..=3 {
            joined.write(&sample(200, stamp, Some(stamp)), 0);
        }
        joined.last(&sample(200, 0, Some(1)));
        assert_eq!(joined.finish().lost, Ok(2));
    }
}
