//! `longhaul lab fault`: injects faults into a planet, now or later, for a time or until they are
//! lifted.

mod list;
mod place;

use std::{process::ExitCode, time::Duration};

use anyhow::bail;
use clap::{Args, Subcommand};
use planet::FaultStatus;
use units::duration;

pub(super) use self::list::table;
use self::{
    list::{Lift, List},
    place::{City, Host, Line, Partition, Withdraw},
};
use super::{Which, layout_of, names::Names};
use crate::output;

/// Inject a fault into a planet, now or later
///
/// Without a command, the fault affects a link between two cities. Prints the number of the fault.
/// Flags follow the command; --planet and --json may also precede it.
///
/// Examples:
///   longhaul lab fault london-newyork --loss 5% --for 10s
///   longhaul lab fault london-newyork --rtt 200ms --rate 10Mbit
///   longhaul lab fault london-newyork down --at 5s
///   longhaul lab fault city frankfurt down
///   longhaul lab fault host origin frozen --for 3s
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "longhaul lab fault [OPTIONS] <LINK> [HOW]\n       longhaul lab fault <COMMAND>",
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
pub(crate) struct Fault {
    #[command(subcommand)]
    command: Option<Command>,
    /// Two cities, such as london-newyork
    #[arg(required = true, value_parser = hyphened)]
    link: Option<String>,
    #[command(flatten)]
    line: Line,
    #[command(flatten)]
    when: When,
}

#[derive(Debug, Subcommand)]
enum Command {
    City(City),
    Host(Host),
    Partition(Partition),
    Withdraw(Withdraw),
    List(List),
    Lift(Lift),
}

impl Fault {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if self.command.is_some() && (self.link.is_some() || self.line.is_given() || self.when.is_given()) {
            bail!(
                "options before a command of lab fault apply to a link between two cities; put them after the command \
                 and its names, such as: longhaul lab fault host origin --loss 5%"
            );
        }
        match &self.command {
            None => self.when.cause(|names| self.fault(names)),
            Some(Command::City(city)) => city.when.cause(|names| city.fault(names)),
            Some(Command::Host(host)) => host.when.cause(|names| host.fault(names)),
            Some(Command::Partition(partition)) => partition.when.cause(|names| partition.fault(names)),
            Some(Command::Withdraw(withdraw)) => withdraw.when.cause(|names| withdraw.fault(names)),
            Some(Command::List(list)) => list.run(),
            Some(Command::Lift(lift)) => lift.run(),
        }
    }

    fn fault(&self, names: Names<'_>) -> anyhow::Result<world::file::Fault> {
        let link = self.link.as_deref().unwrap_or_default();
        Ok(world::file::Fault { between: Some(names.link(link)?), ..self.line.fault() })
    }
}

/// Words without a hyphen are misspelt commands.
fn hyphened(text: &str) -> Result<String, String> {
    if text.contains('-') {
        return Ok(text.to_owned());
    }
    let commands = "city, host, partition, withdraw, list or lift";
    Err(format!(
        "expected two cities with a hyphen between them, such as london-newyork, or one of {commands}"
    ))
}

// No doc comment: it would replace the command's description.
#[derive(Debug, Args)]
struct When {
    /// Duration of the fault; without it: until it is lifted
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    lasts: Option<Duration>,
    /// Start the fault after this time instead of now
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    at: Option<Duration>,
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

impl When {
    fn is_given(&self) -> bool {
        self.lasts.is_some() || self.at.is_some()
    }

    fn cause(
        &self,
        describe: impl FnOnce(Names<'_>) -> anyhow::Result<world::file::Fault>,
    ) -> anyhow::Result<ExitCode> {
        let planet = self.which.find()?;
        let layout = layout_of(&planet)?;
        let now = Duration::try_from_secs_f64(planet.status()?.running_s)?;
        let fault = world::file::Fault {
            at: self.later().map(|later| now + later),
            lasts: self.lasts,
            ..describe(Names { planet: planet.name(), layout: &layout })?
        };
        let number = planet.fault(&fault)?;
        let at = fault.at.unwrap_or(now);
        let caused = FaultStatus {
            number,
            what: fault.to_string(),
            is_active: fault.at.is_none(),
            at_s: at.as_secs_f64(),
            until_s: self.lasts.map(|lasts| (at + lasts).as_secs_f64()),
            fault,
        };
        if self.json {
            output::print_json(&output::named(SCHEMA, &caused))?;
        } else {
            let phrase = self.phrase(number, &self.which.flag(&planet));
            output::print(&format!("fault {number}: {}{phrase}\n", caused.what))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn later(&self) -> Option<Duration> {
        self.at.filter(|later| !later.is_zero())
    }

    fn phrase(&self, number: u64, planet: &str) -> String {
        let begin = self.later().map_or_else(String::new, |later| format!(", in {}", duration::show(later)));
        let comma = if begin.is_empty() { "," } else { "" };
        match self.lasts {
            Some(lasts) => format!("{begin}{comma} for {}", duration::show(lasts)),
            None => {
                format!("{begin}, until it is lifted: longhaul lab fault lift {number}{planet}")
            }
        }
    }
}

const SCHEMA: &str = "longhaul.lab.fault/1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_is_said_as_a_person_would() {
        let when = |at: &str, lasts: &str| When {
            at: duration::parse(at).ok(),
            lasts: duration::parse(lasts).ok(),
            which: Which::default(),
            json: false,
        };
        assert_eq!(when("", "10s").phrase(3, ""), ", for 10s");
        assert_eq!(when("5s", "10s").phrase(3, ""), ", in 5s for 10s");
        assert_eq!(when("0s", "10s").phrase(3, ""), ", for 10s");
        assert_eq!(when("5s", "").phrase(3, ""), ", in 5s, until it is lifted: longhaul lab fault lift 3");
        let named = ", until it is lifted: longhaul lab fault lift 3 --planet cdn";
        assert_eq!(when("", "").phrase(3, " --planet cdn"), named);
    }
}
