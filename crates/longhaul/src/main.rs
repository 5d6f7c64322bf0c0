//! The `longhaul` command: subcommands, and nothing else.

mod compare;
mod completions;
mod convert;
mod doctor;
mod interrupt;
mod lab;
mod output;
mod ping;
mod probe;
mod run;
mod serve;
mod tcp;
mod transfer;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run, emulate and measure an edge network
///
/// Exit codes: 0 all is well, 1 a claim or a threshold failed or a measurement is invalid, 2 it could not run.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Doctor(doctor::Doctor),
    Run(run::Run),
    Compare(compare::Compare),
    Convert(convert::Convert),
    Merge(convert::Merge),
    Probe(probe::Probe),
    Ping(ping::Ping),
    #[command(subcommand)]
    Transfer(transfer::Transfer),
    Serve(serve::Serve),
    #[command(subcommand)]
    Lab(lab::Lab),
    #[command(subcommand)]
    Tcp(tcp::Tcp),
    Completions(completions::Completions),
}

fn main() -> ExitCode {
    // A planet's process is this program again. It must not have started a thread.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == planet::process::COMMAND) {
        return planet::process::main();
    }
    let outcome = match Cli::parse().command {
        Command::Doctor(doctor) => doctor.run(),
        Command::Run(run) => run.run(),
        Command::Compare(compare) => compare.run(),
        Command::Convert(convert) => convert.run(),
        Command::Merge(merge) => merge.run(),
        Command::Probe(probe) => probe.run(),
        Command::Ping(ping) => ping.run(),
        Command::Transfer(transfer) => transfer.run(),
        Command::Serve(serve) => serve.run(),
        Command::Lab(lab) => lab.run(),
        Command::Tcp(tcp) => tcp.run(),
        Command::Completions(completions) => completions.run::<Cli>(),
    };
    outcome.unwrap_or_else(|error| output::fail(&error))
}
