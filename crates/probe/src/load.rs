//! Many requests: on a schedule (open loop) or by workers (closed loop), streamed into a recording.
//!
//! One thread with one runtime makes all requests; another writes them down. Memory does not grow with the
//! length of a run. Each sample has the time at which it was meant to start and the time at which it did. The generator measures
//! itself: how late it was, how much of its core it used, what it could not send. Beyond stated limits the
//! recording is marked invalid; nothing is silently delayed.

mod config;
mod generator;
mod ledger;
mod progress;
mod schedule;
mod verdict;

use std::{collections::BTreeMap, io::Write, sync::Arc, thread};

use claim::Caveat;
use recording::{End, Header, Writer};
use tokio::sync::{Semaphore, mpsc};
use tracing::{info, warn};

pub use self::{
    config::{Config, Pace},
    progress::Progress,
    schedule::{Arrival, Schedule},
};
use self::{generator::Generator, ledger::Ledger};
use crate::{
    Error, Stop,
    client::{Client, Connections, Lookups, Protocol, Redirects, Target, Trust},
    clock,
    summary::{self, Summary},
    sys,
};

/// Makes requests until duration, count or `stop` end the run, writes each into `recording`, and returns what
/// they come to.
///
/// The recording is flushed a few times a second, so that somebody can follow it; give it a
/// [`std::io::BufWriter`]. Blocks; to be called outside of any tokio runtime. Raises this process's limit of
/// open files as far as it may.
///
/// # Errors
/// When the configuration cannot be carried out, or the recording not be written. Requests that fail are
/// samples.
pub fn run<W: Write + Send>(
    target: &Target,
    config: &Config,
    recording: Writer<W>,
    progress: &Progress,
    stop: &Stop,
) -> Result<Summary, Error> {
    let room = room(config)?;
    let halt = Stop::new();
    let client = Client::new(&config.client, &halt)?;
    client.prepare(target)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::System { what: "start a runtime", source })?;
    let (samples, recorded) = mpsc::channel(QUEUE);
    let generator = Generator {
        client,
        target: target.clone(),
        config: config.clone(),
        samples,
        progress: progress.clone(),
        stop: stop.clone(),
        halt: halt.clone(),
        permits: Arc::new(Semaphore::new(room)),
        room,
    };
    info!(url = %target, pace = ?config.pace, "the run begins");
    let (report, kept) = thread::scope(|scope| {
        let ledger = Ledger::new(recording);
        let writing = scope.spawn(|| ledger.keep(recorded, &halt));
        let report = runtime.block_on(Arc::new(generator).run());
        // Ends the remaining connections, and does not wait for a resolver that does not answer.
        runtime.shutdown_background();
        (report, writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let report = report.map_err(|source| Error::System { what: "set a timer", source })?;
    let Ledger { recording, tally, .. } = kept?;
    let doubts: Vec<Caveat> = verdict::doubts(config, &tally, &report).iter().map(Caveat::from).collect();
    let invalid = claim::reasons(&doubts);
    for reason in &invalid {
        warn!(reason, "the run is invalid");
    }
    info!(requests = tally.requests(), failed = tally.failed(), "the run ended");
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

/// The header of a recording of such a run, with all its conditions; to be made when it starts. A label is
/// the caller's to add.
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
        (
            "connections",
            word(match client.http.connections {
                Connections::New => "new",
                Connections::Reuse => "reuse",
            }),
        ),
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
    match config.pace {
        Pace::Open { rate, arrival } => {
            conditions.push(("loop", word("open")));
            conditions.push(("rate", rate.to_string()));
            conditions.push(("arrival", word(arrival.name())));
            if arrival == Arrival::Poisson {
                conditions.push(("seed", config.seed.to_string()));
            }
        }
        Pace::Closed { concurrency } => {
            conditions.push(("loop", word("closed: it hides stalls")));
            conditions.push(("concurrency", concurrency.to_string()));
        }
    }
    conditions.extend(config.duration.map(|duration| ("duration", units::duration::show(duration))));
    conditions.extend(config.count.map(|count| ("count", count.to_string())));
    let known: Vec<_> = client.http.known.iter().map(ToString::to_string).collect();
    if !known.is_empty() {
        conditions.push(("known addresses", known.join(", ")));
    }
    conditions.extend(client.http.connect_to.map(|address| ("connect to", address.to_string())));
    // Only their names: a value may be a secret.
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

/// How many requests may be in flight: each takes one open file.
fn room(config: &Config) -> Result<usize, Error> {
    let limit = http::open_files().saturating_sub(RESERVED_FILES);
    match config.pace {
        Pace::Open { .. } => Ok(config.max_in_flight.min(limit).clamp(1, Semaphore::MAX_PERMITS)),
        Pace::Closed { concurrency } if concurrency > limit => {
            Err(Error::OpenFiles { wanted: concurrency, limit })
        }
        Pace::Closed { concurrency } => Ok(concurrency.max(1)),
    }
}

/// Samples on their way to the writer; when it is slower than that, requests wait, and keep their permits.
const QUEUE: usize = 8192;

/// Files that are not for requests: the recording, standard streams, timers, second attempts of Happy Eyeballs.
const RESERVED_FILES: usize = 64;
