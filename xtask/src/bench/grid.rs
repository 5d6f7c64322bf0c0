//! Delay x rate x loss: measures an emulated network (planet) with iperf3 and ping, and compares with the
//! configured values.
//!
//! Each combination of round trip and rate is one planet with three pairs of hosts, one pair per
//! loss rate.

mod binomial;
mod cell;
mod trial;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use self::cell::Cell;

#[expect(clippy::disallowed_methods, reason = "its duration is part of what it reports")]
pub(super) fn bench(form: Form) -> anyhow::Result<()> {
    let start = Instant::now();
    if form == Form::Table {
        println!("| round trip | rate | ping: off by | TCP: off by | lost at 0 % | at 0.1 % | at 1 % | |");
        println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    }
    let mut cells = Vec::new();
    let planets: Vec<_> =
        RTTS_MS.iter().flat_map(|rtt_ms| RATES.iter().map(move |rate| (*rtt_ms, *rate))).collect();
    for (index, &(rtt_ms, rate)) in planets.iter().enumerate() {
        let mut of_planet = Vec::new();
        for attempt in 1..=ATTEMPTS {
            let seed = u32::try_from(index)? * ATTEMPTS + attempt;
            eprint!("\r{}/{}: {rtt_ms} ms, {rate}, attempt {attempt}\x1b[K", index + 1, planets.len());
            of_planet = trial::run(rtt_ms, rate, &LOSSES, seed)?;
            let rest = USUAL * u32::try_from(planets.len() - index)?;
            if of_planet.iter().all(|cell| cell.valid) || start.elapsed() + rest > LONGEST {
                break;
            }
        }
        if form == Form::Table {
            eprint!("\r\x1b[K");
            row(&of_planet);
        }
        cells.extend(of_planet);
    }
    eprintln!("\r{} cells in {:.0} s\x1b[K", cells.len(), start.elapsed().as_secs_f64());
    match form {
        Form::Json => {
            let cells: Vec<_> = cells.iter().map(Cell::json).collect();
            println!("{}", serde_json::to_string_pretty(&cells)?);
        }
        Form::Table => worst(&cells),
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Table,
    Json,
}

fn row(of_planet: &[Cell]) {
    let Some(first) = of_planet.first() else { return };
    let ping = of_planet.iter().map(Cell::ping_error_us).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let goodput = first.goodput_error_percent().map_or_else(String::new, |error| format!("{error:+.2} %"));
    let losses: Vec<_> = of_planet.iter().map(Cell::loss_text).collect();
    let notes: BTreeSet<_> = of_planet.iter().flat_map(Cell::complaints).collect();
    println!(
        "| {} ms | {} | {:+.0} us | {goodput} | {} | {} |",
        first.rtt_ms,
        first.rate,
        ping.unwrap_or_default(),
        losses.join(" | "),
        notes.into_iter().collect::<Vec<_>>().join("; ")
    );
}

fn worst(cells: &[Cell]) {
    let invalid = cells.iter().filter(|cell| !cell.valid).count();
    let wrong = cells.iter().filter(|cell| cell.valid && !cell.complaints().is_empty()).count();
    println!("\n{} cells, {invalid} INVALID, {wrong} valid ones outside what is stated.", cells.len());
    let valid = || cells.iter().filter(|cell| cell.valid);
    if let Some(cell) = valid().max_by(|a, b| a.ping_error_us().abs().total_cmp(&b.ping_error_us().abs())) {
        println!("Worst round trip: {:+.0} us, at {cell}; stated: 0 to 500 us.", cell.ping_error_us());
    }
    let off = |cell: &Cell| cell.goodput_error_percent().unwrap_or_default();
    if let Some(cell) = valid().max_by(|a, b| off(a).abs().total_cmp(&off(b).abs())) {
        println!("Worst goodput: {:+.3} %, at {cell}; stated: 0.5 %.", off(cell));
    }
    if let Some(cell) = valid().min_by(|a, b| a.loss_chance().total_cmp(&b.loss_chance())) {
        println!(
            "Least likely loss: {}, at {cell}; chance to be so far off or farther: {:.3}, stated: 0.0001.",
            cell.loss_text(),
            cell.loss_chance()
        );
    }
}

const RTTS_MS: [u64; 6] = [0, 1, 10, 50, 150, 300];
const RATES: [&str; 5] = ["1Mbit", "10Mbit", "100Mbit", "1Gbit", "5Gbit"];
/// Fractions of the segments.
const LOSSES: [f64; 3] = [0.0, 0.001, 0.01];
const ATTEMPTS: u32 = 3;

const USUAL: Duration = Duration::from_secs(16);
const LONGEST: Duration = Duration::from_secs(12 * 60);
