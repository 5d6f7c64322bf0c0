//! The `longhaul` command: dispatches to subcommands.

mod arg_conventions;
mod compare;
mod complete;
mod completions;
mod convert;
mod doctor;
mod edge;
mod example;
mod file_kind_hint;
mod interrupt;
mod lab;
mod log;
mod manual;
mod output;
mod ping;
mod probe;
mod progress;
mod quick_build;
mod run;
mod serve;
mod shell;
mod speed;
mod subjects;
mod sys;
mod tcp;
mod transfer;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing::{error, info};

#[global_allocator]
static ALLOCATOR: sys::Allocator = sys::Allocator;

/// Measure, emulate and run an edge network: the latency that users experience over the distances of a planet
///
/// Exit codes: 0 success, 1 a claim or a threshold failed or a measurement is invalid, 2 the command could
/// not run, 130 interrupted.
#[derive(Debug, Parser)]
#[command(version = quick_build::VERSION, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
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
    Speed(speed::Speed),
    #[command(subcommand)]
    Edge(edge::Edge),
    Lab(lab::Lab),
    #[command(subcommand)]
    Tcp(tcp::Tcp),
    Example(example::Example),
    Completions(completions::Completions),
    Manual(manual::Manual),
    #[command(hide = true)]
    Complete(complete::Complete),
}

impl Cli {
    fn conventional() -> clap::Command {
        arg_conventions::keep(Self::command())
    }

    fn read() -> Self {
        let mut command = subjects::group(Self::conventional());
        let matches = command.get_matches_mut();
        if let Some(log) = log::Log::of(&command, &matches) {
            log.begin();
        }
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

fn main() -> ExitCode {
    // The process of a planet executes this program. It must be single-threaded here.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == planet::process::COMMAND) {
        log::passed_on(&planet::process::passed_on());
        return planet::process::main();
    }
    let outcome = match Cli::read().command {
        Command::Doctor(doctor) => doctor.run(),
        Command::Run(run) => run.run(),
        Command::Compare(compare) => compare.run(),
        Command::Convert(convert) => convert.run(),
        Command::Merge(merge) => merge.run(),
        Command::Probe(probe) => probe.run(),
        Command::Ping(ping) => ping.run(),
        Command::Transfer(transfer) => transfer.run(),
        Command::Serve(serve) => serve.run(),
        Command::Speed(speed) => speed.run(),
        Command::Edge(edge) => edge.run(),
        Command::Lab(lab) => lab.run(),
        Command::Tcp(tcp) => tcp.run(),
        Command::Example(example) => example.run(),
        Command::Completions(completions) => completions.run(),
        Command::Manual(manual) => manual.run(),
        Command::Complete(complete) => complete.run(),
    };
    match &outcome {
        Ok(code) => info!(?code, "the command ended"),
        Err(error) => error!(error = format!("{error:#}"), "the command failed"),
    }
    outcome.unwrap_or_else(|error| output::fail(&error))
}
