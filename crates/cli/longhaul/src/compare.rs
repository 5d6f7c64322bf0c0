//! `longhaul compare`: compares recordings by the latency that users experience.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use claim::{Doubt, Threshold};
use clap::Args;
use recording::{AccessLog, ColumnMapping, Metric, Unit};
use report::{Analysis, Blocks, Comparison, Question, SideInput, Unanswered, terminal::Detail};
use statistics::{Page, Settings};
use units::Probability;

use crate::{
    output::{self, say},
    run::write,
};

mod failing;
mod progress;
mod sides;
mod values;

use progress::Progress;
use sides::Sides;
pub(crate) use values::metric;
use values::{Period, block, is_backwards, level, moment, period, phase};

/// Compare recordings by the latency that users experience
///
/// A recording is a native one, CSV with a column such as latency_ms, HAR, an HdrHistogram log, or the output
/// of curl, oha, k6, vegeta, a browser or a web server; compressed or not. The format is recognised by the
/// content. LABEL=FILE names a side; several files with the same label form one side.
///
/// Example: longhaul compare a.csv b.csv --requests 180 --required 0.5 --html report.html
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The recordings: FILE or LABEL=FILE; - is standard input
    #[arg(required = true, value_name = "RECORDING")]
    recordings: Vec<String>,
    /// Requests per page
    #[arg(long, default_value_t = 1, value_name = "N")]
    requests: u32,
    /// Share of the requests that the user waits for: 0.5 or 50%
    #[arg(long, default_value = "100%", value_name = "SHARE")]
    required: Probability,
    /// Break the comparison down by this label: a column, city, status, ...
    #[arg(long, value_name = "LABEL")]
    by: Option<String>,

    /// The number to compare: latency, dns, connect, tls, send, wait, load, first_interim, ttfb, ttfb_without_dns, total, response
    #[arg(long, value_parser = metric, help_heading = "What is read")]
    metric: Option<Metric>,
    /// Subtract a phase from the latency: dns, connect, tls, send, wait or load
    #[arg(long, value_parser = phase, value_name = "PHASE", help_heading = "What is read")]
    exclude_phase: Vec<Metric>,
    /// The unit of numbers if the file does not specify it: ns, us, ms, s
    #[arg(long, help_heading = "What is read")]
    unit: Option<Unit>,
    /// The meaning of a column of a CSV file, or of a variable of an access log: latency=elapsed:ms, started=when
    #[arg(long, value_name = "FIELD=HEADER[:UNIT]", help_heading = "What is read")]
    column: Vec<ColumnMapping>,
    /// The format of an access log: nginx, apache, tomcat9, tomcat10, varnishncsa, envoy, istio, or a format string such as
    /// '$request_time $status' or '%>s %D'
    #[arg(long, value_name = "FORMAT", help_heading = "What is read")]
    log_format: Option<AccessLog>,
    /// Above this number, samples are stored as a histogram
    #[arg(long, value_name = "N", default_value_t = recording::Wanted::default().exact_up_to, help_heading = "What is read")]
    exact_up_to: usize,

    /// Exclude samples that started earlier: 30s since the start, or 2025-03-14T09:30:00Z
    #[arg(long, value_parser = moment, value_name = "TIME", help_heading = "Time")]
    from: Option<recording::Moment>,
    /// Exclude samples that started at this time or later
    #[arg(long, value_parser = moment, value_name = "TIME", help_heading = "Time")]
    to: Option<recording::Moment>,
    /// Exclude a period: 240s..330s
    #[arg(long, value_parser = period, value_name = "PERIOD", help_heading = "Time")]
    exclude: Vec<Period>,
    /// Compare one recording before this moment with itself after it
    #[arg(long, value_parser = moment, value_name = "TIME", help_heading = "Time")]
    mark: Option<recording::Moment>,

    /// Confidence level of the intervals
    #[arg(long, value_parser = level, default_value = "95%", help_heading = "Certainty")]
    level: f64,
    /// Number of bootstrap resamples; 0: no intervals
    #[arg(long, value_name = "N", help_heading = "Certainty")]
    resamples: Option<u32>,
    /// The seed of the random numbers
    #[arg(long, default_value_t = Settings::default().seed, help_heading = "Certainty")]
    seed: u64,
    /// Block length of the bootstrap, for samples that correlate in time: auto, none or a number of samples
    #[arg(long, value_parser = block, default_value = "auto", help_heading = "Certainty")]
    block: Blocks,

    /// Exit with 1 if this condition is true: 'experienced.p95 worse by 5%', 'p99 above 300ms', 'mean surely
    /// worse by 10ms', 'failed above 1%', 'experienced.failed surely worse'
    #[arg(long, value_name = "CONDITION", help_heading = "Output")]
    fail_if: Vec<Threshold>,
    /// Also print the intervals of percentiles, and every pair of sides
    #[arg(long, help_heading = "Output")]
    wide: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Write a report to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Write each chart to this folder, for slides
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    svg: Option<PathBuf>,
    /// Write a summary for a pull request to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    markdown: Option<PathBuf>,
}

