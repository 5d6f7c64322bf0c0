//! `longhaul ping`: measures round-trip times and loss of many targets from one process.

mod render;

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use probe::{
    ShutdownSignal,
    load::Progress,
    ping::{self, Config, Family, Summary, Target},
};
use recording::{Growing, Header, Writer};

use crate::{
    interrupt::{self, Interrupt},
    output, progress,
};

/// Ping hosts: round-trip times and loss, many targets concurrently
///
/// Each round sends one ping to each host, spread evenly over the interval. Exit code 1 if a host never
/// replied.
///
/// Example: longhaul ping example.com 192.0.2.1 --count 100 --interval 200ms -o pings.jsonl
#[derive(Debug, Args)]
pub(crate) struct Ping {
    /// Names or addresses
    #[arg(required = true, value_name = "HOST")]
    hosts: Vec<String>,
    /// Pings to each host
    #[arg(long, value_name = "N", default_value_t = Config::default().count, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Delay before the first round, so that several programs start together
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = units::duration::parse)]
    delay: Duration,
    /// Time between rounds
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration::parse)]
    interval: Duration,
    /// Timeout after which a ping counts as lost
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = units::duration::parse)]
    timeout: Duration,
    /// Bytes of payload in each ping
    #[arg(
        long, value_name = "BYTES", default_value_t = Config::default().size,
        value_parser = clap::value_parser!(u16).range(..=i64::from(Config::LARGEST_SIZE))
    )]
    size: u16,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Write a recording to this file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Label of the recording
    #[arg(long, requires = "output")]
    label: Option<String>,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
    /// Show no progress and no summary
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

impl Ping {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let family = match (self.ipv4, self.ipv6) {
            (true, _) => Family::V4,
            (_, true) => Family::V6,
            _ => Family::Any,
        };
        let targets = ping::resolve(&self.hosts, family)?;
        // After name resolution, during which Ctrl-C ends the program directly.
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        let summary = match &self.output {
            Some(path) => {
                output::recording_goes_to(path, self.json)?;
                let file = Growing::create(path)
                    .with_context(|| format!("{}: cannot be written", path.display()))?;
                self.measure(&targets, BufWriter::new(file), &stop)?
            }
            None => self.measure(&targets, io::sink(), &stop)?,
        };
        if self.json {
            output::print_json(&summary)?;
        } else if !self.quiet {
            output::print(&render::summary(&summary))?;
        }
        if summary.interrupted {
            return Ok(interrupt::exit_code());
        }
        let all_answered = summary.targets.iter().all(|target| target.received > 0);
        Ok(if all_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn measure(
        &self,
        targets: &[Target],
        recording: impl Write,
        stop: &ShutdownSignal,
    ) -> anyhow::Result<Summary> {
        let config = Config {
            count: self.count,
            delay: self.delay,
            interval: self.interval,
            timeout: self.timeout,
            size: self.size,
        };
        let header = Header { label: self.label.clone(), ..ping::header(targets, &config) };
        let progress = Progress::default();
        let shown = progress.clone();
        let line = move |elapsed: Duration, _| {
            let (sent, done, failed) = (shown.sent(), shown.done(), shown.failed());
            format!("{} s: {sent} sent, {done} done, {failed} failed", elapsed.as_secs())
        };
        let bar = (!self.quiet).then(|| progress::watch(line)).transpose()?;
        let summary = ping::run(targets, &config, Writer::new(recording, &header)?, &progress, stop)?;
        drop(bar);
        Ok(summary)
    }
}
