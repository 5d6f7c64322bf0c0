//! The I/O layer: sends pings that are due, receives replies, and writes each ping as a sample.

use std::{collections::BTreeMap, io::Write, net::SocketAddr, time::Duration};

use recording::{End, Header, Sample, Writer};
use socket2::Domain;

use super::{
    Config, Error, Summary, Target,
    clocks::{self, Clocks},
    packet::Payloads,
    rounds::{Answer, Flight, Rounds},
    socket::Echo,
    steps::Steps,
    summary::Tally,
};
use crate::{ShutdownSignal, client::Failure, clock, load::Progress, sys, timer::Timer};

/// Pings all targets, writes each ping into `recording`, and returns a summary. A first request to
/// stop waits for pings in flight, for the timeout at most; a second one returns immediately.
/// Blocks; call it outside of any tokio runtime.
///
/// # Errors
///
/// No socket for pings is permitted, the configuration cannot be carried out, or the recording
/// cannot be written.
pub fn run<W: Write>(
    targets: &[Target],
    config: &Config,
    recording: Writer<W>,
    progress: &Progress,
    stop: &ShutdownSignal,
) -> Result<Summary, Error> {
    run_by(targets, config, recording, progress, stop, Clocks::start(clocks::as_it_is))
}

pub(super) fn run_by<W: Write>(
    targets: &[Target],
    config: &Config,
    recording: Writer<W>,
    progress: &Progress,
    stop: &ShutdownSignal,
    clocks: Clocks,
) -> Result<Summary, Error> {
    config.check(targets.len())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System { what: "start a runtime", source })?;
    runtime.block_on(async {
        let mut shell = Shell::new(targets, config, recording, progress, clocks)?;
        shell.run(stop).await?;
        shell.conclude()
    })
}

