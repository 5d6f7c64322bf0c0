//! Why a probe, a load run or an origin could not do its work.
//!
//! A request that fails is not an error but a [`recording::Sample`] with its `error` set: failures are results.

use std::{io, path::PathBuf};

/// What went wrong, grouped by whose hand can mend it. Where a remedy is known the message ends in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller's.
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
        /// The forms that would do.
        expected: &'static str,
    },
    /// A recording that is to be a schedule cannot be read.
    #[error("the schedule cannot be read")]
    Replay {
        /// The reader's error, with its place.
        source: recording::Error,
    },
    /// A recording does not say when its requests started.
    #[error("{} is not a schedule: {why}", path.display())]
    NoSchedule {
        /// The recording.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// More connections were asked for than this process may open.
    #[error("{wanted} connections need more open files than the limit of {limit}; raise it with `ulimit -n`")]
    OpenFiles {
        /// Connections asked for.
        wanted: usize,
        /// Files that may be open.
        limit: usize,
    },

    // The environment's.
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
    /// The kernel refused something that this crate cannot do without.
    #[error("cannot {what}")]
    System {
        /// The operation: "start a runtime", ...
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },

    // Whoever's, of HTTP itself.
    /// A client or a server could not be set up.
    #[error(transparent)]
    Http(#[from] http::Error),
}
