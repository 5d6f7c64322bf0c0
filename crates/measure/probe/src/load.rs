//! Many requests: on a schedule (open loop) or by workers (closed loop), streamed into a recording.
//!
//! The generator measures its own lateness and CPU usage; beyond stated limits the recording is
//! marked invalid.

mod config;
mod connections;
mod generator;
mod progress;
mod replay;
mod sample_writer;
mod schedule;
mod verdict;

use std::{
    collections::BTreeMap,
    io::Write,
    panic::resume_unwind,
    sync::{Arc, Mutex, atomic::AtomicU64},
    thread,
};

use claim::Caveat;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use recording::{End, Header, Writer};
use tokio::{
    runtime::Runtime,
    sync::{Semaphore, mpsc},
};
use tracing::{info, warn};

pub use self::{
    config::{Config, Pace},
    connections::{Connections, OF_A_PAGE},
    progress::{Live, Progress},
    replay::{MOST_TIMES, Replay},
    schedule::{Arrival, Schedule},
};
use self::{
    generator::{Generator, SelfReport},
    sample_writer::SampleWriter,
};
use crate::{
    Error, ShutdownSignal,
    client::{Client, Lookups, Measured, Prepared, Protocol, Redirects, Target, Trust},
    clock,
    metrics::Metrics,
    summary::{self, Summary},
    sys,
};

/// One of several runs.
#[derive(Debug)]
pub struct Run<'r, W: Write> {
    /// The request to send.
    pub target: &'r Target,
    /// Number, schedule and form of the requests. See [`Config::turn`] for one of several runs.
    pub config: &'r Config,
    /// Counts the samples, for monitoring.
    pub metrics: Option<Metrics>,
    /// Reports the progress.
    pub progress: Progress,
    /// Destination of the samples, flushed a few times a second so that readers can follow it; use
    /// a [`std::io::BufWriter`].
    pub recording: Writer<W>,
}

/// Makes requests until duration, count or `stop` end the run, writes each into `recording`, and
/// returns a summary. Blocks; call it outside of any tokio runtime. Raises this process's limit of
/// open files.
///
/// # Errors
///
/// The configuration cannot be carried out, or the recording cannot be written. Failed requests are
/// samples.
pub fn run<W: Write + Send>(
    target: &Target,
    config: &Config,
    recording: Writer<W>,
    progress: &Progress,
    stop: &ShutdownSignal,
) -> Result<Summary, Error> {
    let progress = progress.clone();
    Ready::new(Run { target, config, metrics: None, progress, recording }, 1, stop)?.go()
}

