//! `longhaul doctor`: what this machine allows.

use std::{fmt::Write, process::ExitCode};

use clap::Args;
use planet::doctor::{Check, Findings, State, examine};

use crate::output::{self, COULD_NOT_RUN, GREEN, RED, YELLOW, paint};

/// Say what this machine allows, and the remedy for what it does not
///
/// Exits with 2 when no planet can run here. Measuring real networks (probe, compare) needs none of this.
///
/// Example: longhaul doctor --json
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let checks = examine();
        let can_emulate = checks.iter().all(|check| check.state != State::Missing);
        if self.json {
            output::print_json(&output::named("longhaul.doctor/1", Findings { can_emulate, checks }))?;
        } else {
            output::print(&table(&checks))?;
        }
        Ok(if can_emulate { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
    }
}

fn table(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let (word, style) = match check.state {
            State::Ok => ("ok     ", GREEN),
            State::Limited => ("limited", YELLOW),
            State::Missing => ("missing", RED),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {:17} {}", paint(word, style), check.name, check.found);
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(text, "{:9}{:18}remedy: {remedy}", "", "");
        }
    }
    text
}
