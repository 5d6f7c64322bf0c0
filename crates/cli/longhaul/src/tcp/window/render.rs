//! The text output of `longhaul tcp window`: tables, and a bar for each limit.

use std::fmt::Write;

use report::terminal::table::{Table, Words};
use tcp::{
    kernel::Version,
    window::{Check, Destination, Judged, Plan, Verdict, binary},
};
use units::{
    Bytes,
    show::{digits, rate, time},
};

use crate::output::{BOLD, GREEN, RED, YELLOW, paint};

/// Settings and notes are those of the largest plan, which suffice for all.
pub(super) fn plans(plans: &[Plan]) -> String {
    let Some(largest) = plans.iter().max_by_key(|plan| plan.window_bytes) else { return String::new() };
    let heading = format!("{} on one connection, Linux {}", rate(largest.rate_mbps * 1e6), largest.kernel);
    let mut text = format!("{}\n", paint(&heading, BOLD));
    let mut table = Table::new(1, ["rtt", "on the way", "window", "tcp_rmem[2]", "tcp_wmem[2]"]);
    for plan in plans {
        let on_the_way = format!("{} = {}", Bytes(plan.bdp_bytes), binary(plan.bdp_bytes));
        let [window, rmem, wmem] = [plan.window_bytes, plan.rmem_max_bytes, plan.wmem_max_bytes].map(binary);
        table.row([time(plan.rtt_ms / 1e3), on_the_way, window, rmem, wmem].map(Words::from));
    }
    text += &table.to_string();
    let _ = writeln!(text, "\nrule: {}", largest.rule);
    if largest.sysctl.is_empty() {
        text.push_str("settings: the present ones are enough\n");
    } else {
        text.push_str(
            "settings, for sysctl.conf (tcp_rmem where it is received, tcp_wmem where it is sent):\n",
        );
        for line in &largest.sysctl {
            let _ = writeln!(text, "  {line}");
        }
    }
    for note in &largest.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// `named` is the kernel of the command line, unless it is the running one.
pub(super) fn check(check: &Check, named: Option<Version>) -> String {
    let heading = format!("How fast one connection can be by this side's buffers, Linux {}", check.kernel);
    let mut text = format!("{}\n", paint(&heading, BOLD));
    let sides: Vec<_> = check.destinations.iter().flat_map(sides).collect();
    let highest = sides.iter().map(|side| side.judged.limit.mbps[1]).fold(0.0, f64::max);
    let full = check.rate_mbps.unwrap_or(highest);
    let scale = format!("{:WIDTH$}", format!("0 to {}", rate(full * 1e6)));
    let header = ["", "", "buffer", "window", "Mbit/s", scale.as_str(), ""];
    let mut table = Table::new(2, header);
    for side in &sides {
        table.row(side.row(full));
    }
    text += &table.to_string();
    let _ = writeln!(text, "\nrule: {}", check.rule);
    if sides.iter().any(|side| side.judged.verdict == Some(Verdict::Depends)) {
        text.push_str(
            "depends: receiving on the memory of packets, sending on how soon the program writes again\n",
        );
    }
    if let (Some(rate_mbps), Some(worst)) = (check.rate_mbps, worst(check)) {
        let kernel = named.map_or_else(String::new, |kernel| format!(" --kernel {kernel}"));
        let path = format!("--rtt {}ms --rate {rate_mbps}Mbit", worst.rtt_ms);
        let _ = writeln!(text, "remedy: longhaul tcp window {path}{kernel} says which settings reach it");
    }
    text
}

fn worst(check: &Check) -> Option<&Destination> {
    check.is_capped().then(|| check.destinations.iter().max_by(|a, b| a.rtt_ms.total_cmp(&b.rtt_ms)))?
}

struct Side<'a> {
    destination: &'a Destination,
    direction: &'static str,
    judged: Judged,
}

fn sides(destination: &Destination) -> impl Iterator<Item = Side<'_>> {
    let sides = [(RECEIVE, destination.receive), (SEND, destination.send)];
    sides
        .into_iter()
        .filter_map(move |(direction, judged)| Some(Side { destination, direction, judged: judged? }))
}

impl Side<'_> {
    fn place(&self) -> String {
        let Destination { name, rtt_ms, receive, .. } = self.destination;
        match name {
            _ if self.direction == SEND && receive.is_some() => String::new(),
            Some(name) => format!("{name}, {}", time(rtt_ms / 1e3)),
            None => time(rtt_ms / 1e3),
        }
    }

    fn row(&self, full: f64) -> [Words; 7] {
        let limit = &self.judged.limit;
        [
            self.place().into(),
            self.direction.into(),
            binary(limit.buffer_bytes).into(),
            span(limit.window_bytes.map(binary)).into(),
            span(limit.mbps.map(digits)).into(),
            bar(limit.mbps, full).into(),
            self.judged.verdict.map_or_else(|| "".into(), word),
        ]
    }
}

fn span([least, most]: [String; 2]) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}

/// A full block for the certain part, a light one for the uncertain part.
fn bar([least, most]: [f64; 2], full: f64) -> String {
    let blocks = |mbps: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of WIDTH")]
        let blocks = ((mbps / full).clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
        blocks
    };
    let (sure, likely) = (blocks(least), blocks(most));
    "█".repeat(sure) + &"░".repeat(likely - sure) + &" ".repeat(WIDTH - likely)
}

fn word(verdict: Verdict) -> Words {
    match verdict {
        Verdict::Enough => Words::styled("enough", GREEN),
        Verdict::Depends => Words::styled("depends", YELLOW),
        Verdict::Capped => Words::styled("capped", RED),
    }
}

const RECEIVE: &str = "receive";
const SEND: &str = "send";

const WIDTH: usize = 24;
