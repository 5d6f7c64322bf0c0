//! `read`: connects, reads according to a programme, and samples the connection.
//!
//! A separate thread reads, and waits only for the network. The calling thread samples the
//! connection periodically.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    ops::ControlFlow,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::Duration,
};

use tcp::{
    Doing, Error,
    counters::Counters,
    diag::Diag,
    timeline::{Sample, Timeline},
    trace::Trace,
};
use units::Bytes;

use super::{
    connect::connect,
    pace::Pace,
    pattern::Programme,
    reader::{End, Outcome, Reader, Shared},
    recording::{Conditions, Ended, Recording},
    summary::Figures,
    warnings::{self, Trouble},
};
use crate::{socket::plain, wait};

/// Configuration of a reader.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The programme.
    pub programme: Programme,
    /// The duration; the programme is repeated or truncated to it. `None`: the duration of the
    /// programme.
    pub length: Option<Duration>,
    /// The sampling interval, [`Self::LEAST_INTERVAL`] to [`Self::LONGEST_INTERVAL`].
    pub interval: Duration,
    /// The read size, 1 byte to [`Self::LARGEST_BUFFER`].
    pub buffer: Bytes,
    /// `SO_RCVBUF`, set before the connection is made. It disables receive buffer autotuning.
    pub rcvbuf: Option<Bytes>,
    /// Whether to trace how long the kernel takes to prune a full receive buffer.
    pub tracing: Tracing,
}

/// Whether to trace kernel functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// Tracing is off.
    Off,
    /// Tracing is on if possible; otherwise a warning contains the reason.
    Wanted,
}

/// Progress of a reader.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'p> {
    /// Time since the connection was made.
    pub elapsed: Duration,
    /// The current phase.
    pub phase: &'p str,
    /// Bytes read.
    pub bytes: u64,
    /// The latest sample of the connection.
    pub sample: &'p Sample,
}

impl Reading {
    /// Lower limit: a sample takes a tenth of this.
    pub const LEAST_INTERVAL: Duration = Duration::from_millis(1);
    /// Upper limit: a longer interval would delay the end.
    pub const LONGEST_INTERVAL: Duration = Duration::from_secs(1);
    /// Exceeds every receive buffer.
    pub const LARGEST_BUFFER: Bytes = Bytes(1 << 30);
    /// Limit of the samples in memory, about 2 KB each.
    pub const MOST_SAMPLES: u128 = 1_000_000;

    /// A reader with this programme and defaults.
    pub fn new(programme: Programme) -> Self {
        Self {
            programme,
            length: None,
            interval: Duration::from_millis(100),
            buffer: Bytes(256 << 10),
            rcvbuf: None,
            tracing: Tracing::Off,
        }
    }

    fn length(&self) -> Duration {
        self.length.or(self.programme.duration()).unwrap_or(Duration::MAX)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |what: String, remedy: &str| Err(Error::Input { what, remedy: remedy.to_owned() });
        let show = units::duration::show;
        if !(Self::LEAST_INTERVAL..=Self::LONGEST_INTERVAL).contains(&self.interval) {
            return wrong(
                format!("samples cannot be {} apart", show(self.interval)),
                "an interval of 1ms to 1s",
            );
        }
        if !(Bytes(1)..=Self::LARGEST_BUFFER).contains(&self.buffer) {
            return wrong(format!("a buffer cannot have {}", self.buffer), "a buffer of 1B to 1GiB");
        }
        if self.rcvbuf == Some(Bytes(0)) {
            return wrong("nothing fits into 0 bytes".to_owned(), "a buffer of 1B or more");
        }
        let samples = self.length().as_nanos() / self.interval.as_nanos();
        if samples > Self::MOST_SAMPLES {
            let [length, interval] = [self.length(), self.interval].map(show);
            return wrong(
                format!(
                    "{length} at {interval} are {samples} samples, and memory is for {}",
                    Self::MOST_SAMPLES
                ),
                "a longer interval, or a shorter time",
            );
        }
        Ok(())
    }
}

