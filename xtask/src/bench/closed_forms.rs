//! Closed forms: compares the result of a formula with the link engine in virtual time and with real kernels
//! in an emulated network (planet).

mod packets;
mod queues;
mod reno;
mod shapes;

use std::process::Command;

pub(crate) use packets::command as packets;

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

enum Reference {
    Exactly(f64),
    Between(f64, f64),
}

fn row(what: &str, expected: &str, [engine, planet]: [f64; 2], unit: &str, reference: &Reference) {
    let verdict = match reference {
        Reference::Exactly(value) => format!("{:+.2} %", (planet / value - 1.0) * 100.0),
        Reference::Between(least, most) if (*least..=*most).contains(&planet) => "within".to_owned(),
        Reference::Between(..) => "outside".to_owned(),
    };
    println!("| {what} | {expected} | {engine:.3} {unit} | {planet:.3} {unit} | {verdict} |");
}

fn own(mut at: Command, arguments: &[&str]) -> anyhow::Result<Command> {
    at.arg(std::env::current_exe()?).arg("packets").args(arguments);
    Ok(at)
}
