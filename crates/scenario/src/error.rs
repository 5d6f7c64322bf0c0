//! Why a scenario could not be run. A claim that does not hold is not an error: it is a result.

use std::{io, path::PathBuf};

use world::Mistake;

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller: the file is wrong.
    #[error(transparent)]
    File(#[from] Mistake),
    /// The caller: a file cannot be read or written.
    #[error("{path}: {source}")]
    Access {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The environment: the planet.
    #[error(transparent)]
    Planet(#[from] planet::Error),
    /// The environment: a program or probe could not be started.
    #[error("cannot start {what}: {source}")]
    Start {
        /// What it was.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The peer: a program ended before the measurement did, or a probe could not measure.
    #[error("{what} ended early ({how}){last_words}")]
    Ended {
        /// What it was.
        what: String,
        /// With which exit code or signal.
        how: String,
        /// Its last lines of output, on lines of their own.
        last_words: String,
    },
    /// The peer: a program did not listen in time.
    #[error("{what} did not listen on port {port} within {seconds} s{last_words}")]
    NotReady {
        /// What it was.
        what: String,
        /// Where it was expected.
        port: u16,
        /// The limit.
        seconds: u64,
        /// Its last lines of output, on lines of their own.
        last_words: String,
    },
    /// A recording that a probe wrote cannot be used.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// What was recorded makes no sense as samples.
    #[error(transparent)]
    Samples(#[from] experience::Error),
    /// What a transfer printed is not a summary.
    #[error("{path}: not what a transfer prints: {source}")]
    Summary {
        /// The file with it.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// What a command printed is not what is expected of one.
    #[error("{path}: a command prints one JSON value and nothing else: {source}")]
    Printed {
        /// The file with it.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The peer: a command took longer than it may.
    #[error("{what} did not end within {timeout}, its timeout{last_words}")]
    TooLong {
        /// What it was.
        what: String,
        /// The limit, as a person writes it.
        timeout: String,
        /// Its last lines of output, on lines of their own.
        last_words: String,
    },
    /// The peer: a command printed more than it may.
    #[error(
        "{what} printed more than {limit}, its limit; let it print less, or raise limit in its [[command]]"
    )]
    TooMuch {
        /// What it was.
        what: String,
        /// The limit.
        limit: units::Bytes,
    },
    /// The peer: nobody answered a probe.
    #[error("no request to {url} from {host} was answered: {reasons}")]
    Unanswered {
        /// What was asked for.
        url: String,
        /// From where.
        host: String,
        /// Why not, with how often.
        reasons: String,
    },
    /// The caller: it was interrupted.
    #[error("interrupted; what was measured until then is in {}", .out.display())]
    Interrupted {
        /// The output folder.
        out: PathBuf,
    },
}
