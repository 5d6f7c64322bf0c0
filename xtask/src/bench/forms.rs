//! Closed forms: what a formula says, what the engine does in virtual time, and what real kernels see on the planet.

mod packets;
mod queues;
mod reno;
mod shapes;

use std::process::Command;

pub(crate) use packets::command as packets;

/// Prints a row for each form.
pub(super) fn bench() -> anyhow::Result<()> {
    println!(
        "| closed form | expected | engine | planet | planet is off by |\n| --- | --- | --- | --- | --- |"
    );
    shapes::overload()?;
    shapes::bursts()?;
    shapes::trace()?;
    queues::poisson()?;
    queues::standing()?;
    reno::mathis()
}

/// One row. What the planet is compared with comes last.
fn row(what: &str, expected: &str, engine: f64, planet: f64, reference: f64, unit: &str) {
    let off = (planet / reference - 1.0) * 100.0;
    println!("| {what} | {expected} | {engine:.3} {unit} | {planet:.3} {unit} | {off:+.2} % |");
}

/// This program itself, as something to run inside a host.
fn own(mut at: Command, arguments: &[&str]) -> anyhow::Result<Command> {
    at.arg(std::env::current_exe()?).arg("packets").args(arguments);
    Ok(at)
}
