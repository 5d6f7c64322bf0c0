//! `longhaul probe`: requests with all their phases; one, or many on a schedule.

mod live;
mod measure;
mod remedy;
mod show;
mod unix_socket;
pub(crate) mod words;

use std::{
    fs,
    io::{self, Write},
    net::SocketAddr,
    num::NonZeroU32,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Args;
use probe::{
    Catalogue, Family, Stop,
    client::{Field, Known, Protocol, Redirects, Target, Trust},
    load::{self, Arrival, Config, Connections, Pace, Progress, Replay},
    summary::Summary,
};
use recording::{Growing, Header, Reader, Writer};
use units::{Frequency, Probability, show::plural};

use crate::{
    interrupt::{self, Interrupt},
    output::{self, say},
};

/// Measure HTTP requests phase by phase
///
/// Without --rate, --concurrency, --count or --duration: one request to each URL. With --rate: an open loop, in which
/// requests start when the schedule says. With --concurrency: a closed loop, which hides stalls. Several URLs are measured side by side, each
/// at that rate: they take turns, so that all of them see the same minutes.
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
    /// Requests a second to each URL, such as 50/s [default, in a run: 10/s]
    #[arg(long, conflicts_with = "concurrency")]
    rate: Option<Frequency>,
    /// Requests at a time to each URL, each worker starting its next when its last is done
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// How long to start requests [default, in a run without --count: 10s]
    #[arg(long, value_parser = units::duration::parse)]
    duration: Option<Duration>,
    /// How many requests to start, to each URL
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Go on until interrupted, at 1/s if no --rate says otherwise
    #[arg(long, conflicts_with_all = ["duration", "count", "json"])]
    watch: bool,
    /// Serve metrics for Prometheus at this address, under /metrics; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Send metrics every 10 s to this URL of a collector, such as http://localhost:4318/v1/metrics
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Start requests when those of this recording started
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["rate", "concurrency", "arrival", "watch"])]
    replay: Option<PathBuf>,
    /// How an open loop spreads requests
    #[arg(long, value_parser = words::arrival(), default_value = Arrival::default().name())]
    arrival: Arrival,
    /// A connection for each request, with or without an earlier TLS session, or shared ones
    #[arg(long, value_parser = words::connections(), default_value = Config::default().connections().name())]
    connections: Connections,
    /// Requests that a page makes, with --connections pages; --rate, --concurrency and --count are then about pages
    #[arg(long, value_name = "N")]
    requests: Option<NonZeroU32>,
    /// How many objects there are; each request asks for one, whose number is in the place of {} in the URL
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Catalogue::MOST)))]
    objects: Option<u32>,
    /// How their popularity falls, the k-th being asked for in proportion to 1/k^ZIPF; 0: all alike [default: 0.8]
    #[arg(long, value_name = "ZIPF", requires = "objects", value_parser = words::zipf)]
    zipf: Option<f64>,
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
    /// A server of DNS to ask, such as 192.0.2.53 or [2001:db8::53]:5353, instead of those of the system; may be given several times
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = words::dns)]
    dns: Vec<SocketAddr>,
    /// Connect to this Unix socket, whatever the URL's host; the URL gives the Host field, the path and the name for TLS
    #[arg(long, value_name = "PATH", conflicts_with_all = ["resolve", "dns", "ipv4", "ipv6"])]
    unix_socket: Option<PathBuf>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// A field of responses that becomes a label of each sample, such as ETag; may be given several times
    #[arg(long, value_name = "NAME")]
    record: Vec<Field>,
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
    /// Write a recording to this file; of several URLs once for each, in their order
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// End with exit code 1 if more than this share of the requests failed, such as 1%
    #[arg(long, value_name = "SHARE")]
    fail_above: Option<Probability>,
    /// What to call the recording; of several once for each, in their order
    #[arg(long, requires = "output")]
    label: Vec<String>,
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
            || self.count.is_some()
            || self.replay.is_some()
            || self.watch;
        self.check_outputs()?;
        if !self.watch && (!self.listen.is_empty() || self.otlp.is_some()) {
            bail!("--listen and --otlp are for --watch, which goes on until it is interrupted");
        }
        self.check_page(is_run)?;
        self.check_unix_socket()?;
        if is_run { self.measure(&targets, &stop) } else { self.look(&targets, &stop) }
    }

    /// A page has a number of requests, and only it has.
    fn check_page(&self, is_run: bool) -> anyhow::Result<()> {
        match (self.connections, self.requests) {
            (Connections::Pages, None) => {
                bail!("--connections pages needs --requests N: how many requests a page makes")
            }
            (Connections::Pages, Some(_)) if !is_run => {
                bail!("pages are for a run; say how many with --count N, or how often with --rate")
            }
            (Connections::Pages, _) | (_, None) => Ok(()),
            (_, Some(_)) => bail!("--requests is for --connections pages"),
        }
    }

    /// Each URL has a recording of its own, or none has.
    fn check_outputs(&self) -> anyhow::Result<()> {
        let (urls, files, labels) = (self.urls.len(), self.output.len(), self.label.len());
        if files != 0 && files != urls {
            bail!(
                "{} and {}: give --output once for each URL, in their order",
                plural(urls as u64, "URL"),
                plural(files as u64, "file")
            );
        }
        if labels > files {
            bail!(
                "{} and {}: each names a recording",
                plural(labels as u64, "label"),
                plural(files as u64, "file")
            );
        }
        if let Some(twice) =
            self.output.iter().enumerate().find(|(at, file)| self.output[..*at].contains(file))
        {
            bail!("{}: two recordings cannot be one file", twice.1.display());
        }
        self.output.iter().try_for_each(|path| output::recording_goes_to(path, self.json))?;
        Ok(())
    }

    /// The header of the recording of a URL.
    fn header(&self, number: usize, target: &Target, config: &Config) -> Header {
        Header { label: self.label.get(number).cloned(), ..load::header(target, config) }
    }

    fn target(&self, url: &str) -> anyhow::Result<Target> {
        let target: Target = url.parse()?;
        if let Some(address) = target.address()
            && !self.family().has(address)
        {
            let (other, flag) = if self.ipv6 { ("IPv6", "-6") } else { ("IPv4", "-4") };
            bail!("{address} is not an {other} address; leave out {flag}");
        }
        match (self.objects, target.has_place()) {
            (Some(_), false) => bail!("--objects needs {{}} in {url}, where the number of an object goes"),
            (None, true) => {
                bail!("{url} has {{}} for the number of an object: --objects says how many there are")
            }
            _ => {}
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

    fn catalogue(&self) -> Option<Catalogue> {
        let zipf = self.zipf.unwrap_or(Catalogue::ZIPF);
        self.objects.map(|objects| Catalogue { objects, zipf })
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
        let mut files = self.output.iter().map(|path| create(path)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut all_answered = true;
        for (number, target) in targets.iter().enumerate() {
            let kept = Kept::default();
            let recording = Writer::new(kept.clone(), &self.header(number, target, &config))?;
            let summary = load::run(target, &config, recording, &Progress::default(), stop)?;
            if let Some(file) = files.get_mut(number) {
                file.write_all(&kept.bytes()).with_context(|| cannot_write(&self.output[number]))?;
            }
            all_answered &= summary.errors == 0;
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
                output::print(&show::waterfall(&target.to_string(), &sample?, output::columns()))?;
            }
        }
        Ok(if all_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Says what can be done about failures, where that is known.
    fn advise(&self, summary: &Summary) {
        for remedy in remedy::remedies(summary, self.ca.is_some()) {
            say(&format!("{}: {remedy}", output::paint("hint", output::CYAN)));
        }
    }

    fn config(&self) -> anyhow::Result<Config> {
        let defaults = Config::default();
        let pace = match (&self.replay, self.rate, self.concurrency) {
            (Some(path), ..) => Pace::Replay(Replay::read(path)?),
            (None, None, Some(workers)) => Pace::Closed { concurrency: usize::try_from(workers)? },
            (None, rate, _) => {
                let default = if self.watch { Config::watch_rate } else { Config::default_rate };
                let rate = rate.unwrap_or_else(default);
                Pace::Open { rate, arrival: self.arrival }
            }
        };
        let mut client = defaults.client;
        client.redirects = if self.follow { Redirects::Follow } else { Redirects::Stay };
        client.timeout = self.timeout;
        client.record.clone_from(&self.record);
        client.http.protocol = self.protocol;
        client.http.family = self.family();
        client.http.known.clone_from(&self.resolve);
        client.http.dns.clone_from(&self.dns);
        client.http.unix_socket.clone_from(&self.unix_socket);
        client.http.trust = match &self.ca {
            Some(path) => Trust::File(path.clone()),
            None if self.insecure => Trust::Anyone,
            None => Trust::System,
        };
        let has_end = self.count.is_some() || self.replay.is_some() || self.watch;
        let mut config = Config {
            pace,
            duration: if has_end { self.duration } else { self.duration.or(defaults.duration) },
            count: self.count,
            grace: self.timeout,
            seed: self.seed,
            catalogue: self.catalogue(),
            client,
            ..defaults
        };
        config.set_connections(self.connections, self.requests.unwrap_or(NonZeroU32::MIN));
        Ok(config)
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