impl Compare {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let page = Page::new(self.requests, self.required.get())?;
        if self.from.zip(self.to).is_some_and(|(from, to)| is_backwards(from, to)) {
            bail!("--from must lie before --to");
        }
        self.spare_recordings()?;
        let progress = Progress::start("reading");
        let Sides { metric, answered: sides, unanswered, mut doubts } = self.sides()?;
        let all = sides.len() + unanswered.len();
        let has_period =
            self.from.is_some() || self.to.is_some() || !self.exclude.is_empty() || self.mark.is_some();
        if has_period && !unanswered.is_empty() {
            let all_count =
                "Of recordings of which every request failed, all requests count, whatever the period is.";
            doubts.push(Doubt::Noticed(all_count.to_owned()));
        }
        if all < 2 && self.fail_if.iter().any(Threshold::is_relative) {
            bail!("--fail-if 'worse' holds one recording against another, and there is only one");
        }
        let question = self.question(metric, page, &sides)?;
        progress.turn_to("resampling");
        let mut analysis = report::compare(&question, &sides)?;
        if let Some(by) = self.by.as_ref().filter(|_| analysis.comparison.breakdown.is_none()) {
            doubts.push(Doubt::Noticed(match sides.len() {
                0 | 1 if all > 1 => "--by compares two recordings with answered requests.".to_owned(),
                0 | 1 => "--by compares two recordings, and there is only one.".to_owned(),
                _ => format!("No sample has the label \"{by}\": there is no breakdown."),
            }));
        }
        analysis.comparison.doubt(&doubts);
        progress.finish();
        let comparison = analysis.with_unanswered(&question, &unanswered);
        if self.json {
            output::print_json(&comparison)?;
        } else {
            let detail = if self.wide { Detail::Wide } else { Detail::Short };
            output::print(&report::terminal::comparison(&comparison, detail))?;
        }
        doubts.extend(unanswered.iter().map(Unanswered::doubt));
        // The result is printed first: it must not be lost if an output file cannot be written.
        self.write(&comparison, &analysis, &doubts)?;
        let all_hold = comparison.thresholds.iter().all(|threshold| threshold.holds);
        let is_good = comparison.valid && all_hold && unanswered.is_empty();
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Fails if an output file is one of the recordings.
    fn spare_recordings(&self) -> anyhow::Result<()> {
        for (flag, output) in [("--html", &self.html), ("--markdown", &self.markdown)] {
            let Some(output) = output else { continue };
            let is_output = |text: &&String| recording::is_same_file(&sides::input(text).1, output);
            if let Some(text) = self.recordings.iter().find(is_output) {
                bail!(
                    "{flag} {}: it is the recording {text}, which would be lost; write to another name",
                    output.display()
                );
            }
        }
        Ok(())
    }

    fn question(&self, metric: Metric, page: Page, sides: &[SideInput]) -> anyhow::Result<Question> {
        for &phase in &self.exclude_phase {
            if !metric.contains(phase) {
                bail!("--exclude-phase {phase}: {metric} does not contain it; ttfb, total and latency do");
            }
        }
        let resamples = self.resamples.unwrap_or_else(|| report::fitting_resamples(sides, self.block));
        let intervals = (resamples > 0).then_some(Settings { resamples, seed: self.seed, level: self.level });
        if intervals.is_none() && self.fail_if.iter().any(Threshold::is_about_certainty) {
            bail!("--fail-if 'surely worse' needs intervals, and --resamples 0 makes none");
        }
        Ok(Question {
            metric,
            excluded_phases: self.excluded_phases(),
            page,
            intervals,
            blocks: self.block,
            by: self.by.clone(),
            thresholds: self.fail_if.clone(),
        })
    }

    fn excluded_phases(&self) -> Vec<Metric> {
        Metric::PHASES.into_iter().filter(|phase| self.exclude_phase.contains(phase)).collect()
    }

    fn write(
        &self,
        comparison: &Comparison,
        analysis: &Analysis<'_>,
        doubts: &[Doubt],
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.markdown {
            write(path, &report::markdown::summary(comparison))?;
            say(&format!("summary: {}", path.display()));
        }
        if self.html.is_none() && self.svg.is_none() {
            return Ok(());
        }
        if analysis.comparison.sides.is_empty() {
            say("no request was answered: there is nothing to draw");
            return Ok(());
        }
        let labels: Vec<_> = analysis.comparison.sides.iter().map(|side| side.label.as_str()).collect();
        let report = report::of_comparison(&labels.join(" and "), analysis, doubts)?;
        if let Some(path) = &self.html {
            write(path, &report::html(&report)?)?;
            say(&format!("report: {}", path.display()));
        }
        if let Some(folder) = &self.svg {
            write_charts(folder, &report::svg::charts(&report))?;
        }
        Ok(())
    }
}

pub(crate) fn write_charts(folder: &Path, charts: &[(String, String)]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    for (name, chart) in charts {
        write(&folder.join(name), chart)?;
    }
    say(&format!("{}: {}", units::show::plural(charts.len() as u64, "chart"), folder.display()));
    Ok(())
}
