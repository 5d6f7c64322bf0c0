//! `longhaul speed test`: runs a test against a speed server.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use config_file::Document;
use probe::{
    Family, ShutdownSignal,
    client::{Protocol, Trust},
};
use recording::{End, Growing, Header, Writer};
use speedtest::{
    client::{self, Config, Measurement, Progress},
    plan::Plan,
};

use super::{live::View, render};
use crate::{
    interrupt::{self, Interrupt},
    output::{self, RED, paint, say},
    probe::words,
    progress,
};

/// Test the line to a speed server, and rate it
///
/// Transfers small bodies first, then larger ones until a request takes a second or, on a line with a long
/// round trip, until the sender's window is open (plan full: up to 1 GB). Measures latency on the idle and
/// the loaded line, and loss over UDP. Scores are shown with the reason for each point. Missing measurements
/// are named, and turn a score into a range.
///
/// Exit codes: 0 measured, 1 the test failed early or its result could not be saved, 2 the test could not
/// run, 130 interrupted; the output contains the measurements until then.
///
/// Example: longhaul speed test http://192.0.2.1:8090 --plan full
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The server, where `longhaul speed serve` runs
    url: String,
    /// The plan of the test: quick, full, or a file
    #[arg(long, value_name = "quick|full|FILE", default_value = "quick")]
    plan: PathBuf,
    /// Concurrent requests in each transfer, each with its share of the bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    streams: u32,
    /// HTTP version; auto negotiates over TLS and uses HTTP/1.1 in clear text
    #[arg(long, value_parser = words::protocol(), default_value = Protocol::default().name())]
    protocol: Protocol,
    /// The test fails if no data moves for this time
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = units::duration::parse)]
    timeout: Duration,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Trust the certificates in this file (PEM) and those signed by one of them, and no others [default: the
    /// system's store]
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
    /// Write each request to this recording, for `longhaul compare`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Label of the recording
    #[arg(long, requires = "record")]
    label: Option<String>,
    /// Save the result on the server, if it stores results; prints the address of its page
    #[arg(long)]
    keep: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

impl Test {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let config = self.config()?;
        let stop = ShutdownSignal::new();
        Interrupt::listen()?.ask(&stop);
        // Before any measurement, so that an unwritable file does not waste one.
        self.record.iter().try_for_each(|path| output::recording_goes_to(path, self.json))?;
        let recording = self.record.as_deref().map(create).transpose()?;
        let progress = Progress::default();
        let mut view = View::new(progress.clone());
        let watch = (!self.quiet)
            .then(|| progress::watch(move |now, columns| view.draw(now, columns)))
            .transpose()?;
        let measured = client::run(&config, &progress, &stop);
        drop(watch);
        let measured = match measured {
            Err(error) if error.is_of_measurement() => {
                say(&format!("{}: {error}", paint("FAILED", RED)));
                return Ok(ExitCode::FAILURE);
            }
            other => other?,
        };
        if let (Some(file), Some(path)) = (recording, &self.record) {
            self.write(file, &measured).with_context(|| cannot_write(path))?;
        }
        if self.json {
            output::print_json(&measured.outcome)?;
        } else {
            output::print(&render::outcome(&measured.outcome))?;
        }
        if measured.outcome.interrupted {
            say("interrupted: the test ended before its time");
            return Ok(interrupt::exit_code());
        }
        match &measured.left {
            Some(Err(why)) => {
                say(&format!("{}: {why}", paint("NOT KEPT", RED)));
                return Ok(ExitCode::FAILURE);
            }
            Some(Ok(link)) => say(&format!("kept: {link}")),
            None => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    fn config(&self) -> anyhow::Result<Config> {
        let trust = match &self.ca {
            Some(path) => Trust::File(path.clone()),
            None if self.insecure => Trust::Anyone,
            None => Trust::System,
        };
        let family = match (self.ipv4, self.ipv6) {
            (true, _) => Family::V4,
            (_, true) => Family::V6,
            _ => Family::Any,
        };
        Ok(Config {
            plan: plan(&self.plan)?,
            streams: self.streams,
            protocol: self.protocol,
            trust,
            family,
            patience: self.timeout,
            keep: self.keep,
            ..Config::of(&self.url)?
        })
    }

    fn write(&self, file: Growing, measured: &Measurement) -> anyhow::Result<()> {
        let header = Header { label: self.label.clone(), ..client::header(&measured.outcome) };
        let mut writer = Writer::new(BufWriter::new(file), &header)?;
        for sample in &measured.samples {
            writer.write(sample)?;
        }
        let end = End {
            duration_ns: units_of(measured.outcome.took_s),
            samples: measured.samples.len() as u64,
            interrupted: measured.outcome.interrupted,
            ..End::default()
        };
        writer.finish(&end)?.flush()?;
        Ok(())
    }
}

fn plan(named: &Path) -> anyhow::Result<Plan> {
    match named.to_str() {
        Some("quick") => Ok(Plan::quick()),
        Some("full") => Ok(Plan::full()),
        _ => {
            let document = Document::open(named).with_context(|| {
                format!("{}: cannot be read, and is no plan of ours (quick, full)", named.display())
            })?;
            let name = named.file_stem().unwrap_or(named.as_os_str());
            Ok(Plan::read(&name.to_string_lossy(), &document)?)
        }
    }
}

fn create(path: &Path) -> anyhow::Result<Growing> {
    Growing::create(path).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

fn units_of(seconds: f64) -> u64 {
    let whole = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX)
}
