//! `longhaul compare`: recordings, as people experience them.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use experience::Page;
use recording::{Metric, Series, read_series};
use report::SideInput;
use units::Probability;

use crate::{
    output::{self, say},
    run::write,
};

/// Compare recordings as people experience them
///
/// A recording is a native one or CSV with a column such as latency_ms. LABEL=FILE names a side; several files with one
/// label are one side.
///
/// Example: longhaul compare a.csv b.csv --requests 180 --required 0.5 --html report.html
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The recordings: FILE or LABEL=FILE
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<String>,
    /// Requests that a page makes
    #[arg(long, default_value_t = 1, value_name = "N")]
    requests: u32,
    /// Share of them that a person waits for: 0.5 or 50%
    #[arg(long, default_value = "100%", value_name = "SHARE")]
    required: Probability,
    /// The number to compare: latency, dns, connect, tls, send, wait, load, ttfb, ttfb_without_dns, total, response
    #[arg(long, value_parser = metric)]
    metric: Option<Metric>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a report to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Compare {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let page = Page::new(self.requests, self.required.get())?;
        let mut sides = self.read()?;
        let metric = sides[0].metric;
        if let Some(other) = sides.iter().find(|side| side.metric != metric) {
            bail!(
                "{} has {metric} and {} has {}: they cannot be compared; choose with --metric",
                sides[0].label,
                other.label,
                other.metric
            );
        }
        let warnings = sides.iter_mut().flat_map(|side| {
            let label = side.label.clone();
            std::mem::take(&mut side.warnings).into_iter().map(move |warning| format!("{label}: {warning}"))
        });
        let warnings: Vec<String> = warnings.collect();
        let sides = sides.into_iter().map(SideInput::try_from).collect::<Result<Vec<_>, _>>()?;

        let mut comparison = report::compare(metric, &sides, page);
        comparison.warnings.extend(warnings.iter().cloned());
        if self.json {
            output::print_json(&comparison)?;
        } else {
            output::print(&report::terminal::comparison(&comparison))?;
        }
        if let Some(path) = &self.html {
            let labels: Vec<_> = comparison.sides.iter().map(|side| side.label.as_str()).collect();
            let report = report::of_comparison(&labels.join(" and "), metric, &sides, page, warnings)?;
            write(path, &report::html(&report)?)?;
            say(&format!("report: {}", path.display()));
        }
        Ok(if comparison.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Reads all files, each in a thread of its own, and puts those of one label together.
    fn read(&self) -> anyhow::Result<Vec<Series>> {
        let read = |(label, path): &(Option<String>, PathBuf)| -> anyhow::Result<Series> {
            let series = read_series(path, self.metric)?;
            Ok(Series { label: label.clone().unwrap_or(series.label), ..series })
        };
        let inputs: Vec<_> = self.recordings.iter().map(|text| input(text)).collect();
        let all: Vec<anyhow::Result<Series>> = std::thread::scope(|scope| {
            let threads: Vec<_> = inputs.iter().map(|input| scope.spawn(|| read(input))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut sides: Vec<Series> = Vec::new();
        for ((label, path), series) in inputs.iter().zip(all) {
            let series = series?;
            let named = label.is_some();
            match sides.iter_mut().find(|side| named && side.label == series.label) {
                Some(side) => {
                    side.append(series).with_context(|| format!("{}: not of one kind", path.display()))?;
                }
                None => sides.push(series),
            }
        }
        Ok(sides)
    }
}

/// "LABEL=FILE" or "FILE". A file whose name has an equals sign is still a file.
fn input(text: &str) -> (Option<String>, PathBuf) {
    match text.split_once('=') {
        Some((label, path)) if !label.is_empty() && !Path::new(text).exists() => {
            (Some(label.to_owned()), path.into())
        }
        _ => (None, text.into()),
    }
}

fn metric(name: &str) -> Result<Metric, String> {
    Metric::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Metric::ALL.into_iter().map(Metric::name).collect();
        let hint = planet::suggestion(name, known.iter().copied());
        format!("unknown metric \"{name}\"{hint}; expected one of {}", known.join(", "))
    })
}
