//! `longhaul run`: runs a scenario and writes its report.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use report::{Report, terminal::Detail};
use scenario::{Options, Plan, Progress, Seed};

use crate::{
    file_kind_hint,
    interrupt::{self, Interrupt},
    output::{self, say},
};

/// Run a scenario, print its result, write its report
///
/// Writes out/NAME/report.html, out/NAME/result.json and the recordings next to them. Ctrl-C completes the
/// recordings and reports the measurements until then.
///
/// Exit codes: 0 every claim held, 1 a claim failed or this machine was the bottleneck, 2 the scenario could
/// not run, 130 interrupted.
///
/// Example: longhaul run scenarios/two-providers.toml
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The scenario file
    scenario: PathBuf,
    /// Write to this folder instead of out/NAME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seed of losses, jitter and probe schedules [default: the seeds of the files]
    #[arg(long)]
    seed: Option<u64>,
    /// Print result.json instead of tables
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let plan = Plan::read_with(&self.scenario, self.seed.map(Seed))
            .map_err(|error| file_kind_hint::instead_of_scenario(&self.scenario, error.into()))?;
        for note in &plan.notes {
            say(note);
        }
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join(&plan.name));
        say(&format!("{} measures for {}", plan.name, units::duration::show(plan.duration)));
        let interrupted = Interrupt::listen()?.poll()?;
        let bar = bar();
        let options = Options { out: out.clone(), longhaul: std::env::current_exe()? };
        let outcome = scenario::run_until_interrupted(&plan, &options, |progress| {
            show(&bar, progress);
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();

        let outcome = match outcome {
            // Interrupted before any measurement: there is nothing to report.
            Err(error @ scenario::Error::Interrupted { .. }) => {
                say(&error.to_string());
                return Ok(interrupt::exit_code());
            }
            other => other?,
        };
        let report = scenario::report(&plan, outcome)?;
        let page = out.join("report.html");
        write(&page, &report::html(&report)?)?;
        let result = Report { charts: Vec::new(), differences: Vec::new(), ..report };
        write(&out.join("result.json"), &(serde_json::to_string_pretty(&result)? + "\n"))?;
        say(&format!("report: {}", page.display()));
        if result.partial.is_some() {
            say("interrupted: the report is of what was measured until then");
        }
        if self.json {
            output::print_json(&result)?;
        } else {
            output::print(&report::terminal::report(&result, Detail::default()))?;
        }
        if result.partial.is_some() {
            return Ok(interrupt::exit_code());
        }
        let all_hold = result.claims.iter().all(|claim| claim.holds);
        Ok(if all_hold && result.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Atomic; the error contains the path.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    recording::write_whole(path, text.as_bytes())
        .with_context(|| format!("{}: cannot be written", path.display()))
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {pos:>3}/{len} s")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

fn show(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Preparing => bar.set_message("preparing"),
        Progress::Measuring { elapsed, total } => {
            bar.set_message("measuring");
            bar.set_length(total.as_secs());
            bar.set_position(elapsed.min(total).as_secs());
        }
        Progress::Ending => bar.set_message("ending"),
        Progress::Evaluating => bar.set_message("evaluating"),
    }
}
