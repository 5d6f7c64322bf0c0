//! Lists active and planned faults, and lifts them.

use std::process::ExitCode;

use clap::Args;
use planet::{FaultStatus, cli_documents::Lifted};
use report::terminal::table::{Table, Words};

use super::{super::Which, SCHEMA};
use crate::output::{self, PLAIN, YELLOW};

/// Show active and planned faults
///
/// Example: longhaul lab fault list --json
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = self.which.find()?;
        let status = planet.status()?;
        if self.json {
            let faults = status.faults.iter().map(|fault| output::named(SCHEMA, fault));
            output::print_json(&faults.collect::<Vec<_>>())?;
        } else if status.faults.is_empty() {
            output::print(&format!(
                "nothing is wrong on planet \"{}\", and nothing is planned\n",
                status.name
            ))?;
        } else {
            output::print(&table(&status.faults, status.running_s).to_string())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// End a fault early
///
/// Example: longhaul lab fault lift 3
#[derive(Debug, Args)]
pub(super) struct Lift {
    /// The fault's number, or "all"
    #[arg(value_parser = target)]
    fault: Target,
    #[command(flatten)]
    which: Which,
    /// Print the lifted faults as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy)]
enum Target {
    All,
    One(u64),
}

fn target(text: &str) -> Result<Target, String> {
    match text.parse() {
        Ok(number) => Ok(Target::One(number)),
        Err(_) if text == "all" => Ok(Target::All),
        Err(_) => Err("expected the number of a fault, or all".to_owned()),
    }
}

impl Lift {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = self.which.find()?;
        let faults = match self.fault {
            Target::One(number) => {
                planet.lift(Some(number))?;
                output::say(&format!("fault {number} is lifted"));
                vec![number]
            }
            Target::All => {
                let faults = planet.brief_status()?.faults.iter().map(|fault| fault.number).collect();
                planet.lift(None)?;
                output::say("all faults are lifted");
                faults
            }
        };
        if self.json {
            let planet = planet.name().to_owned();
            output::print_json(&output::named("longhaul.lab.fault.lift/1", Lifted { planet, faults }))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

pub(crate) fn table(faults: &[FaultStatus], now_s: f64) -> Table {
    let mut table = Table::new(3, ["fault", "when", "what"]);
    for fault in faults {
        let style = if fault.is_active { YELLOW } else { PLAIN };
        table.row([
            fault.number.to_string().into(),
            when(fault, now_s).into(),
            Words::styled(&fault.what, style),
        ]);
    }
    table
}

fn when(fault: &FaultStatus, now_s: f64) -> String {
    let seconds = |seconds: f64| units::show::span(seconds.max(0.0));
    match (fault.is_active, fault.until_s) {
        (true, Some(until)) => format!("{} left", seconds(until - now_s)),
        (true, None) => "until it is lifted".to_owned(),
        (false, Some(until)) => {
            format!("in {} for {}", seconds(fault.at_s - now_s), seconds(until - fault.at_s))
        }
        (false, None) => format!("in {}, until it is lifted", seconds(fault.at_s - now_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_counted_from_now() {
        let fault = |is_active, at_s, until_s| FaultStatus {
            number: 1,
            what: String::new(),
            fault: world::file::Fault::default(),
            is_active,
            at_s,
            until_s,
        };
        assert_eq!(when(&fault(true, 1.0, Some(11.0)), 2.8), "8.2 s left");
        assert_eq!(when(&fault(true, 1.0, None), 2.8), "until it is lifted");
        assert_eq!(when(&fault(false, 14.8, Some(24.8)), 2.8), "in 12.0 s for 10.0 s");
        assert_eq!(when(&fault(false, 602.8, None), 2.8), "in 10 min 00 s, until it is lifted");
        // The fault has expired, but the planet has not checked its clock since.
        assert_eq!(when(&fault(true, 1.0, Some(2.0)), 2.8), "0.0 s left");
    }

    #[test]
    fn a_fault_is_lifted_by_number_or_with_all_others() {
        assert!(matches!(target("3"), Ok(Target::One(3))));
        assert!(matches!(target("all"), Ok(Target::All)));
        assert!(target("-1").is_err() && target("london").is_err());
    }
}
