//! The output of `longhaul tcp ports`: a table of the strategies, the findings, and a picture of
//! each strategy.

use std::fmt::Write;

use anstyle::Style;
use report::terminal::table as drawn;
use trafficgen::ports::{Fill, Forecast, Measurement, Run, Sample};
use units::show::{count, digits, frequency, share, time};

use crate::output::{BOLD, CYAN, DIM, PLAIN, RED, YELLOW, paint};

pub(super) fn measurement(measurement: &Measurement) -> String {
    let mut text = head(measurement);
    text += &table(&measurement.strategies);
    for run in &measurement.strategies {
        let _ = writeln!(text, "\n{}  {}", paint(&name(run), BOLD), run.finding);
        for doubt in &run.doubts {
            let word = if doubt.invalid { paint("INVALID:", RED) } else { paint("warning:", YELLOW) };
            let _ = writeln!(text, "{word} {}", doubt.sentence);
        }
        if run.is_partial {
            let _ = writeln!(text, "ended before the share was reached");
        }
        text += &picture(run);
    }
    for skipped in &measurement.skipped {
        let _ = writeln!(text, "\n{}  {} {}", skipped.strategy, paint("not measured:", YELLOW), skipped.why);
    }
    text + &forecasts(measurement)
}

fn head(measurement: &Measurement) -> String {
    let Measurement { destination, ports, port_low, port_high, kernel, .. } = measurement;
    let listener = if measurement.is_own_listener { ", a listener of this measurement" } else { "" };
    let goal = share(measurement.share);
    let taken = measurement.doubts.iter().map(|doubt| format!("{}\n", paint(&doubt.sentence, YELLOW)));
    let taken: String = taken.collect();
    format!(
        "to {destination}{listener}\n{ports} ports, {port_low}-{port_high}, until {goal} are used; Linux {kernel}\n{taken}\n"
    )
}

fn table(runs: &[Run]) -> String {
    let header = [
        "us",
        "connects/s",
        "first half, p50",
        "p99",
        "second half, p50",
        "p99",
        "last 5 %, p50",
        "p99",
        "odd, 1st half",
        "2nd",
        "errors",
    ];
    drawn::table(header.map(str::to_owned), runs.iter().map(row))
}

fn row(run: &Run) -> [String; 11] {
    let odd = |fill: &Fill| fill.odd_share.map_or_else(absent, share);
    let [first, second, last] = [&run.first_half, &run.second_half, &run.last].map(latencies);
    [
        name(run),
        run.connects_per_s.map_or_else(absent, digits),
        first[0].clone(),
        first[1].clone(),
        second[0].clone(),
        second[1].clone(),
        last[0].clone(),
        last[1].clone(),
        odd(&run.first_half),
        odd(&run.second_half),
        count(run.errors.values().sum()),
    ]
}

fn latencies(fill: &Fill) -> [String; 2] {
    [fill.p50_us, fill.p99_us].map(|us| us.map_or_else(absent, digits))
}

fn absent() -> String {
    "-".to_owned()
}

pub(super) fn name(run: &Run) -> String {
    let window = run.window.map_or_else(String::new, |window| format!(" ({window} ports)"));
    let reuse = if run.reuse_address { " SO_REUSEADDR" } else { "" };
    format!("{}{window}{reuse}", run.strategy)
}

fn forecasts(measurement: &Measurement) -> String {
    let asked = measurement.forecast.iter().map(|forecast| ("at the rate given", forecast));
    let fastest = measurement.strategies.iter().filter_map(|run| run.forecast.as_ref());
    let fastest = fastest.max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let all: Vec<_> = asked.chain(fastest.map(|forecast| ("at the highest rate above", forecast))).collect();
    let Some((_, first)) = all.first() else { return String::new() };
    let mut text = format!(
        "\nTIME_WAIT keeps a port for 60 s, so {} connects/s to this destination are sustainable\n",
        digits(first.sustainable_per_s)
    );
    for (which, Forecast { rate_per_s, exhausted_after_s, .. }) in all {
        let when = exhausted_after_s.map_or_else(
            || "the ports last".to_owned(),
            |after| format!("ports run out after {}", time(after)),
        );
        let _ = writeln!(text, "  {which}, {}: {when}", frequency(*rate_per_s));
    }
    text
}

/// A row for each doubling of the latency, a column for each 60th of the range.
fn picture(run: &Run) -> String {
    let rows: Vec<_> = run.samples.iter().map(doubling).collect();
    let (Some(&top), Some(&bottom)) = (rows.iter().max(), rows.iter().min()) else { return String::new() };
    let mut text = String::new();
    for line in (bottom..=top).rev() {
        let cells: Vec<_> = (0..WIDTH)
            .map(|column| {
                let here = std::iter::zip(&run.samples, &rows)
                    .filter(|(sample, row)| **row == line && self::column(sample) == column);
                cell(here.map(|(sample, _)| sample))
            })
            .collect();
        let _ = writeln!(text, "  {:>9} us |{}", 1_u64 << line, cells.concat().trim_end());
    }
    let legend = [("even", CYAN, EVEN), ("odd", YELLOW, ODD), ("both", PLAIN, BOTH), ("failed", RED, FAILED)];
    let legend: Vec<_> = legend.map(|(what, style, sign)| format!("{} {what}", paint(sign, style))).into();
    let axis = format!("{:>13}+{:-<WIDTH$}", "", "");
    let scale = format!("{:>14}0 %{:>27}{:>30}", "", "50 %", "100 % used");
    text + &format!("{}\n{}\n{:>14}{}\n", paint(&axis, DIM), paint(&scale, DIM), "", legend.join("  "))
}

/// The binary logarithm of a latency in us, rounded down.
fn doubling(sample: &Sample) -> u32 {
    let doublings = sample.latency_us.max(1.0).log2().floor();
    (0..63).find(|&row| f64::from(row) >= doublings).unwrap_or(63)
}

fn column(sample: &Sample) -> usize {
    (0..WIDTH - 1).find(|&column| sample.used_share < fraction(column + 1)).unwrap_or(WIDTH - 1)
}

#[expect(clippy::cast_precision_loss, reason = "a column's number")]
fn fraction(column: usize) -> f64 {
    column as f64 / WIDTH as f64
}

fn cell<'a>(samples: impl Iterator<Item = &'a Sample>) -> String {
    let (mut even, mut odd, mut failed) = (false, false, false);
    for sample in samples {
        match sample.odd {
            _ if sample.error.is_some() => failed = true,
            Some(true) => odd = true,
            _ => even = true,
        }
    }
    let (sign, style): (&str, Style) = match (even, odd, failed) {
        (_, _, true) => (FAILED, RED),
        (true, true, _) => (BOTH, PLAIN),
        (true, false, _) => (EVEN, CYAN),
        (false, true, _) => (ODD, YELLOW),
        (false, false, false) => return " ".to_owned(),
    };
    paint(sign, style)
}

const EVEN: &str = "●";
const ODD: &str = "○";
const BOTH: &str = "◐";
const FAILED: &str = "x";

const WIDTH: usize = 60;
