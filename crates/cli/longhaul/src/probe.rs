//! `longhaul probe`: measures the phases of HTTP requests; single requests, or many on a schedule.

mod live;
mod measure;
mod remedy;
mod render;
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
    Catalogue, Family, ShutdownSignal,
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
/// Without --rate, --concurrency, --count or --duration: one request to each URL. With --rate: an open loop,
/// in which requests start on schedule. With --concurrency: a closed loop, which hides stalls. Several URLs
/// are measured concurrently, each at that rate, with interleaved requests, so that all of them see the same
/// conditions.
///
/// Exit codes: 0 success, 1 a request to a URL failed, all requests of a run failed or more than --fail-above
/// allows, or the run is invalid, 2 the probe could not run, 130 interrupted; the recording contains the
/// requests until then.
///
/// Example: longhaul probe https://example.com/ --rate 50/s --duration 10s -o example.jsonl
#[derive(Debug, Args)]
pub(crate) struct Probe {
    /// The URLs to request
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    /// Requests per second to each URL, such as 50/s [default, in a run: 10/s]
    #[arg(long, conflicts_with = "concurrency")]
    rate: Option<Frequency>,
    /// Concurrent requests to each URL; each worker starts its next request when the last one is done
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// How long to start requests [default, in a run without --count: 10s]
    #[arg(long, value_parser = units::duration::parse)]
    duration: Option<Duration>,
    /// Number of requests to each URL
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Run until interrupted, at 1/s unless --rate is given
    #[arg(long, conflicts_with_all = ["duration", "count", "json"])]
    watch: bool,
    /// Serve metrics for Prometheus at this address, under /metrics; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Send metrics every 10 s to this URL of a collector, such as http://localhost:4318/v1/metrics
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Start requests at the times in this recording
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["rate", "concurrency", "arrival", "watch"])]
    replay: Option<PathBuf>,
    /// Spacing of requests in an open loop
    #[arg(long, value_parser = words::arrival(), default_value = Arrival::default().name())]
    arrival: Arrival,
    /// A connection for each request, with or without TLS session resumption, or shared connections
    #[arg(long, value_parser = words::connections(), default_value = Config::default().connections().name())]
    connections: Connections,
    /// Requests per page, with --connections pages; --rate, --concurrency and --count then apply to pages
    #[arg(long, value_name = "N")]
    requests: Option<NonZeroU32>,
    /// Number of objects; each request is for one object, whose number replaces {} in the URL
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Catalogue::MOST)))]
    objects: Option<u32>,
    /// Zipf exponent of their popularity: the k-th object is requested in proportion to 1/k^ZIPF; 0: uniform
    /// [default: 0.8]
    #[arg(long, value_name = "ZIPF", requires = "objects", value_parser = words::zipf)]
    zipf: Option<f64>,
    /// HTTP version; auto negotiates over TLS and uses HTTP/1.1 in clear text
    #[arg(long, value_parser = words::protocol(), default_value = Protocol::default().name())]
    protocol: Protocol,
    /// The method of the request [default: GET, or POST with --body]
    #[arg(long)]
    method: Option<String>,
    /// A header field to send, such as "Accept: text/html"; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// A request body: this text, or with a leading @ the content of this file
    #[arg(long, value_name = "TEXT|@FILE")]
    body: Option<String>,
    /// An address to use for a name instead of DNS; may be given several times
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    resolve: Vec<Known>,
    /// A DNS server, such as 192.0.2.53 or [2001:db8::53]:5353, instead of the servers of the system; may
    /// be given several times
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = words::dns)]
    dns: Vec<SocketAddr>,
    /// Connect to this Unix socket instead of the URL's host; the URL defines the Host field, the path and
    /// the name for TLS
    #[arg(long, value_name = "PATH", conflicts_with_all = ["resolve", "dns", "ipv4", "ipv6"])]
    unix_socket: Option<PathBuf>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// A response field to record as a label of each sample, such as ETag; may be given several times
    #[arg(long, value_name = "NAME")]
    record: Vec<Field>,
    /// Follow redirects; each hop is a separate sample
    #[arg(long)]
    follow: bool,
    /// Timeout of a request
    #[arg(long, default_value = words::timeout(), value_parser = units::duration::parse)]
    timeout: Duration,
    /// Trust the certificates in this file (PEM) and those signed by one of them, and no others [default: the
    /// system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name]
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
    /// Seed of a Poisson schedule
    #[arg(long, default_value_t = Config::default().seed)]
    seed: u64,
    /// Write a recording to this file; with several URLs, give it once per URL, in their order
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// End with exit code 1 if more than this share of the requests failed, such as 1%
    #[arg(long, value_name = "SHARE")]
    fail_above: Option<Probability>,
    /// Label of the recording; with several, give it once per recording, in their order
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
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let is_run = self.rate.is_some()
            || self.concurrency.is_some()
            || self.duration.is_some()
            || self.count.is_some()
            || self.replay.is_some()
            || self.watch;
        self.check_outputs()?;
        if !self.watch && (!self.listen.is_empty() || self.otlp.is_some()) {
            bail!("--listen and --otlp require --watch, which runs until it is interrupted");
        }
        self.check_page(is_run)?;
        self.check_unix_socket()?;
        if is_run { self.measure(&targets, &stop) } else { self.look(&targets, &stop) }
    }

    /// --requests is required for pages, and valid only for them.
    fn check_page(&self, is_run: bool) -> anyhow::Result<()> {
        match (self.connections, self.requests) {
            (Connections::Pages, None) => {
                bail!("--connections pages needs --requests N: how many requests a page makes")
            }
            (Connections::Pages, Some(_)) if !is_run => {
                bail!(
                    "--connections pages needs a run: set the number of pages with --count N, or their rate with --rate"
                )
            }
            (Connections::Pages, _) | (_, None) => Ok(()),
            (_, Some(_)) => bail!("--requests is for --connections pages"),
        }
    }

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
                bail!("{url} has {{}} for the number of an object: set the number of objects with --objects")
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

    fn look(&self, targets: &[Target], stop: &ShutdownSignal) -> anyhow::Result<ExitCode> {
        let config = Config {
            pace: Pace::Closed { concurrency: 1 },
            count: Some(1),
            duration: None,
            ..self.config()?
        };
        // Before any request, so that an unwritable file does not waste a measurement.
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
                output::print(&render::waterfall(&target.to_string(), &sample?, output::columns()))?;
            }
        }
        Ok(if all_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

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

fn body(text: &str) -> anyhow::Result<Vec<u8>> {
    match text.strip_prefix('@') {
        None => Ok(text.into()),
        Some(path) => {
            fs::read(path).with_context(|| format!("{path}: the body of the request cannot be read"))
        }
    }
}

fn create(path: &Path) -> anyhow::Result<Growing> {
    Growing::create(path).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

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
