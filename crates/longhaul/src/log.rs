//! `--log`: what happens inside, for whoever has to find out why. One line an event on standard error, as text or as JSON.
//!
//! Every command that runs for long has it ([`conventions`](crate::conventions) adds it). Only the shells tell events; the
//! engines are silent. Without the flag nothing is told.

use std::io;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use tracing::{info, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, registry, util::SubscriberInitExt};

// What a command that runs for long takes as well as its own options. Not a doc comment, which would become the command's own
// description.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Tell on standard error what happens inside, from this level on
    #[arg(long, value_name = "LEVEL", help_heading = "Log")]
    log: Option<Level>,
    /// How to tell it: a line of text, or one JSON object a line
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Log")]
    log_format: Format,
}

/// How much is told; each has all of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// What failed
    Error,
    /// What is likely to make a result worse
    Warn,
    /// What began and ended
    Info,
    /// Each connection, request and order
    Debug,
    /// All there is, of libraries too
    Trace,
}

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Time, level, part of the program, what happened, and its figures
    Text,
    /// The same as an object
    Json,
}

impl Log {
    /// As the command line asks for it; nothing if the command has no such option.
    pub(crate) fn of(command: &Command, matches: &ArgMatches) -> Option<Self> {
        if let Some((name, below)) = matches.subcommand() {
            return Self::of(command.find_subcommand(name)?, below);
        }
        // `compare` and `convert` have a `--log-format` too, which is about access logs.
        let has_log = command.get_arguments().any(|argument| argument.get_id() == "log");
        has_log.then(|| Self::from_arg_matches(matches).ok()).flatten()
    }

    /// From here on events are told, also by the processes of planets that this one starts.
    pub(crate) fn begin(&self) {
        let Some(level) = self.log else { return };
        begin(level, self.log_format);
        planet::process::pass_on(vec![name(&level), name(&self.log_format)]);
        info!(version = env!("CARGO_PKG_VERSION"), "the command begins");
    }
}

/// In the process of a planet: as the one that started it was told, whose words these are.
pub(crate) fn passed_on(words: &[String]) {
    if let [level, format] = words
        && let (Ok(level), Ok(format)) = (Level::from_str(level, false), Format::from_str(format, false))
    {
        begin(level, format);
    }
}

/// The name on the command line.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn begin(level: Level, format: Format) {
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    let lines = match format {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    };
    registry().with(lines.with_filter(filter(level))).init();
}

/// Libraries tell much of their own inside at "debug".
fn filter(level: Level) -> Targets {
    let (ours, of_libraries) = match level {
        Level::Error => (LevelFilter::ERROR, LevelFilter::ERROR),
        Level::Warn => (LevelFilter::WARN, LevelFilter::WARN),
        Level::Info => (LevelFilter::INFO, LevelFilter::WARN),
        Level::Debug => (LevelFilter::DEBUG, LevelFilter::WARN),
        Level::Trace => (LevelFilter::TRACE, LevelFilter::TRACE),
    };
    let libraries = LIBRARIES.map(|library| (library, of_libraries));
    Targets::new().with_default(ours).with_targets(libraries)
}

/// Those that tell events.
const LIBRARIES: [&str; 4] = ["h2", "rustls", "tokio", "mio"];
