//! What `longhaul tcp window` prints for people: tables, and a bar for each ceiling.

use std::fmt::Write;

use tcp::{
    kernel::Version,
    window::{Check, Destination, Judged, Plan, Verdict, binary},
};
use units::{
    Bytes,
    show::{digits, rate},
};

use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, paint};

/// Plans for one rate. The settings and notes are those of the largest, which is enough for all.
pub(super) fn plans(plans: &[Plan]) -> String {
    let Some(largest) = plans.iter().max_by_key(|plan| plan.window_bytes) else { return String::new() };
    let heading = format!("{} on one connection, Linux {}", rate(largest.rate_mbps * 1e6), largest.kernel);
    let mut text = format!("{}\n", paint(&heading, BOLD));
    let mut rows =
        vec![["rtt", "on the way", "window", "tcp_rmem[2]", "tcp_wmem[2]"].map(str::to_owned).to_vec()];
    rows.extend(plans.iter().map(|plan| {
        let on_the_way = format!("{} = {}", Bytes(plan.bdp_bytes), binary(plan.bdp_bytes));
        let sizes = [plan.window_bytes, plan.rmem_max_bytes, plan.wmem_max_bytes].map(binary);
        [vec![format!("{} ms", plan.rtt_ms), on_the_way], sizes.to_vec()].concat()
    }));
    for row in aligned(&rows) {
        let _ = writeln!(text, "  {}", row.trim_end());
    }
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

/// Ceilings, each with its bar: full where the rate is reached, or else the highest of them. `named` is the kernel that was
/// asked for, if it is not the running one.
pub(super) fn check(check: &Check, named: Option<Version>) -> String {
    let heading = format!("How fast one connection can be by this side's buffers, Linux {}", check.kernel);
    let mut text = format!("{}\n", paint(&heading, BOLD));
    let sides: Vec<_> = check.destinations.iter().flat_map(sides).collect();
    let highest = sides.iter().map(|side| side.judged.limit.mbps[1]).fold(0.0, f64::max);
    let full = check.rate_mbps.unwrap_or(highest);
    let mut rows = vec![["", "", "buffer", "window", "Mbit/s"].map(str::to_owned).to_vec()];
    rows.extend(sides.iter().map(Side::row));
    let mut rows = aligned(&rows).into_iter();
    let scale = paint(&format!("0 to {}", rate(full * 1e6)), DIM);
    let _ = writeln!(text, "  {}  {scale}", rows.next().unwrap_or_default());
    for (row, side) in rows.zip(&sides) {
        let verdict = side.judged.verdict.map_or_else(String::new, |verdict| format!("  {}", word(verdict)));
        let bar = bar(side.judged.limit.mbps, full);
        let bar = if verdict.is_empty() { bar.trim_end() } else { &bar };
        let _ = writeln!(text, "  {row}  {bar}{verdict}");
    }
    let _ = writeln!(text, "\nrule: {}", check.rule);
    if sides.iter().any(|side| side.judged.verdict == Some(Verdict::Depends)) {
        text.push_str(
            "depends: what comes on the memory of its packets, what goes on how soon its writer is back\n",
        );
    }
    if let (Some(rate_mbps), Some(worst)) = (check.rate_mbps, worst(check)) {
        let kernel = named.map_or_else(String::new, |kernel| format!(" --kernel {kernel}"));
        let path = format!("--rtt {}ms --rate {rate_mbps}Mbit", worst.rtt_ms);
        let _ = writeln!(text, "remedy: longhaul tcp window {path}{kernel} says which settings reach it");
    }
    text
}

/// The farthest destination, if one is capped.
fn worst(check: &Check) -> Option<&Destination> {
    check.is_capped().then(|| check.destinations.iter().max_by(|a, b| a.rtt_ms.total_cmp(&b.rtt_ms)))?
}

/// One direction of a destination.
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
    /// "melbourne, 282 ms", once for both directions.
    fn place(&self) -> String {
        let Destination { name, rtt_ms, receive, .. } = self.destination;
        match name {
            _ if self.direction == SEND && receive.is_some() => String::new(),
            Some(name) => format!("{name}, {rtt_ms} ms"),
            None => format!("{rtt_ms} ms"),
        }
    }

    fn row(&self) -> Vec<String> {
        let limit = &self.judged.limit;
        vec![
            self.place(),
            self.direction.to_owned(),
            binary(limit.buffer_bytes),
            span(limit.window_bytes.map(binary)),
            span(limit.mbps.map(digits)),
        ]
    }
}

/// "16 MiB to 21.25 MiB", or one where both are the same.
fn span([least, most]: [String; 2]) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}

/// A full block for what is sure, a light one for what depends.
fn bar([least, most]: [f64; 2], full: f64) -> String {
    let blocks = |mbps: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of WIDTH")]
        let blocks = ((mbps / full).clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
        blocks
    };
    let (sure, likely) = (blocks(least), blocks(most));
    "█".repeat(sure) + &"░".repeat(likely - sure) + &" ".repeat(WIDTH - likely)
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Enough => paint("enough", GREEN),
        Verdict::Depends => paint("depends", YELLOW),
        Verdict::Capped => paint("capped", RED),
    }
}

/// Rows of a table as lines: columns as wide as they have to be.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

const RECEIVE: &str = "receive";
const SEND: &str = "send";

/// Blocks of a full bar.
const WIDTH: usize = 24;
