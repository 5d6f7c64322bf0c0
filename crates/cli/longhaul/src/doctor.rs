//! `longhaul doctor`: checks which features this machine supports and how precisely it emulates.

mod trial;

use std::{fmt::Write, process::ExitCode};

use clap::Args;
use planet::doctor::{Check, Errors, Findings, State, Trial, examine};

use crate::output::{self, COULD_NOT_RUN, GREEN, RED, YELLOW, paint, say};

/// Check the features of this machine and the precision of its emulation
///
/// Runs a small planet for some seconds to measure its precision; --quick skips this. Exits with 2 if no
/// planet can run here. Measurements of real networks (probe, compare) need none of the features.
///
/// Example: longhaul doctor --json
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Skip the trial
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let checks = examine();
        let can_emulate = checks.iter().all(|check| check.state != State::Missing);
        if !self.json {
            output::print(&table(&checks))?;
        }
        let trial = (can_emulate && !self.quick).then(|| {
            say("trying a planet for 5 s: pings over 20 ms, alone and beside a bulk flow");
            trial::run()
        });
        let trial = trial.transpose()?;
        if self.json {
            output::print_json(&output::named("longhaul.doctor/1", Findings { can_emulate, checks, trial }))?;
        } else if let Some(trial) = trial {
            output::print(&told(&trial))?;
        }
        Ok(if can_emulate { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
    }
}

fn told(trial: &Trial) -> String {
    let errors = |errors: &Errors| {
        format!(
            "{:.0} us at the median, {:.0} us at p99, {} of {} answered",
            errors.median_us, errors.p99_us, errors.answered, errors.sent
        )
    };
    let flow =
        trial.bulk_mbps.map_or_else(String::new, |mbps| format!(" of {}", units::show::rate(mbps * 1e6)));
    format!(
        "\npings over {} ms were off by {}\nbeside a bulk flow{flow} by {}\ngood for: {}\n",
        trial.round_trip_ms,
        errors(&trial.idle),
        errors(&trial.busy),
        trial.good_for
    )
}

fn table(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let (word, style) = match check.state {
            State::Ok => ("ok     ", GREEN),
            State::Limited => ("limited", YELLOW),
            State::Missing => ("missing", RED),
        };
        let _ = writeln!(text, "{}  {:17} {}", paint(word, style), check.name, check.found);
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(text, "{:9}{:18}remedy: {remedy}", "", "");
        }
    }
    text
}