/// Like [`run`], for several runs that start together and see the same conditions.
///
/// # Errors
/// As in [`run`]; an error of one run ends all.
pub fn run_side_by_side<W: Write + Send>(
    runs: Vec<Run<'_, W>>,
    stop: &ShutdownSignal,
) -> Result<Vec<Summary>, Error> {
    let of = runs.len();
    let ready = runs.into_iter().map(|run| Ready::new(run, of, stop));
    let ready = ready.collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let go = |ready: Ready<'_, W>| ready.go().inspect_err(|_| stop.request());
        let running: Vec<_> = ready.into_iter().map(|ready| scope.spawn(move || go(ready))).collect();
        let ended = running.into_iter().map(|run| run.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // Collect first: all threads are joined, even after a failure.
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

struct Ready<'r, W: Write> {
    target: &'r Target,
    config: &'r Config,
    generator: Generator,
    runtime: Runtime,
    recorded: mpsc::Receiver<Measured>,
    ledger: SampleWriter<W>,
}

impl<'r, W: Write + Send> Ready<'r, W> {
    fn new(run: Run<'r, W>, of: usize, stop: &ShutdownSignal) -> Result<Self, Error> {
        let Run { target, config, metrics, progress, recording } = run;
        let room = room(config, of)?;
        let halt = ShutdownSignal::new();
        let client = Client::new(&config.client, &halt)?;
        client.prepare(target)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| Error::System { what: "start a runtime", source })?;
        let (samples, recorded) = mpsc::channel(QUEUE);
        let draws = config.catalogue.map(|catalogue| {
            let rng = Xoshiro256PlusPlus::seed_from_u64(config.seed ^ OF_OBJECTS);
            Mutex::new(catalogue.draws(rng))
        });
        let generator = Generator {
            draws,
            client,
            target: Prepared::of(target.clone()),
            config: config.clone(),
            samples,
            progress: progress.clone(),
            stop: stop.clone(),
            halt,
            permits: Arc::new(Semaphore::new(room)),
            room,
            pages: AtomicU64::new(0),
        };
        let ledger = SampleWriter::new(recording, metrics, progress);
        Ok(Self { target, config, generator, runtime, recorded, ledger })
    }

    fn go(self) -> Result<Summary, Error> {
        let Self { target, config, generator, runtime, recorded, ledger } = self;
        info!(url = %target, pace = ?config.pace, "the run begins");
        let halt = generator.halt.clone();
        let (report, kept) = thread::scope(|scope| {
            let writing = scope.spawn(|| ledger.keep(recorded, &halt));
            let report = runtime.block_on(Arc::new(generator).run());
            // Closes the remaining connections, and does not wait for a blocked resolver.
            runtime.shutdown_background();
            (report, writing.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let report = report.map_err(|source| Error::System { what: "set a timer", source })?;
        conclude(target, config, &report, kept?)
    }
}

fn conclude<W: Write>(
    target: &Target,
    config: &Config,
    report: &SelfReport,
    kept: SampleWriter<W>,
) -> Result<Summary, Error> {
    let SampleWriter { recording, tally, .. } = kept;
    let doubts: Vec<Caveat> = verdict::doubts(config, &tally, report).iter().map(Caveat::from).collect();
    let invalid = claim::reasons(&doubts);
    for reason in &invalid {
        warn!(reason, "the run is invalid");
    }
    info!(url = %target, requests = tally.requests(), failed = tally.failed(), "the run ended");
    let end = End {
        duration_ns: u64::try_from(report.duration.as_nanos()).unwrap_or(u64::MAX),
        samples: tally.requests(),
        failed: tally.failed(),
        schedule_lateness_p999_ns: tally.lateness(99.9),
        cpu_share: Some(report.cpu_share),
        started_monotonic_ns: report.started_monotonic_ns,
        interrupted: report.interrupted,
        invalid,
    };
    recording.finish(&end).map_err(|source| Error::Record { source })?;
    Ok(tally.summary(summary::Run {
        url: target.to_string(),
        duration_s: report.duration.as_secs_f64(),
        cpu_share: report.cpu_share,
        interrupted: report.interrupted,
        doubts,
    }))
}

/// The header of a recording with all conditions of the run; create it when the run starts. The
/// caller adds a label.
pub fn header(target: &Target, config: &Config) -> Header {
    Header {
        schema: recording::SCHEMA.to_owned(),
        tool: "longhaul probe".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: sys::host_name(),
        clock: "monotonic".to_owned(),
        start: Some(clock::wall()),
        label: None,
        conditions: conditions(target, config),
    }
}

fn conditions(target: &Target, config: &Config) -> BTreeMap<String, String> {
    let client = &config.client;
    let mut conditions = vec![
        ("url", target.to_string()),
        ("method", target.method.to_string()),
        ("timeout", units::duration::show(client.timeout)),
        ("connections", word(config.connections().name())),
        (
            "protocol",
            word(match client.http.protocol {
                Protocol::Negotiated => "negotiated",
                Protocol::Http1 => "http/1.1",
                Protocol::Http2 => "h2",
                Protocol::Http3 => "h3",
            }),
        ),
        (
            "lookups",
            word(match client.http.lookups {
                Lookups::Once => "once",
                Lookups::EachConnection => "each connection",
            }),
        ),
        (
            "redirects",
            word(match client.redirects {
                Redirects::Stay => "not followed",
                Redirects::Follow => "followed",
            }),
        ),
        ("family", word(client.http.family.name())),
        (
            "trust",
            match &client.http.trust {
                Trust::System => word("system"),
                Trust::File(path) => path.display().to_string(),
                Trust::Anyone => word("anyone"),
            },
        ),
    ];
    conditions.extend(config.catalogue.map(|catalogue| ("catalogue", catalogue.to_string())));
    conditions.extend(config.page.map(|requests| ("requests of a page", requests.to_string())));
    match &config.pace {
        &Pace::Open { rate, arrival } => {
            conditions.push(("loop", word("open")));
            conditions.push(("rate", rate.to_string()));
            conditions.push(("arrival", word(arrival.name())));
            if arrival == Arrival::Poisson {
                conditions.push(("seed", config.seed.to_string()));
            }
        }
        Pace::Replay(replay) => {
            conditions.push(("loop", word("open")));
            conditions.push(("schedule", replay.path().display().to_string()));
        }
        Pace::Closed { concurrency } => {
            conditions.push(("loop", word("closed: it hides stalls")));
            conditions.push(("concurrency", concurrency.to_string()));
        }
    }
    conditions.extend(config.duration.map(|duration| ("duration", units::duration::show(duration))));
    conditions.extend(config.count.map(|count| ("count", count.to_string())));
    if !config.offset.is_zero() {
        conditions.push(("offset", units::duration::show(config.offset)));
    }
    let known: Vec<_> = client.http.known.iter().map(ToString::to_string).collect();
    if !known.is_empty() {
        conditions.push(("known addresses", known.join(", ")));
    }
    let servers: Vec<_> = client.http.dns.iter().map(ToString::to_string).collect();
    if !servers.is_empty() {
        conditions.push(("dns servers", servers.join(", ")));
    }
    conditions.extend(client.http.connect_to.map(|address| ("connect to", address.to_string())));
    let socket = client.http.unix_socket.as_ref();
    conditions.extend(socket.map(|path| ("unix socket", path.display().to_string())));
    // Only their names: a value may be a secret.
    let record: Vec<_> = client.record.iter().map(ToString::to_string).collect();
    if !record.is_empty() {
        conditions.push(("recorded fields", record.join(", ")));
    }
    let added = target.added_headers().collect::<Vec<_>>();
    if !added.is_empty() {
        conditions.push(("headers", added.join(", ")));
    }
    if !target.body.is_empty() {
        conditions.push(("body bytes", target.body.len().to_string()));
    }
    conditions.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn word(word: &str) -> String {
    word.to_owned()
}

/// In one of `of` runs: each request in flight takes one open file.
fn room(config: &Config, of: usize) -> Result<usize, Error> {
    let limit = (http_stack::open_files() / of.max(1)).saturating_sub(RESERVED_FILES);
    // A page has fewer connections than requests, but its redirects may lead to several servers.
    let at_least = config.requests_a_start() as usize;
    let wanted = match config.pace {
        Pace::Open { .. } | Pace::Replay(_) => config.max_in_flight.min(limit),
        Pace::Closed { concurrency } => concurrency.saturating_mul(at_least),
    };
    let wanted = wanted.max(at_least);
    if wanted > limit.max(1) { Err(Error::OpenFiles { wanted, limit }) } else { Ok(wanted) }
}

/// Separates the random objects from a schedule with the same seed.
const OF_OBJECTS: u64 = 0x6f62_6a65_6374;

/// When the queue is full, requests wait and keep their permits.
const QUEUE: usize = 8192;

/// For the recording, standard streams, timers, second attempts of Happy Eyeballs.
const RESERVED_FILES: usize = 64;
