//! `--log`: events for troubleshooting, one line each on standard error.
//!
//! [`conventions`](crate::conventions) adds the options to all long-running commands. Only the I/O
//! layers emit events.

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use tracing::{info, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, registry, util::SubscriberInitExt};

use crate::output;

// Not a doc comment, which would replace the command's description.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Log to standard error, from this level on
    #[arg(long, value_name = "LEVEL", help_heading = "Log")]
    log: Option<Level>,
    /// Log format: a line of text, or one JSON object per line
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Log")]
    log_format: Format,
}

/// The minimum level; each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Failures
    Error,
    /// Conditions that may affect a result
    Warn,
    /// The start and end of tasks
    Info,
    /// Each connection, request and command
    Debug,
    /// Everything, including libraries
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Time, level, module, message and fields
    Text,
    /// The same as an object
    Json,
}

impl Log {
    /// `None` if the command has no log.
    pub(crate) fn of(command: &Command, matches: &ArgMatches) -> Option<Self> {
        if let Some((name, below)) = matches.subcommand() {
            return Self::of(command.find_subcommand(name)?, below);
        }
        // `compare` and `convert` also have a `--log-format`, for access logs.
        let has_log = command.get_arguments().any(|argument| argument.get_id() == "log");
        has_log.then(|| Self::from_arg_matches(matches).ok()).flatten()
    }

    pub(crate) fn begin(&self) {
        let Some(level) = self.log else { return };
        begin(level, self.log_format);
        planet::process::pass_on(vec![name(&level), name(&self.log_format)]);
        info!(version = env!("CARGO_PKG_VERSION"), "the command begins");
    }
}

pub(crate) fn passed_on(words: &[String]) {
    if let [level, format] = words
        && let (Ok(level), Ok(format)) = (Level::from_str(level, false), Format::from_str(format, false))
    {
        begin(level, format);
    }
}

fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn begin(level: Level, format: Format) {
    let lines = tracing_subscriber::fmt::layer().with_writer(|| output::StderrLines).with_ansi(false);
    let lines = match format {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    };
    registry().with(lines.with_filter(filter(level))).init();
}

/// Libraries log many internals at "debug".
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

const LIBRARIES: [&str; 4] = ["h2", "rustls", "tokio", "mio"];
