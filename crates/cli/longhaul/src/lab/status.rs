//! `longhaul lab status`: shows a planet's hosts, programs, links, faults and fidelity.

use std::{cmp::Reverse, collections::BTreeMap, process::ExitCode};

use clap::Args;
use planet::{HostStatus, LinkStatus, Overview, Program};
use report::terminal::table::{Table, Words};
use units::show;

use super::{Which, fault, logs};
use crate::output::{self, PLAIN, RED, YELLOW};

/// Show a planet's hosts, links, faults and programs, and how faithful it has been
///
/// Lists links that carried traffic or differ from the world, the busiest first, and the programs of
/// `longhaul lab exec --detach`.
///
/// Example: longhaul lab status --json
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// List all hosts and links
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let overview = self.which.find()?.overview()?;
        if self.json {
            output::print_json(&output::named("longhaul.lab.status/1", &overview))?;
        } else {
            output::print(&text(&overview, if self.all { usize::MAX } else { SHORT }))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text(Overview { status, programs }: &Overview, most: usize) -> String {
    let up = show::span(status.running_s);
    let mut sections = vec![format!("planet \"{}\", up for {up}\n", status.name)];
    sections.push(if status.hosts.len() > most {
        by_city(&status.hosts, most)
    } else {
        hosts(&status.hosts)
    });
    if !status.links.is_empty() {
        sections.push(links(&status.links, most));
    }
    if !status.faults.is_empty() {
        sections.push(fault::table(&status.faults, status.running_s).to_string());
    }
    if !programs.is_empty() {
        sections.push(self::programs(programs, most));
    }
    sections.push(report::terminal::fidelity(&status.fidelity) + "\n");
    sections.join("\n")
}

fn hosts(hosts: &[HostStatus]) -> String {
    let mut table = Table::new(3, ["host", "city", "addresses"]);
    for host in hosts {
        let addresses: Vec<_> = host.addresses.iter().map(ToString::to_string).collect();
        table.row([host.name.as_str().into(), host.city.as_str().into(), addresses.join("  ").into()]);
    }
    table.to_string()
}

fn by_city(hosts: &[HostStatus], most: usize) -> String {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for host in hosts {
        by_name.entry(&host.city).or_default().push(&host.name);
    }
    let mut cities: Vec<_> = by_name.into_iter().collect();
    cities.sort_by_key(|(_, names)| Reverse(names.len()));
    let mut table = Table::new(2, ["city", "of which", "hosts"]);
    for (city, names) in cities.iter().take(most) {
        let ends = [names.first(), names.last()].map(|name| name.copied().unwrap_or_default());
        let range = if names.len() == 1 { ends[0].to_owned() } else { ends.join(" … ") };
        table.row([(*city).into(), range.into(), names.len().to_string().into()]);
    }
    let total = show::plural(hosts.len() as u64, "host");
    let cities = show::plural_of(cities.len() as u64, "city", "cities");
    format!("{table}{total} in {cities}; each with its addresses: --all\n")
}

fn links(links: &[LinkStatus], most: usize) -> String {
    let mut busiest: Vec<_> = links.iter().collect();
    busiest.sort_by_key(|link| Reverse((link.is_down, link.offered.bytes)));
    let mut table = Table::new(1, ["link", "delay", "rate", "passed", "lost", "dropped", "waiting"]);
    for link in busiest.iter().take(most) {
        let dropped = link.overflowed.segments + link.managed.segments;
        table.row([
            name(link),
            show::time(link.delay_us / 1e6).into(),
            rate(link),
            show::bytes(link.delivered.bytes).into(),
            bad(link.lost.segments),
            bad(dropped),
            show::bytes(link.waiting.bytes).into(),
        ]);
    }
    match busiest.len().saturating_sub(most) {
        0 => table.to_string(),
        rest => format!("{table}and {rest} that carried less: --all\n"),
    }
}

fn programs(programs: &[Program], most: usize) -> String {
    let mut latest: Vec<_> = programs.iter().collect();
    latest.sort_by_key(|program| (program.end.is_some(), Reverse(program.number)));
    let mut table = Table::new(4, ["program", "host", "command", "state", "for"]);
    for program in latest.iter().take(most) {
        table.row([
            program.number.to_string().into(),
            program.host.as_str().into(),
            command(&program.command).into(),
            program.end.map_or_else(|| "runs".to_owned(), logs::outcome).into(),
            show::span(program.ran_s).into(),
        ]);
    }
    match latest.len().saturating_sub(most) {
        0 => table.to_string(),
        rest => format!("{table}and {rest} more: --all\n"),
    }
}

fn command(words: &[String]) -> String {
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

pub(super) fn name(link: &LinkStatus) -> Words {
    let access = link.access.as_ref().map_or_else(String::new, |kind| format!(", {kind}"));
    let down = if link.is_down { ", down" } else { "" };
    let style = if link.is_down { RED } else { PLAIN };
    Words::styled(format!("{} → {}{access}{down}", link.from, link.to), style)
}

#[expect(clippy::cast_precision_loss, reason = "rates are bounded to 1e12")]
pub(super) fn rate(link: &LinkStatus) -> Words {
    link.rate_bps.map_or_else(|| "no limit".into(), |rate| show::rate(rate as f64).into())
}

pub(super) fn bad(number: u64) -> Words {
    Words::styled(number.to_string(), if number > 0 { YELLOW } else { PLAIN })
}

const SHORT: usize = 20;

const LONGEST_COMMAND: usize = 40;

#[cfg(test)]
mod tests;
