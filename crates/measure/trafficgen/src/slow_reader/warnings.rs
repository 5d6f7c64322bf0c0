//! Checks a recording for everything that makes its figures doubtful.

use std::{net::TcpStream, time::Duration};

use claim::{Caveat, Doubt};
use socket2::SockRef;
use tcp::trace::Unavailable;

use super::{
    pattern::Kind,
    reader::Outcome,
    recording::{Ended, Recording, Summary},
};

#[derive(Debug, Clone, Default)]
pub(super) struct Trouble {
    pub idle: Duration,
    pub kept_waiting: Option<Duration>,
    pub rcvbuf: Option<u64>,
    pub not_traced: Option<Unavailable>,
}

impl Trouble {
    pub(super) fn of(stream: &TcpStream, outcome: &Outcome) -> Self {
        let rcvbuf = SockRef::from(stream).recv_buffer_size().ok().map(|size| size as u64);
        Self { idle: outcome.idle, kept_waiting: outcome.kept_waiting, rcvbuf, not_traced: None }
    }
}

/// Marks the recording invalid if its figures do not describe the connection.
pub(super) fn note(recording: &mut Recording, trouble: Trouble) {
    let doubts = [
        starved(recording, trouble.kept_waiting),
        silent(recording),
        own_speed(recording, trouble.idle),
        missed_looks(recording),
        rcvbuf(recording, trouble.rcvbuf),
        trouble.not_traced.map(|Unavailable { why, remedy }| Doubt::NotTraced { why, remedy }),
    ];
    recording.doubts = doubts.into_iter().flatten().map(Caveat::from).collect();
    recording.valid = claim::is_valid(&recording.doubts);
    recording.reasons = claim::reasons(&recording.doubts);
    recording.warnings = claim::warnings(&recording.doubts);
}

/// A reader without CPU time measures the scheduler.
fn starved(recording: &Recording, kept_waiting: Option<Duration>) -> Option<Doubt> {
    let share = kept_waiting?.as_secs_f64() / recording.summary.duration_s;
    (share > MOST_WAITING).then_some(Doubt::StarvedReader { share })
}

fn silent(recording: &Recording) -> Option<Doubt> {
    let is_silent = recording.ended == Ended::Complete && recording.summary.bytes == 0 && wanted(recording);
    is_silent.then(|| Doubt::NothingSent { remote: recording.conditions.remote.to_string() })
}

fn wanted(recording: &Recording) -> bool {
    recording.phases.iter().any(|phase| phase.kind != Kind::Stop)
}

/// If data was always available, the reader was the bottleneck.
fn own_speed(recording: &Recording, idle: Duration) -> Option<Doubt> {
    let fast: f64 =
        recording.phases.iter().filter(|phase| phase.kind == Kind::Fast).map(|phase| phase.duration_s).sum();
    let Summary { bytes, .. } = recording.summary;
    (bytes > 0 && fast > 0.0 && idle.as_secs_f64() < LEAST_IDLE * fast).then_some(Doubt::OwnSpeed)
}

fn missed_looks(recording: &Recording) -> Option<Doubt> {
    let (first, last) = (recording.samples.first()?, recording.samples.last()?);
    let due = (last.t_ms - first.t_ms) / recording.conditions.interval_ms;
    let made = u32::try_from(recording.samples.len() - 1).map_or(f64::INFINITY, f64::from);
    (due - made > MOST_MISSED * due).then(|| Doubt::MissedLooks { share: 1.0 - made / due })
}

fn rcvbuf(recording: &Recording, given: Option<u64>) -> Option<Doubt> {
    let (asked, given) = recording.conditions.rcvbuf_bytes.zip(given.map(|doubled| doubled / 2))?;
    (given < asked).then_some(Doubt::SmallerBuffer { asked, given })
}

const MOST_WAITING: f64 = 0.05;

/// Share of the unlimited phases. Below it, the reader was the bottleneck.
const LEAST_IDLE: f64 = 0.01;

