//! `longhaul convert` and `longhaul merge`: convert a recording to another format, and merge
//! recordings.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::bail;
use claim::Caveat;
use clap::Args;
use recording::{AccessLog, ColumnMapping, Metric, Options, Target, Unit, WriteOptions};
use report::{CONVERSION_SCHEMA, Conversion};
use units::duration;

use crate::{
    compare::metric,
    interrupt::Interrupt,
    output::{self, say},
};

/// Write a recording in another format
///
/// The format of IN is recognised by its content, the format of OUT by its name: .jsonl (native), .csv, .tsv,
/// .hlog (HdrHistogram log), .hgrm (its percentiles) or .prom (Prometheus text), compressed if .gz or .zst
/// follows.
///
/// Example: longhaul convert site.har site.jsonl.zst
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The recording; - is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Merge recordings without losing samples or counts
///
/// Samples keep their order by file. Page views of different files stay different. Times are relative to the
/// earliest start if all files contain theirs.
///
/// Example: longhaul merge oslo.jsonl lima.jsonl -o all.jsonl
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The recordings; - is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Options that supplement the contents of the files.
#[derive(Debug, Args)]
struct How {
    /// The format to write if the name of OUT does not determine it: native, csv, tsv, hlog, hgrm, prometheus
    #[arg(long, value_name = "FORMAT")]
    to: Option<Target>,
    /// The metric of a format that holds only one
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// The unit of numbers if the file does not specify it: ns, us, ms, s
    #[arg(long)]
    unit: Option<Unit>,
    /// The meaning of a column of a CSV file, or of a variable of an access log: latency=elapsed:ms, started=when
    #[arg(long, value_name = "FIELD=HEADER[:UNIT]")]
    column: Vec<ColumnMapping>,
    /// The format of an access log: nginx, apache, tomcat9, tomcat10, varnishncsa, envoy, istio, or a format string such as
    /// '$request_time $status' or '%>s %D'
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<AccessLog>,
    /// Significant digits of a histogram, 1 to 5
    #[arg(long, default_value_t = WriteOptions::default().digits, value_parser = clap::value_parser!(u8).range(1..=5))]
    digits: u8,
    /// Length of the intervals of an HdrHistogram log
    #[arg(long, default_value = "1s", value_parser = duration::parse)]
    interval: std::time::Duration,
    /// The label whose values become the tags of an HdrHistogram log
    #[arg(long, value_name = "LABEL")]
    tag: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Convert {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        self.how.put_together(std::slice::from_ref(&self.input), &self.output)
    }
}

impl Merge {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        self.how.put_together(&self.inputs, &self.output)
    }
}

impl How {
    fn put_together(&self, inputs: &[PathBuf], output: &Path) -> anyhow::Result<ExitCode> {
        output::recording_goes_to(output, self.json)?;
        let from_standard_input = inputs.iter().filter(|path| recording::is_standard(path)).count();
        if from_standard_input > 1 {
            bail!("- is standard input, which can be read once: give the other recordings as files");
        }
        let target = self.to.map_or_else(|| Target::of(output), Ok)?;
        let read = Options {
            metric: self.metric,
            unit: self.unit,
            columns: self.column.clone(),
            access_log: self.log_format.clone(),
            labels: recording::Labels::All,
        };
        let written = WriteOptions {
            metric: self.metric,
            digits: self.digits,
            interval_s: self.interval.as_secs_f64(),
            tag: self.tag.clone(),
            ..WriteOptions::default()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let temporaries = recording::temporaries_of(output);
        let not_written = format!(": {} is not written", output.display());
        Interrupt::listen()?.set(&stop, move || {
            // A missing temporary file has probably been renamed: the output is complete.
            let removed: Vec<_> = temporaries.iter().map(|name| std::fs::remove_file(name).is_ok()).collect();
            let what = if removed.first() == Some(&true) { not_written.as_str() } else { "" };
            say(&format!("{}: stopped{what}", output::paint("error", output::RED)));
        })?;
        let merged = recording::merge(inputs, output, target, &read, &written, &stop)?;
        let doubts: Vec<Caveat> = merged.doubts.iter().map(Caveat::from).collect();
        let conversion = Conversion {
            schema: CONVERSION_SCHEMA.to_owned(),
            inputs: inputs.iter().map(|path| path.display().to_string()).collect(),
            output: output.display().to_string(),
            format: target.name().to_owned(),
            read: merged.read,
            written: merged.written,
            failed: merged.failed,
            without_metric: merged.without_metric,
            lost: merged.lost,
            warnings: claim::warnings(&doubts),
            doubts,
        };
        if self.json {
            output::print_json(&conversion)?;
            return Ok(ExitCode::SUCCESS);
        }
        say(&format!(
            "{}: {} samples of {} read, {} of them failed",
            conversion.output, conversion.written, conversion.read, conversion.failed
        ));
        conversion.lost.iter().for_each(|sentence| say(&format!("note: {sentence}")));
        conversion.warnings.iter().for_each(|sentence| {
            say(&format!("{} {sentence}", output::paint("warning:", output::YELLOW)));
        });
        Ok(ExitCode::SUCCESS)
    }
}