/// Reads from `host`, "HOST:PORT" or "HOST", and blocks. Returns `None` if `watch` broke before
/// there was a connection.
///
/// # Errors
/// If there is no connection, or its kernel statistics are unavailable.
pub fn read(
    host: &str,
    reading: &Reading,
    mut watch: impl FnMut(Option<Progress<'_>>) -> ControlFlow<()>,
) -> Result<Option<Recording>, Error> {
    reading.check()?;
    let trace = (reading.tracing == Tracing::Wanted).then(Trace::start);
    let Some(stream) = connect(host, reading.rcvbuf, || watch(None))? else { return Ok(None) };
    let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
    let (local, remote) = ends.doing(|| "ask for a connection's addresses".to_owned())?;
    let socket = Diag::open()?.between(local, remote)?.ok_or_else(|| Error::Address {
        operation: "read from",
        address: remote.to_string(),
        source: std::io::ErrorKind::ConnectionReset.into(),
    })?;
    let mut timeline = Timeline::of(socket.key)?;
    let rtt_ms = socket.info.map(|info| f64::from(info.rtt_us) / 1e3);
    let (outcome, samples) = run(&stream, reading, &mut timeline, watch)?;
    let conditions = conditions(reading, local, remote, rtt_ms);
    let counters = timeline.counters()?;
    let mut recording = recording(conditions, &outcome, samples, counters);
    let mut trouble = Trouble::of(&stream, &outcome);
    match trace.transpose() {
        Ok(trace) => recording.trace = trace.map(|trace| trace.read()).transpose()?,
        Err(unavailable) => trouble.not_traced = Some(unavailable),
    }
    warnings::note(&mut recording, trouble);
    Ok(Some(recording))
}

fn run(
    stream: &TcpStream,
    reading: &Reading,
    timeline: &mut Timeline,
    watch: impl FnMut(Option<Progress<'_>>) -> ControlFlow<()>,
) -> Result<(Outcome, Vec<Sample>), Error> {
    let (shared, clock) = (Shared::default(), timeline.clock());
    let pace = Pace::new(&reading.programme, reading.length);
    let buffer = usize::try_from(reading.buffer.0).unwrap_or(usize::MAX);
    let reader = Reader { stream, pace, clock, buffer, shared: &shared };
    thread::scope(|scope| {
        let thread = scope.spawn(|| reader.run());
        let looked = look(reading, timeline, &shared, watch);
        if looked.is_err() {
            shared.stop.store(true, Relaxed);
        }
        let outcome = thread.join().expect("a reader does not panic");
        let mut samples = looked?;
        samples.extend(timeline.look()?);
        Ok((outcome, samples))
    })
}

fn look(
    reading: &Reading,
    timeline: &mut Timeline,
    shared: &Shared,
    mut watch: impl FnMut(Option<Progress<'_>>) -> ControlFlow<()>,
) -> Result<Vec<Sample>, Error> {
    let (clock, mut samples, mut due) = (timeline.clock(), Vec::new(), Duration::ZERO);
    timeline.watch(reading.interval, |sample| {
        let elapsed = clock.now();
        if elapsed >= due {
            due = elapsed + wait::CALL;
            let phase = reading.programme.phases.get(shared.phase.load(Relaxed));
            let phase = phase.map_or("", |phase| phase.name.as_str());
            let progress = Progress { elapsed, phase, bytes: shared.bytes.load(Relaxed), sample: &sample };
            shared.handle_order(watch(Some(progress)));
        }
        samples.push(sample);
        if shared.is_over.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    while !shared.is_over.load(Relaxed) {
        shared.handle_order(watch(None));
        clock.wait_until(clock.now() + wait::CALL);
    }
    Ok(samples)
}

fn recording(
    conditions: Conditions,
    outcome: &Outcome,
    samples: Vec<Sample>,
    mut counters: Counters,
) -> Recording {
    counters.retain(|name, _| Recording::COUNTERS.contains(&name.as_str()));
    let Figures { phases, seconds, summary } =
        Figures::of(&conditions.programme, &outcome.account, &samples, &counters);
    let (ended, ended_why) = match &outcome.end {
        End::Programme => (Ended::Complete, None),
        End::Asked => (Ended::Interrupted, None),
        End::PeerClosed => (Ended::PeerClosed, None),
        End::Lost(error) => (Ended::ConnectionLost, Some(error.to_string())),
    };
    Recording {
        schema: Recording::SCHEMA.to_owned(),
        conditions,
        ended,
        ended_why,
        valid: true,
        reasons: Vec::new(),
        warnings: Vec::new(),
        doubts: Vec::new(),
        summary,
        phases,
        seconds,
        counters,
        trace: None,
        samples,
    }
}

fn conditions(reading: &Reading, local: SocketAddr, remote: SocketAddr, rtt_ms: Option<f64>) -> Conditions {
    let line =
        |path: String| Some(fs::read_to_string(path).ok()?.split_whitespace().collect::<Vec<_>>().join(" "));
    let setting =
        |name: &&str| Some(((*name).to_owned(), line(format!("/proc/sys/{}", name.replace('.', "/")))?));
    Conditions {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: line("/proc/sys/kernel/osrelease".to_owned()).unwrap_or_default(),
        local: plain(local),
        remote: plain(remote),
        rtt_ms,
        settings: SETTINGS.iter().filter_map(setting).collect(),
        programme: reading.programme.clone(),
        length_s: reading.length.map(|length| length.as_secs_f64()),
        interval_ms: reading.interval.as_secs_f64() * 1e3,
        buffer_bytes: reading.buffer.0,
        rcvbuf_bytes: reading.rcvbuf.map(|size| size.0),
    }
}

const SETTINGS: [&str; 8] = [
    "net.core.rmem_max",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_timestamps",
];
