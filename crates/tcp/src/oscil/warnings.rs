//! Everything that a reader must admit.

use std::{net::TcpStream, time::Duration};

use socket2::SockRef;

use super::{
    programme::Kind,
    reader::Outcome,
    recording::{Recording, Summary},
};

/// What may have stood between the figures and the truth.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trouble {
    /// Time in unlimited phases in which there was nothing to be read.
    pub idle: Duration,
    /// Time in which the reader would have run and no processor was free.
    pub kept_waiting: Option<Duration>,
    /// `SO_RCVBUF` as the kernel has it, bytes.
    pub rcvbuf: Option<u64>,
}

impl Trouble {
    pub(super) fn of(stream: &TcpStream, outcome: &Outcome) -> Self {
        let rcvbuf = SockRef::from(stream).recv_buffer_size().ok().map(|size| size as u64);
        Self { idle: outcome.idle, kept_waiting: outcome.kept_waiting, rcvbuf }
    }
}

/// Adds what has to be said to a recording, and takes its validity if its figures are not the connection's.
pub(super) fn note(recording: &mut Recording, trouble: &Trouble) {
    let mut warnings = Vec::new();
    let length = recording.summary.duration_s;
    if let Some(share) =
        trouble.kept_waiting.map(|time| time.as_secs_f64() / length).filter(|share| *share > MOST_WAITING)
    {
        warnings.push(format!(
            "INVALID: the reader waited for a processor in {:.0} % of the time; run less beside it",
            share * 100.0
        ));
        recording.valid = false;
    }
    warnings.extend(own_speed(recording, trouble.idle));
    warnings.extend(missed_looks(recording));
    warnings.extend(options(recording, trouble.rcvbuf));
    recording.warnings.extend(warnings);
}

/// Where there was always something to be read, reading was the limit.
fn own_speed(recording: &Recording, idle: Duration) -> Option<String> {
    let fast: f64 =
        recording.phases.iter().filter(|phase| phase.kind == Kind::Fast).map(|phase| phase.duration_s).sum();
    let Summary { bytes, .. } = recording.summary;
    (bytes > 0 && fast > 0.0 && idle.as_secs_f64() < LEAST_IDLE * fast).then(|| {
        "in the unlimited phases there was always something to be read: the figures are this machine's speed of reading, \
         not the network's"
            .to_owned()
    })
}

/// Looks that came too late are left out.
fn missed_looks(recording: &Recording) -> Option<String> {
    let (first, last) = (recording.samples.first()?, recording.samples.last()?);
    let due = (last.t_ms - first.t_ms) / recording.conditions.interval_ms;
    let made = u32::try_from(recording.samples.len() - 1).map_or(f64::INFINITY, f64::from);
    (due - made > MOST_MISSED * due).then(|| {
        format!(
            "{:.0} % of the looks at the connection came too late and were left out; a longer interval costs less",
            (1.0 - made / due) * 100.0
        )
    })
}

/// What the kernel made of the options that were asked for.
fn options(recording: &Recording, rcvbuf: Option<u64>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (Some(asked), Some(given)) = (recording.conditions.rcvbuf_bytes, rcvbuf)
        && given < asked.saturating_mul(2)
    {
        let given = given / 2;
        warnings
            .push(format!("SO_RCVBUF {asked} became {given}: sysctl -w net.core.rmem_max={asked} allows it"));
    }
    if let (Some(asked), Some(seen)) = (recording.conditions.window_bytes, recording.summary.window_bytes)
        && u64::from(seen) > asked
    {
        warnings.push(format!(
            "the window grew to {seen} bytes in spite of TCP_WINDOW_CLAMP {asked}: the kernel's tuning of the buffer \
             raises it; --rcvbuf switches that off"
        ));
    }
    warnings
}

/// Above this share of the time without a processor, throughput and pauses are the scheduler's.
const MOST_WAITING: f64 = 0.05;

/// Below this share of the unlimited phases spent waiting, the reader was the bottleneck.
const LEAST_IDLE: f64 = 0.01;

/// Above this share of looks left out, the timeline is coarser than it says.
const MOST_MISSED: f64 = 0.05;