/// The header of a recording with the conditions of the run; create it when the run starts. The
/// caller adds a label.
pub fn header(targets: &[Target], config: &Config) -> Header {
    let conditions = [
        ("targets", targets.len().to_string()),
        ("count", config.count.to_string()),
        ("interval", units::duration::show(config.interval)),
        ("timeout", units::duration::show(config.timeout)),
        ("payload bytes", config.size.to_string()),
    ];
    Header {
        schema: recording::SCHEMA.to_owned(),
        tool: "longhaul ping".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: sys::host_name(),
        clock: "monotonic".to_owned(),
        start: Some(clock::wall()),
        label: None,
        conditions: conditions.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

struct Shell<'r, W: Write> {
    targets: &'r [Target],
    payloads: Payloads,
    rounds: Rounds,
    tallies: Vec<Tally>,
    recording: Writer<W>,
    progress: &'r Progress,
    v4: Option<Echo>,
    v6: Option<Echo>,
    timer: Timer,
    clocks: Clocks,
    steps: Steps,
    packet: Vec<u8>,
    buffer: Vec<u8>,
    interrupted: bool,
}

impl<'r, W: Write> Shell<'r, W> {
    fn new(
        targets: &'r [Target],
        config: &Config,
        recording: Writer<W>,
        progress: &'r Progress,
        clocks: Clocks,
    ) -> Result<Self, Error> {
        let [.., high, low] = std::process::id().to_be_bytes();
        let ident = u16::from_be_bytes([high, low]);
        let open = |domain, is_needed: fn(&SocketAddr) -> bool| {
            let is_needed = targets.iter().any(|target| is_needed(&target.address));
            is_needed.then(|| Echo::open(domain, ident)).transpose()
        };
        Ok(Self {
            targets,
            payloads: Payloads::new(config.size),
            rounds: Rounds::new(config, targets.len()),
            tallies: targets.iter().map(|_| Tally::default()).collect(),
            recording,
            progress,
            v4: open(Domain::IPV4, SocketAddr::is_ipv4)?,
            v6: open(Domain::IPV6, SocketAddr::is_ipv6)?,
            timer: Timer::new().map_err(|source| Error::System { what: "set a timer", source })?,
            clocks,
            steps: Steps::default(),
            packet: Vec::new(),
            buffer: vec![0; LARGEST_PACKET],
            interrupted: false,
        })
    }

    async fn run(&mut self, stop: &ShutdownSignal) -> Result<(), Error> {
        loop {
            if stop.is_requested() {
                self.interrupted |= self.rounds.stop();
            }
            self.send_due()?;
            self.receive()?;
            while let Some(lost) = self.rounds.lost(self.clocks.monotonic.now()) {
                self.fail(&lost, Failure::TIMEOUT)?;
            }
            let Some(next) = self.rounds.next_timeout() else { return Ok(()) };
            let sleep = Duration::from_nanos(next.saturating_sub(self.clocks.monotonic.now()));
            if sleep.is_zero() {
                // Without yielding, the runtime would not poll the sockets.
                tokio::task::yield_now().await;
            }
            tokio::select! {
                () = readable(self.v4.as_ref()) => {}
                () = readable(self.v6.as_ref()) => {}
                slept = self.timer.sleep(sleep) => {
                    slept.map_err(|source| Error::System { what: "set a timer", source })?;
                }
                () = stop.asked(), if !stop.is_requested() => {}
                () = stop.insisted() => {
                    self.interrupted = true;
                    break;
                }
            }
        }
        while let Some(abandoned) = self.rounds.abandoned() {
            self.fail(&abandoned, Failure::Abandoned)?;
        }
        Ok(())
    }

    /// At most [`BATCH`] pings, so that replies are not timestamped late.
    fn send_due(&mut self) -> Result<(), Error> {
        for _ in 0..BATCH {
            let Some(ping) = self.rounds.due(self.clocks.monotonic.now()) else { break };
            let to = self.targets[ping.target].address;
            let socket = if to.is_ipv4() { &self.v4 } else { &self.v6 };
            let socket = socket.as_ref().expect("a socket is opened for each family among the targets");
            socket.write(ping.number, &self.payloads, &mut self.packet);
            self.progress.count_sent();
            self.steps.look(self.clocks.read(), self.rounds.begun());
            let sent = self.clocks.monotonic.now();
            match socket.send(&self.packet, to) {
                Ok(()) => self.rounds.sent(ping, sent),
                Err(error) => {
                    let flight = self.rounds.not_sent(ping, sent);
                    self.fail(&flight, Failure::from_io(&error))?;
                }
            }
        }
        Ok(())
    }

    /// At most [`BATCH`] packets, so that a flood of foreign packets delays no ping.
    fn receive(&mut self) -> Result<(), Error> {
        for _ in 0..BATCH {
            let received = [&self.v4, &self.v6]
                .into_iter()
                .flatten()
                .find_map(|socket| Some((socket, socket.receive(&mut self.buffer)?)));
            let Some((socket, received)) = received else { break };
            let now = self.clocks.monotonic.now();
            let Some((sequence, payload)) = socket.read(&self.buffer[..received.length]) else { continue };
            let Some(Flight { ping, sent, .. }) = self.rounds.find(sequence) else { continue };
            let tally = &mut self.tallies[ping.target];
            if self.targets[ping.target].address.ip() != received.from {
                tally.forged += 1;
                continue;
            }
            if !self.payloads.is_of(ping.number, payload) {
                tally.damaged += 1;
                continue;
            }
            self.steps.look(self.clocks.read(), self.rounds.begun());
            let stamp = received.stamp.map(|stamp| self.clocks.stamp(stamp));
            let arrived = self.steps.arrival(stamp, sent).unwrap_or(now);
            match self.rounds.answer(ping.number, arrived) {
                Some(Answer::First(flight)) => self.succeed(&flight, arrived.saturating_sub(flight.sent))?,
                Some(Answer::Duplicate) => tally.duplicates += 1,
                Some(Answer::Late) => tally.late += 1,
                None => {}
            }
        }
        Ok(())
    }

    fn succeed(&mut self, flight: &Flight, rtt: u64) -> Result<(), Error> {
        self.progress.count_done();
        self.tallies[flight.ping.target].answered(flight.ping.number, rtt);
        self.record(flight, Sample { latency_ns: Some(rtt), ..Sample::default() })
    }

    fn fail(&mut self, flight: &Flight, why: Failure) -> Result<(), Error> {
        self.progress.count_done();
        self.progress.count_failed();
        let reason = why.to_string();
        self.tallies[flight.ping.target].failed(&reason);
        self.record(flight, Sample { error: Some(reason), ..Sample::default() })
    }

    fn record(&mut self, flight: &Flight, sample: Sample) -> Result<(), Error> {
        let target = self.targets[flight.ping.target].host.clone();
        self.recording.write(&Sample {
            intended_ns: Some(flight.ping.intended),
            started_ns: Some(flight.sent),
            labels: BTreeMap::from([("target".to_owned(), target)]),
            ..sample
        })?;
        Ok(())
    }

    fn conclude(self) -> Result<Summary, Error> {
        let summary = Summary::of(self.targets, self.tallies, self.steps.found(), self.interrupted);
        self.recording.finish(&End {
            duration_ns: self.clocks.monotonic.now(),
            samples: summary.sent,
            failed: summary.sent - summary.received,
            interrupted: self.interrupted,
            started_monotonic_ns: self.clocks.monotonic.started_monotonic_ns(),
            ..End::default()
        })?;
        Ok(summary)
    }
}

async fn readable(socket: Option<&Echo>) {
    match socket {
        Some(socket) => socket.readable().await,
        None => std::future::pending().await,
    }
}

const LARGEST_PACKET: usize = 65_535;

const BATCH: usize = 64;
