//! What `longhaul tcp ports` prints: a table of the strategies, what each shows, and a picture of each.

use std::fmt::Write;

use anstyle::Style;
use traffic::ports::{Fill, Forecast, Measurement, Run, Sample};

use crate::output::{BOLD, CYAN, DIM, PLAIN, RED, YELLOW, paint};

/// Writing to a String cannot fail.
pub(super) fn measurement(measurement: &Measurement) -> String {
    let mut text = head(measurement);
    text += &table(&measurement.strategies);
    for run in &measurement.strategies {
        let _ = writeln!(text, "\n{}  {}", paint(&name(run), BOLD), run.finding);
        if let Some(why) = &run.invalid {
            let _ = writeln!(text, "{} {why}", paint("INVALID", RED));
        }
        if let Some(waited) = waited(run) {
            let _ = writeln!(text, "{} {waited}", paint("slowed down:", YELLOW));
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
    let percent = measurement.share * 100.0;
    let taken = taken(measurement).map_or_else(String::new, |taken| format!("{}\n", paint(&taken, YELLOW)));
    format!(
        "to {destination}{listener}\n{ports} ports, {port_low}-{port_high}, until {percent:.0} % are used; Linux {kernel}\n{taken}\n"
    )
}

/// That ports were taken before it began, if so.
pub(super) fn taken(measurement: &Measurement) -> Option<String> {
    let Measurement { ports, taken_before, waiting_before, .. } = *measurement;
    let percent = taken_before as f64 / ports as f64 * 100.0;
    let waiting = match waiting_before {
        0 => String::new(),
        some => format!(", {some} of them in TIME_WAIT"),
    };
    (taken_before > 0).then(|| {
        format!("{taken_before} of these ports ({percent:.0} %) were taken before it began{waiting}; every share counts them as used")
    })
}

fn table(runs: &[Run]) -> String {
    let mut text = format!(
        "{:<26}{:>11}  {:>15}  {:>15}  {:>15}  {:>9}  {:>7}\n{:<26}{:>11}  {:>15}  {:>15}  {:>15}  {:>9}  {:>7}\n",
        "",
        "connects",
        "first half",
        "second half",
        "last 5 %",
        "odd",
        "",
        "",
        "per second",
        "p50, p99 us",
        "p50, p99 us",
        "p50, p99 us",
        "1st, 2nd",
        "errors",
    );
    for run in runs {
        let rate = run.connects_per_s.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let odd =
            |fill: &Fill| fill.odd_share.map_or_else(|| "-".to_owned(), |odd| format!("{:.0}%", odd * 100.0));
        let odds = format!("{} {}", odd(&run.first_half), odd(&run.second_half));
        let errors: u64 = run.errors.values().sum();
        let _ = writeln!(
            text,
            "{:<26}{rate:>11}  {:>15}  {:>15}  {:>15}  {odds:>9}  {errors:>7}",
            name(run),
            latencies(&run.first_half),
            latencies(&run.second_half),
            latencies(&run.last),
        );
    }
    text
}

/// "random-window (500 ports)".
pub(super) fn name(run: &Run) -> String {
    let window = run.window.map_or_else(String::new, |window| format!(" ({window} ports)"));
    let reuse = if run.reuse_address { " SO_REUSEADDR" } else { "" };
    format!("{}{window}{reuse}", run.strategy)
}

/// That the machine was busy, where that counts.
pub(super) fn waited(run: &Run) -> Option<String> {
    let share = run.waited_for_cpu_share.filter(|share| *share >= BUSY)?;
    Some(format!("{:.0} % of the time it waited for a processor that other programs had", share * 100.0))
}

fn latencies(fill: &Fill) -> String {
    let us = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"));
    format!("{} {:>7}", us(fill.p50_us), us(fill.p99_us))
}

fn forecasts(measurement: &Measurement) -> String {
    let asked = measurement.forecast.iter().map(|forecast| ("at the rate given", forecast));
    let fastest = measurement.strategies.iter().filter_map(|run| run.forecast.as_ref());
    let fastest = fastest.max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
    let all: Vec<_> = asked.chain(fastest.map(|forecast| ("at the highest rate above", forecast))).collect();
    let Some((_, first)) = all.first() else { return String::new() };
    let mut text = format!(
        "\nTIME_WAIT keeps a port for 60 s, so {:.2} connects/s to this destination can go on for ever\n",
        first.sustainable_per_s
    );
    for (which, Forecast { rate_per_s, exhausted_after_s, .. }) in all {
        let when = exhausted_after_s.map_or_else(
            || "the ports last".to_owned(),
            |after| format!("no port is left after {after:.1} s"),
        );
        let _ = writeln!(text, "  {which}, {rate_per_s:.0}/s: {when}");
    }
    text
}

/// Latency against the used share: a row for each doubling, a column for each 60th of the range.
fn picture(run: &Run) -> String {
    let rows: Vec<_> = run.samples.iter().map(row).collect();
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

/// Which doubling of 1 us a latency lies in.
fn row(sample: &Sample) -> u32 {
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

/// A share of waiting for a processor that people should know of.
const BUSY: f64 = 0.1;

/// Columns of a picture.
const WIDTH: usize = 60;
