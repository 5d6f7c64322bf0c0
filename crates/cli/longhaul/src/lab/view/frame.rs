//! The live view as tables: fidelity, faults and traffic.

use planet::Fidelity;
use report::terminal::table::{Line, Table, Words};
use units::show;

use super::{
    Size,
    flow::{Flow, Window},
};
use crate::{
    lab::{
        fault,
        status::{name, rate},
    },
    output::{BOLD, DIM, GREEN, PLAIN, RED, YELLOW},
};

pub(super) fn tables(window: &Window, size: Size) -> Vec<Line> {
    let (links, lines) = window.flows();
    let [links, lines] = [("link", links), ("line", lines)].map(|(kind, flows)| table(kind, &flows, size));
    let nothing = links.is_empty() && lines.is_empty();
    let faults = shortened(faults(window), size.rows / 3);
    let rest = size.rows - faults.len();
    let for_lines = if rest / 2 > HEADER + 1 { lines.len().min(rest / 2) } else { 0 };
    let links = shortened(links, rest - for_lines);
    let lines = shortened(lines, rest - links.len());
    let mut tables = [faults, links, lines].concat();
    if nothing {
        tables.extend([Line::default(), Words::styled("nothing moves", DIM).into()]);
    }
    tables
}

pub(super) fn heading(window: &Window, keys: &str, size: Size) -> Vec<Line> {
    let status = &window.now;
    let over = match &window.since_before() {
        Some(_) => format!("over {}", show::span(window.seconds())),
        None => "since it came up".to_owned(),
    };
    let title = Words::styled(format!("planet \"{}\"", status.name), BOLD);
    let rest = format!("  up {}  rates {over}", show::span(status.running_s));
    let gap = size.columns.saturating_sub(title.width() + rest.chars().count() + keys.len()).max(2);
    let mut line = vec![title, rest.into()];
    if !keys.is_empty() {
        line.push(Words::styled(format!("{:gap$}{keys}", ""), DIM));
    }
    let mut lines = vec![Line::new(line), fidelity(&status.fidelity)];
    lines.extend(status.fidelity.reasons.iter().map(|reason| Words::styled(reason, RED).into()));
    lines
}

fn fidelity(fidelity: &Fidelity) -> Line {
    let verdict = if fidelity.valid { Words::styled("valid", GREEN) } else { Words::styled("INVALID", RED) };
    let late = |at| fidelity.lateness_us.get(at).map(|us| show::time(us / 1e6));
    let lateness = match (late("50"), late("99.9")) {
        (Some(median), Some(tail)) => format!("late {median} p50, {tail} p99.9"),
        _ => "nothing delivered yet".to_owned(),
    };
    let machine = fidelity.machine_cpu_share;
    let machine = machine.map_or_else(String::new, |busy| format!(", machine {} busy", show::share(busy)));
    let drops = format!("own drops {}", fidelity.own_drops);
    Line::new([verdict, format!("  {lateness}, {drops}{machine}").into()])
}

pub(super) fn faults(window: &Window) -> Vec<Line> {
    let status = &window.now;
    if status.faults.is_empty() {
        return Vec::new();
    }
    below_a_blank(fault::table(&status.faults, status.running_s).lines())
}

fn table(kind: &'static str, flows: &[Flow<'_>], size: Size) -> Vec<Line> {
    if flows.is_empty() {
        return Vec::new();
    }
    if size.columns < WIDE {
        let mut table = Table::new(1, [kind, "now", "drops/s"]);
        for flow in flows {
            table.row([name(flow.link), now(flow), drops(flow)]);
        }
        return below_a_blank(table.lines());
    }
    let mut table = Table::new(1, [kind, "now", "of", "drops/s", "waiting"]);
    for flow in flows {
        let waiting = show::bytes(flow.link.waiting.bytes).into();
        table.row([name(flow.link), now(flow), rate(flow.link), drops(flow), waiting]);
    }
    below_a_blank(table.lines())
}

fn now(flow: &Flow<'_>) -> Words {
    show::rate(flow.bits_per_second).into()
}

fn drops(flow: &Flow<'_>) -> Words {
    let style = if flow.drops_per_second > 0.0 { YELLOW } else { PLAIN };
    Words::styled(show::digits(flow.drops_per_second), style)
}

fn below_a_blank(lines: Vec<Line>) -> Vec<Line> {
    std::iter::once(Line::default()).chain(lines).collect()
}

pub(super) fn shortened(mut table: Vec<Line>, room: usize) -> Vec<Line> {
    if table.len() <= room {
        return table;
    }
    if room <= HEADER + 1 {
        return Vec::new();
    }
    let hidden = table.len() + 1 - room;
    table.truncate(room - 1);
    table.push(Words::styled(format!("and {hidden} more"), DIM).into());
    table
}

const WIDE: usize = 80;

/// The empty line, the column names and the rule.
const HEADER: usize = 3;

#[cfg(test)]
mod tests;
