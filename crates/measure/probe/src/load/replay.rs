//! A recorded schedule: requests start at the times of those in a recording.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use recording::{Counts, Event, Options, Sink};

use crate::Error;

/// The start times of the requests of a recording, relative to the first. Clones share them.
#[derive(Clone, PartialEq)]
pub struct Replay {
    path: PathBuf,
    times: Arc<[Duration]>,
}

impl Replay {
    /// Reads a recording of any format that contains start times; scheduled times take precedence.
    /// Skips hops of redirects, which a client that follows redirects makes again.
    ///
    /// # Errors
    ///
    /// The recording cannot be read, has no start times, or more requests than [`MOST_TIMES`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Replay { source };
        let mut times = Times::default();
        recording::read(path, &Options::default(), &mut times).map_err(failed)?;
        let refused = |why: String| Error::NoSchedule { path: path.to_owned(), why };
        if let Some(why) = times.refusal {
            return Err(refused(why));
        }
        times.starts_ns.sort_unstable();
        let Some(&first) = times.starts_ns.first() else { return Err(refused("no requests".to_owned())) };
        let times = times.starts_ns.into_iter().map(|at| Duration::from_nanos(at - first)).collect();
        Ok(Self { path: path.to_owned(), times })
    }

    /// The start times of the requests, ascending; the first is 0.
    pub fn times(&self) -> &[Duration] {
        &self.times
    }

    pub(crate) fn due(&self, from: Duration, to: Option<Duration>) -> u64 {
        let before = |end: Duration| self.times.partition_point(|&at| at < end);
        (to.map_or(self.times.len(), before).saturating_sub(before(from))) as u64
    }

    /// The recording that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests of {}", self.times.len(), self.path.display())
    }
}

#[derive(Default)]
struct Times {
    starts_ns: Vec<u64>,
    chain: Option<u64>,
    refusal: Option<String>,
}

impl Sink for Times {
    fn event(&mut self, event: &Event<'_>) -> Result<(), recording::Error> {
        let sample = event.sample;
        let is_hop = sample.chain.is_some() && sample.chain == self.chain;
        self.chain = sample.chain;
        match sample.intended_ns.or(sample.started_ns) {
            _ if is_hop || self.refusal.is_some() => {}
            None => {
                let why = format!("line {} has no time at which the request started", event.number);
                self.refusal = Some(why);
            }
            Some(_) if self.starts_ns.len() == MOST_TIMES => {
                self.refusal = Some(format!("more than {MOST_TIMES} requests"));
            }
            Some(at) => self.starts_ns.push(at),
        }
        Ok(())
    }

    fn counts(&mut self, _: &Counts) -> Result<(), recording::Error> {
        self.refusal.get_or_insert_with(|| "it has histograms and not requests one by one".to_owned());
        Ok(())
    }
}

/// Maximum number of requests of a schedule from a file: 160 MB of memory.
pub const MOST_TIMES: usize = 10_000_000;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<u128>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let replay = Replay::read(&path).map_err(|error| error.to_string())?;
        Ok(replay.times().iter().map(Duration::as_millis).collect())
    }

    const HEADER: &str =
        r#"{"schema":"longhaul.recording/1","tool":"test","version":"1","clock":"monotonic"}"#;

    fn native(samples: &[&str]) -> Result<Vec<u128>, String> {
        read("a.jsonl", &[&[HEADER], samples].concat().join("\n"))
    }

    #[test]
    fn requests_start_as_they_did_whatever_their_order_in_the_file() {
        let samples = [
            r#"{"started_ns":9000000,"last_byte_ns":1}"#,
            r#"{"intended_ns":2000000,"started_ns":7000000,"last_byte_ns":1,"chain":0}"#,
            r#"{"started_ns":8000000,"last_byte_ns":1,"chain":0}"#,
            r#"{"intended_ns":3000000,"error":"timeout"}"#,
        ];
        assert_eq!(native(&samples).unwrap(), [0, 1, 7]);
    }

    #[test]
    fn a_recording_without_times_is_no_schedule() {
        let said = native(&[r#"{"latency_ns":9000000}"#]).unwrap_err();
        assert!(said.contains("line 2 has no time at which the request started"), "{said}");
    }
}
