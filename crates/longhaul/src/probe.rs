//! `longhaul probe`: requests with all their phases; one, or many on a schedule.

mod remedy;
mod show;
mod words;

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use probe::{
    Family, Stop,
    client::{Connections, Known, Protocol, Redirects, Target, Trust},
    load::{self, Arrival, Config, Pace, Progress},
    summary::Summary,
};
use recording::{Growing, Header, Reader, Writer};
use units::{Frequency, Probability};

use crate::{
    interrupt::{self, Interrupt},
    output::{self, say},
};

/// Measure HTTP requests phase by phase
///
/// Without --rate, --concurrency, --count or --duration: one request to each URL. With --rate: an open loop, in which
/// requests start when the schedule says. With --concurrency: a closed loop, which hides stalls.
///
/// Exit codes: 0 answered, 1 a request to a URL failed, all requests of a run did or more than --fail-above allows, or the run is
/// invalid, 2 it could not run, 130 interrupted; what was measured until then is recorded.
///
/// Example: longhaul probe https://example.com/ --rate 50/s --duration 10s -o example.jsonl
#[derive(Debug, Args)]
pub(crate) struct Probe {
    /// What to ask for
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    /// Requests a second, such as 50/s [default, in a run: 10/s]
    #[arg(long, conflicts_with = "concurrency")]
    rate: Option<Frequency>,
    /// Requests at a time, each worker starting its next when its last is done
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// How long to start requests [default, in a run without --count: 10s]
    #[arg(long, value_parser = units::duration::parse)]
    duration: Option<Duration>,
    /// How many requests to start
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// How an open loop spreads requests
    #[arg(long, value_parser = words::arrival(), default_value = Arrival::default().name())]
    arrival: Arrival,
    /// A connection for each request, or shared ones
    #[arg(long, value_parser = words::connections(), default_value = Config::default().client.http.connections.name())]
    connections: Connections,
    /// Which HTTP to speak; auto asks the server over TLS and is HTTP/1.1 in clear text
    #[arg(long, value_parser = words::protocol(), default_value = Protocol::default().name())]
    protocol: Protocol,
    /// The method of the request [default: GET, or POST with --body]
    #[arg(long)]
    method: Option<String>,
    /// A header field to send, such as "Accept: text/html"; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// A body to send: this text, or with an @ before it the content of this file
    #[arg(long, value_name = "TEXT|@FILE")]
    body: Option<String>,
    /// An address that a name is taken to have instead of being looked up; may be given several times
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    resolve: Vec<Known>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Follow redirects; each hop is a sample of its own
    #[arg(long)]
    follow: bool,
    /// How long one request may take
    #[arg(long, default_value = words::timeout(), value_parser = units::duration::parse)]
    timeout: Duration,
    /// Trust the certificates in this file (PEM) and those signed by one of them, and no others [default: the system's
    /// store, or what SSL_CERT_FILE and SSL_CERT_DIR name]
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
    /// Seed of a Poisson schedule
    #[arg(long, default_value_t = Config::default().seed)]
    seed: u64,
    /// Write a recording to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// End with exit code 1 if more than this share of the requests failed, such as 1%
    #[arg(long, value_name = "SHARE")]
    fail_above: Option<Probability>,
    /// What to call the recording
    #[arg(long, requires = "output")]
    label: Option<String>,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
    /// Show no progress and no summary
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

impl Probe {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let targets = self.urls.iter().map(|url| self.target(url)).collect::<anyhow::Result<Vec<_>>>()?;
        let stop = Stop::new();
        Interrupt::listen()?.ask(&stop);
        let is_run = self.rate.is_some()
            || self.concurrency.is_some()
            || self.duration.is_some()
            || self.count.is_some();
        match targets.as_slice() {
            [target] if is_run => self.measure(target, &stop),
            _ if is_run => bail!("a run measures one URL; start one for each, side by side"),
            [_, _, ..] if self.output.is_some() => {
                bail!("a recording is of one URL; start a probe for each, with a file of its own")
            }
            targets => self.look(targets, &stop),
        }
    }

