//! `longhaul tcp sweep`: measures one connection in many worlds and compares the results.

use std::{
    fmt::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::anyhow;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sweep::{Grid, Jobs, Machine, Options, Plan, Preview, Progress, Reader, Refusal, Setting, Size, State};
use units::{Bitrate, show::roughly};

use crate::{
    interrupt::Interrupt,
    output::{self, say},
};

/// Measure one connection in many worlds: every combination of the values given
///
/// Each combination is a scenario of two hosts in DIR/cells, which `longhaul run` can repeat. The reader is
/// that of `longhaul tcp oscil`. The value "default" leaves a setting unchanged. Combinations with a valid
/// result are not measured again: the same command continues an interrupted sweep. Writes sweep.json,
/// sweep.csv, sweep.html and its charts as SVG. Exits with 1 if a measurement is INVALID or failed. See
/// docs/tcp-sweep.md.
///
/// Examples: longhaul tcp sweep --dry-run, longhaul tcp sweep --rtt 20ms,300ms --rmem default,512MiB
/// --programme steady,oscillating
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// A file with the values; options precede it
    file: Option<PathBuf>,
    /// Round trips [default: 20ms,300ms]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = units::duration::parse)]
    rtt: Vec<Duration>,
    /// Rates of the link [default: 1Gbit]
    #[arg(long, value_name = "RATES", value_delimiter = ',')]
    rate: Vec<Bitrate>,
    /// Limits of the reader's buffer: the third number of its tcp_rmem [default: default,512MiB]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    rmem: Vec<Setting<Size>>,
    /// The reader's tcp_adv_win_scale, for kernels before 6.6 [default: default]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_negative_numbers = true)]
    adv_win_scale: Vec<Setting<i8>>,
    /// The sender's tcp_notsent_lowat [default: default]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    notsent_lowat: Vec<Setting<Size>>,
    /// The sender's congestion control [default: default]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    congestion: Vec<Setting<String>>,
    /// How the reader reads: names that `longhaul tcp oscil programmes` prints, or files [default: oscillating]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = reader)]
    programme: Vec<Reader>,
    /// Measurements of each combination [default: 1]
    #[arg(long, value_name = "NUMBER")]
    repeat: Option<u32>,
    /// Duration of each measurement [default: as long as its programme]
    #[arg(long = "for", value_name = "TIME", value_parser = units::duration::parse)]
    duration: Option<Duration>,
    /// Number of concurrent planets: auto, or a number
    #[arg(long, default_value_t)]
    jobs: Jobs,
    /// The folder for scenarios and results
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,
    /// Only print the plan and its duration
    #[arg(long)]
    dry_run: bool,
    /// Print sweep.json instead of a table
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

impl Sweep {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let plan = self.plan()?;
        let options = Options { out: self.out.clone(), longhaul: std::env::current_exe()?, jobs: self.jobs };
        let preview = sweep::preview(&plan, &options);
        if self.dry_run {
            output::print(&(listing(&plan) + &foretold(&plan, preview) + "\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        say(&foretold(&plan, preview));
        let interrupted = Interrupt::listen()?.poll()?;
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{spinner} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        let result = sweep::run(&plan, &options, |progress| {
            bar.set_message(told(progress));
            bar.tick();
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        self.finish(&result?)
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let machine = Machine::read()?;
        let mut grid = match &self.file {
            Some(file) => Grid::read(file, &machine)?,
            None => Grid::default(),
        };
        replace(&mut grid.rtt, &self.rtt);
        replace(&mut grid.rate, &self.rate);
        replace(&mut grid.rmem, &self.rmem);
        replace(&mut grid.adv_win_scale, &self.adv_win_scale);
        replace(&mut grid.notsent_lowat, &self.notsent_lowat);
        replace(&mut grid.congestion, &self.congestion);
        replace(&mut grid.programme, &self.programme);
        grid.repeat = self.repeat.unwrap_or(grid.repeat);
        grid.duration = self.duration.or(grid.duration);
        Plan::new(grid, machine)
            .map_err(|Refusal { axis, why }| anyhow!("--{}: {why}", axis.replace('_', "-")))
    }

    fn finish(&self, result: &sweep::Sweep) -> anyhow::Result<ExitCode> {
        let page = self.out.join("sweep.html");
        sweep::replace(&self.out.join("sweep.json"), &(serde_json::to_string_pretty(result)? + "\n"))?;
        sweep::replace(&self.out.join("sweep.csv"), &sweep::csv(result))?;
        let figures = sweep::figures(result);
        sweep::replace(&page, &report::figures_html(&figures)?)?;
        for (name, chart) in report::svg::figures(&figures) {
            sweep::replace(&self.out.join(name), &chart)?;
        }
        if self.json {
            output::print_json(result)?;
        } else {
            output::print(&sweep::table(result))?;
        }
        say(&format!("page: {}", page.display()));
        let missing = result.count(State::Missing);
        if missing > 0 {
            let all = result.cells.iter().map(|cell| cell.runs.len()).sum::<usize>();
            say(&format!(
                "interrupted; {} of {all} are measured, and the same command continues",
                all - missing
            ));
            return Ok(ExitCode::from(output::COULD_NOT_RUN));
        }
        Ok(if result.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn reader(text: &str) -> Result<Reader, String> {
    Reader::find(text, Path::new("")).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

fn replace<T: Clone>(values: &mut Vec<T>, given: &[T]) {
    if !given.is_empty() {
        *values = given.to_vec();
    }
}

fn listing(plan: &Plan) -> String {
    plan.runs().iter().map(|run| format!("{}\n", run.name)).collect()
}

fn foretold(plan: &Plan, preview: Preview) -> String {
    let Preview { kept, missing, lasts } = preview;
    let mut text = format!("{} cells, {} runs", plan.cells().len(), kept + missing);
    let _ = match (kept, missing) {
        (0, _) => write!(text, "; {}", roughly(lasts.as_secs_f64())),
        (_, 0) => write!(text, ", all measured already"),
        (_, _) => write!(text, ", of which {kept} are measured already; {}", roughly(lasts.as_secs_f64())),
    };
    text
}

fn told(progress: Progress) -> String {
    let Progress { runs, done, running, left } = progress;
    let present = match running {
        0 | 1 => format!("run {}", (done + 1).min(runs)),
        _ => format!("runs {} to {}", done + 1, (done + running).min(runs)),
    };
    format!("{present} of {runs}, {} left", roughly(left.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_names_the_run_and_the_time_left() {
        let progress = |done, running| Progress { runs: 24, done, running, left: Duration::from_secs(240) };
        assert_eq!(told(progress(2, 1)), "run 3 of 24, about 4 min left");
        assert_eq!(told(progress(2, 3)), "runs 3 to 5 of 24, about 4 min left");
    }
}
