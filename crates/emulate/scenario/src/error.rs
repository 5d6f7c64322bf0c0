//! Errors of a run. A claim that does not hold is a result and not an error.

use std::{io, path::PathBuf};

use world::Diagnostic;

/// The reason why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller: the file is invalid.
    #[error(transparent)]
    File(#[from] Diagnostic),
    /// The caller: a file cannot be read or written.
    #[error("{path}: {source}")]
    Access {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The environment: the planet failed.
    #[error(transparent)]
    Planet(#[from] planet::Error),
    /// The environment: a program or probe could not be started.
    #[error("cannot start {what}: {source}")]
    Start {
        /// The name of the program or probe.
        what: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A program ended before the measurement did, or a probe could not measure.
    #[error("{what} ended early ({how}){last_words}")]
    Ended {
        /// The name of the program or probe.
        what: String,
        /// Its exit code or signal.
        how: String,
        /// Its last lines of output, each on its own line.
        last_words: String,
    },
    /// The peer: a program did not listen in time.
    #[error("{what} did not listen on port {port} within {seconds} s{last_words}")]
    NotReady {
        /// The name of the program.
        what: String,
        /// The port on which it was expected.
        port: u16,
        /// The limit.
        seconds: u64,
        /// Its last lines of output, each on its own line.
        last_words: String,
    },
    /// A recording that a probe wrote cannot be used.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The recorded samples are invalid.
    #[error(transparent)]
    Samples(#[from] statistics::Error),
    /// The output of a transfer is not a summary.
    #[error("{path}: this is not the summary of a transfer: {source}")]
    Summary {
        /// The file.
        path: PathBuf,
        /// Position and reason.
        source: serde_json::Error,
    },
    /// The output of a speed test is not a result.
    #[error("{path}: this is not the result of a speed test: {source}")]
    SpeedOutcome {
        /// The file.
        path: PathBuf,
        /// Position and reason.
        source: serde_json::Error,
    },
    /// The output of a command is not one JSON value.
    #[error("{path}: expected exactly one JSON value from the command: {source}")]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Position and reason.
        source: serde_json::Error,
    },
    /// The peer: a command exceeded its timeout.
    #[error("{what} did not end within {timeout}, its timeout{last_words}")]
    TooLong {
        /// The name of the command.
        what: String,
        /// The timeout, formatted.
        timeout: String,
        /// Its last lines of output, each on its own line.
        last_words: String,
    },
    /// The peer: a command exceeded its output limit.
    #[error(
        "{what} printed more than its limit of {limit}; let it print less, or raise limit in its [[command]]"
    )]
    TooMuch {
        /// The name of the command.
        what: String,
        /// The limit.
        limit: units::Bytes,
    },
    /// The peer: all requests of a probe failed.
    #[error("no request to {url} from {host} received a response: {reasons}")]
    Unanswered {
        /// The URL.
        url: String,
        /// The host that sent the requests.
        host: String,
        /// The reasons, each with its count.
        reasons: String,
    },
    /// The caller: the run was interrupted.
    #[error("interrupted; the measurements until then are in {}", .out.display())]
    Interrupted {
        /// The output folder.
        out: PathBuf,
    },
}
