//! `longhaul run`: a scenario from its file to its report.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use report::{Report, terminal::Detail};
use scenario::{Options, Plan, Progress};

use crate::{
    interrupt::Interrupt,
    output::{self, say},
};

/// Run a scenario, print its result, write its report
///
/// Writes out/NAME/report.html, out/NAME/result.json and the recordings beside them. Exits with 1 if a claim failed or if
/// the emulator was the bottleneck.
///
/// Example: longhaul run scenarios/two-providers.toml
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The scenario file
    scenario: PathBuf,
    /// Write to this folder instead of out/NAME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print result.json instead of tables
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let plan = Plan::read(&self.scenario)?;
        for note in &plan.notes {
            say(note);
        }
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join(&plan.name));
        let interrupted = Interrupt::listen()?.poll()?;
        let bar = bar();
        let options = Options { out: out.clone(), longhaul: std::env::current_exe()? };
        let outcome = scenario::run(&plan, &options, |progress| {
            show(&bar, progress);
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();

        let report = report::of_scenario(&plan, outcome?)?;
        let page = out.join("report.html");
        write(&page, &report::html(&report)?)?;
        let result = Report { charts: Vec::new(), differences: Vec::new(), ..report };
        write(&out.join("result.json"), &(serde_json::to_string_pretty(&result)? + "\n"))?;
        if self.json {
            output::print_json(&result)?;
        } else {
            output::print(&report::terminal::report(&result, Detail::default()))?;
        }
        say(&format!("report: {}", page.display()));
        let all_hold = result.claims.iter().all(|claim| claim.holds);
        Ok(if all_hold && result.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Writes a file, or says which one could not be written.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("{}: cannot be written", path.display()))
}

/// A bar that is drawn only where somebody sees it.
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
        Progress::Evaluating => bar.set_message("evaluating"),
    }
}
