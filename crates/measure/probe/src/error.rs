//! Errors of probes, load runs and origins.
//!
//! A request that fails is not an error but a [`recording::Sample`] with its `error` set: failures
//! are results.

use std::{io, path::PathBuf};

/// The errors of this crate, grouped by who can fix them. A message ends with the remedy if one is
/// known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a URL that can be probed.
    #[error("\"{text}\" cannot be probed: {why}")]
    Url {
        /// The given text.
        text: String,
        /// The mistake in it.
        why: String,
    },
    /// A method, header name or header value that HTTP does not allow.
    #[error("\"{text}\" is not {what}")]
    Request {
        /// The given text.
        text: String,
        /// The expected form: "an HTTP method", ...
        what: &'static str,
    },
    /// The text is not a distribution of service times.
    #[error("\"{text}\" is not a service time: {why}; expected {expected}")]
    ServiceTime {
        /// The given text.
        text: String,
        /// The mistake in it.
        why: String,
        /// The valid forms.
        expected: &'static str,
    },
    /// The recording for a schedule cannot be read.
    #[error("the schedule cannot be read")]
    Replay {
        /// The reader's error, with its place.
        source: recording::Error,
    },
    /// The recording does not contain the start times of its requests.
    #[error("{} is not a schedule: {why}", path.display())]
    NoSchedule {
        /// The recording.
        path: PathBuf,
        /// Why it is not a schedule.
        why: String,
    },
    /// The run needs more connections than this process may open.
    #[error("{wanted} connections need more open files than the limit of {limit}; raise it with `ulimit -n`")]
    OpenFiles {
        /// The requested number of connections.
        wanted: usize,
        /// The limit of open files.
        limit: usize,
    },

    /// The origin's CA certificate could not be written.
    #[error("cannot write the CA certificate to {}", path.display())]
    WriteCa {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The recording could not be written; the run was ended.
    #[error("cannot write the recording")]
    Record {
        /// The writer's error.
        source: recording::Error,
    },
    /// A required system call failed.
    #[error("cannot {what}")]
    System {
        /// The operation: "start a runtime", ...
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },

    /// A client or a server could not be set up.
    #[error(transparent)]
    Http(#[from] http_stack::Error),
}
