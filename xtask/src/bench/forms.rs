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
        "| closed form | expected | engine | planet | planet against that |\n| --- | --- | --- | --- | --- |"
    );
    shapes::overload()?;
    shapes::bursts()?;
    shapes::trace()?;
    queues::poisson()?;
    queues::standing()?;
    reno::mathis()
}

/// What the planet is compared with.
enum Reference {
    /// This value.
    Exactly(f64),
    /// Anything between.
    Between(f64, f64),
}

/// One row: what is derived, and what the engine and the planet had.
fn row(what: &str, expected: &str, [engine, planet]: [f64; 2], unit: &str, reference: &Reference) {
    let verdict = match reference {
        Reference::Exactly(value) => format!("{:+.2} %", (planet / value - 1.0) * 100.0),
        Reference::Between(least, most) if (*least..=*most).contains(&planet) => "within".to_owned(),
        Reference::Between(..) => "outside".to_owned(),
    };
    println!("| {what} | {expected} | {engine:.3} {unit} | {planet:.3} {unit} | {verdict} |");
}

/// This program itself, as something to run inside a host.
fn own(mut at: Command, arguments: &[&str]) -> anyhow::Result<Command> {
    at.arg(std::env::current_exe()?).arg("packets").args(arguments);
    Ok(at)
}