/// Share of skipped samples. Above it, the timeline is coarser than its interval.
const MOST_MISSED: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_reader::tests::{recording, sample};

    fn said(change: impl FnOnce(&mut Recording), trouble: Trouble) -> Recording {
        let mut recording = recording(10.0, 1_000_000);
        change(&mut recording);
        note(&mut recording, trouble);
        recording
    }

    fn idle() -> Trouble {
        Trouble { idle: Duration::from_secs(5), ..Trouble::default() }
    }

    #[test]
    fn a_reader_without_a_processor_is_no_measurement() {
        for (waited_ms, valid) in [(499, true), (501, false)] {
            let kept_waiting = Some(Duration::from_millis(waited_ms));
            let recording = said(|_| {}, Trouble { kept_waiting, ..idle() });
            assert_eq!((recording.valid, recording.reasons.is_empty()), (valid, valid), "{waited_ms} ms");
            assert_eq!((recording.is_whole(), recording.warnings.len()), (valid, 0));
        }
    }

    #[test]
    fn a_reader_that_never_waits_measures_itself() {
        for (idle_ms, warned) in [(101, false), (99, true)] {
            let recording =
                said(|_| {}, Trouble { idle: Duration::from_millis(idle_ms), ..Trouble::default() });
            assert_eq!(
                recording.warnings.iter().any(|said| said.contains("speed of reading")),
                warned,
                "{idle_ms} ms"
            );
            assert!(recording.valid);
        }
        let silent = said(|recording| recording.summary.bytes = 0, Trouble::default());
        assert_eq!(silent.warnings, [""; 0], "nothing was read at all");
    }

    #[test]
    fn a_server_that_sends_nothing_is_no_measurement() {
        let silent = said(|recording| recording.summary.bytes = 0, idle());
        assert!(!silent.valid && silent.reasons[0].contains("accepted the connection and sent nothing"));
        assert!(!silent.is_whole());
        assert!(said(|recording| recording.summary.bytes = 1, idle()).valid);
        let stopped = |recording: &mut Recording| {
            recording.summary.bytes = 0;
            recording.phases[0].kind = Kind::Stop;
        };
        assert!(said(stopped, idle()).valid);
        let lost = |recording: &mut Recording| {
            recording.summary.bytes = 0;
            recording.ended = Ended::ConnectionLost;
        };
        assert_eq!(said(lost, idle()).reasons, [""; 0]);
    }

    #[test]
    fn looks_that_were_left_out_are_counted() {
        let looks = |kept: fn(&u32) -> bool| {
            let samples = (0..=100).filter(kept).map(|look| sample(f64::from(look) * 100.0, 0, 0)).collect();
            said(|recording| recording.samples = samples, idle()).warnings
        };
        assert_eq!(looks(|_| true), [""; 0]);
        assert_eq!(looks(|look| !(1..=5).contains(look)), [""; 0]);
        assert!(looks(|look| look % 2 == 0)[0].starts_with("50 % of the samples"));
    }

    #[test]
    fn what_was_not_traced_is_named() {
        let not_traced = Some(Unavailable { why: "no tracefs".to_owned(), remedy: "mount it".to_owned() });
        let recording = said(|_| {}, Trouble { not_traced, ..idle() });
        assert_eq!(recording.warnings, ["nothing was traced: no tracefs; mount it"]);
        assert_eq!((recording.valid, recording.doubts[0].kind.as_str()), (true, "not_traced"));
    }

    #[test]
    fn a_buffer_that_the_kernel_made_smaller_is_named() {
        let asked = |recording: &mut Recording| recording.conditions.rcvbuf_bytes = Some(1000);
        let given = |bytes| Trouble { rcvbuf: Some(bytes), ..idle() };
        assert_eq!(said(asked, given(2000)).warnings, [""; 0]);
        assert!(said(asked, given(1600)).warnings[0].starts_with("SO_RCVBUF 1000 became 800: sysctl -w"));
    }
}