    fn target(&self, url: &str) -> anyhow::Result<Target> {
        let target: Target = url.parse()?;
        if let Some(address) = target.address()
            && !self.family().has(address)
        {
            let (other, flag) = if self.ipv6 { ("IPv6", "-6") } else { ("IPv4", "-4") };
            bail!("{address} is not an {other} address; leave out {flag}");
        }
        let target = match &self.body {
            None => target,
            Some(text) => target.method("POST")?.body(body(text)?),
        };
        let target = match &self.method {
            None => target,
            Some(method) => target.method(method)?,
        };
        self.headers.iter().try_fold(target, |target, line| Ok(target.header_line(line)?))
    }

    fn family(&self) -> Family {
        match (self.ipv4, self.ipv6) {
            (true, _) => Family::V4,
            (_, true) => Family::V6,
            _ => Family::Any,
        }
    }

    /// One request to each URL, shown in detail.
    fn look(&self, targets: &[Target], stop: &Stop) -> anyhow::Result<ExitCode> {
        let config = Config {
            pace: Pace::Closed { concurrency: 1 },
            count: Some(1),
            duration: None,
            ..self.config()?
        };
        // Before anything is asked for, so that nothing is measured that cannot be kept.
        let mut file = self.output.as_deref().map(create).transpose()?;
        let mut all_answered = true;
        for target in targets {
            let kept = Kept::default();
            let header = Header { label: self.label.clone(), ..load::header(target, &config) };
            let recording = Writer::new(kept.clone(), &header)?;
            let summary = load::run(target, &config, recording, &Progress::default(), stop)?;
            if let (Some(file), Some(path)) = (&mut file, &self.output) {
                file.write_all(&kept.bytes()).with_context(|| cannot_write(path))?;
            }
            all_answered &= summary.failed == 0;
            self.advise(&summary);
            if summary.interrupted {
                return Ok(interrupt::exit_code());
            }
            if self.json {
                output::print_json(&summary)?;
            }
            if self.json || self.quiet {
                continue;
            }
            for sample in Reader::new(kept.bytes().as_slice(), "the recording in memory")? {
                output::print(&show::waterfall(&target.to_string(), &sample?))?;
            }
        }
        Ok(if all_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Many requests on a schedule.
    fn measure(&self, target: &Target, stop: &Stop) -> anyhow::Result<ExitCode> {
        let config = self.config()?;
        let header = Header { label: self.label.clone(), ..load::header(target, &config) };
        let progress = Progress::default();
        let bar = (!self.quiet).then(|| watch(&progress, config.duration)).transpose()?;
        let summary = match &self.output {
            Some(path) => {
                let file = BufWriter::new(create(path)?);
                let run = load::run(target, &config, Writer::new(file, &header)?, &progress, stop);
                match run {
                    Err(error @ probe::Error::Record { .. }) => {
                        Err(error).with_context(|| cannot_write(path))?
                    }
                    other => other?,
                }
            }
            None => load::run(target, &config, Writer::new(io::sink(), &header)?, &progress, stop)?,
        };
        drop(bar);
        self.conclude(&summary)
    }

    fn conclude(&self, summary: &Summary) -> anyhow::Result<ExitCode> {
        if self.json {
            output::print_json(summary)?;
        } else if !self.quiet {
            output::print(&show::summary(summary))?;
        }
        for reason in &summary.invalid {
            say(&format!("{}: {reason}", output::paint("INVALID", output::RED)));
        }
        let is_unanswered = summary.requests == summary.failed;
        if is_unanswered && summary.requests > 0 {
            say(&format!(
                "{}: no request was answered: {}",
                output::paint("FAILED", output::RED),
                show::reasons(summary)
            ));
        }
        let too_many = self.has_too_many_failures(summary);
        self.advise(summary);
        if summary.interrupted {
            say("interrupted: the run ended before its time");
            return Ok(interrupt::exit_code());
        }
        let is_good = summary.invalid.is_empty() && !is_unanswered && !too_many;
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Whether more requests failed than --fail-above allows, which is said.
    fn has_too_many_failures(&self, summary: &Summary) -> bool {
        let Some(limit) = self.fail_above else { return false };
        #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 requests")]
        let failed = summary.failed as f64 / summary.requests.max(1) as f64;
        if failed > limit.get() {
            let reasons = show::reasons(summary);
            say(&format!(
                "{}: {} of the requests failed, more than {limit}: {reasons}",
                output::paint("FAILED", output::RED),
                units::show::share(failed)
            ));
        }
        failed > limit.get()
    }

    /// Says what can be done about failures, where that is known.
    fn advise(&self, summary: &Summary) {
        for remedy in remedy::remedies(summary, self.ca.is_some()) {
            say(&format!("{}: {remedy}", output::paint("hint", output::CYAN)));
        }
    }

    fn config(&self) -> anyhow::Result<Config> {
        let defaults = Config::default();
        let pace = match (self.rate, self.concurrency) {
            (None, Some(workers)) => Pace::Closed { concurrency: usize::try_from(workers)? },
            (rate, _) => {
                let rate = rate.unwrap_or_else(Config::default_rate);
                Pace::Open { rate, arrival: self.arrival }
            }
        };
        let mut client = defaults.client;
        client.redirects = if self.follow { Redirects::Follow } else { Redirects::Stay };
        client.timeout = self.timeout;
        client.http.protocol = self.protocol;
        client.http.connections = self.connections;
        client.http.family = self.family();
        client.http.known.clone_from(&self.resolve);
        client.http.trust = match &self.ca {
            Some(path) => Trust::File(path.clone()),
            None if self.insecure => Trust::Anyone,
            None => Trust::System,
        };
        Ok(Config {
            pace,
            duration: if self.count.is_some() { self.duration } else { self.duration.or(defaults.duration) },
            count: self.count,
            grace: self.timeout,
            seed: self.seed,
            client,
            ..defaults
        })
    }
}

/// The body that a person asked for.
fn body(text: &str) -> anyhow::Result<Vec<u8>> {
    match text.strip_prefix('@') {
        None => Ok(text.into()),
        Some(path) => {
            fs::read(path).with_context(|| format!("{path}: cannot be read, and is to be the body"))
        }
    }
}

fn create(path: &Path) -> anyhow::Result<Growing> {
    Growing::create(path).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

/// A recording in memory, for one request.
#[derive(Clone, Default)]
struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl Kept {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().map(|bytes| bytes.clone()).unwrap_or_default()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::Error::other("a writer panicked"))?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line that shows how far a run is, drawn by a thread of its own and only where somebody sees it.
pub(crate) struct Watch {
    bar: ProgressBar,
    done: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

pub(crate) fn watch(progress: &Progress, duration: Option<Duration>) -> anyhow::Result<Watch> {
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let (done, ended) = std::sync::mpsc::channel();
    let (shown, progress) = (bar.clone(), progress.clone());
    let of = duration.map_or_else(String::new, |duration| format!(" of {}", units::duration::show(duration)));
    let thread = std::thread::spawn(move || {
        while ended.recv_timeout(REDRAW) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let elapsed = shown.elapsed().as_secs();
            shown.set_message(format!(
                "{elapsed} s{of}: {} sent, {} done, {} failed",
                progress.sent(),
                progress.done(),
                progress.failed()
            ));
            shown.tick();
        }
    });
    Ok(Watch { bar, done, thread: Some(thread) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The thread ends when it is told to, or when its order can no longer come.
        let _ = self.done.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Often enough to look alive.
const REDRAW: Duration = Duration::from_millis(200);
