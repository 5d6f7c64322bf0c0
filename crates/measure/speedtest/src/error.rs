//! Errors of a server or a test.

use std::{io, net::SocketAddr, path::PathBuf};

use http_stack::Failure;

/// Errors, grouped by where the remedy is. If a remedy is known, the message ends with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a valid server URL.
    #[error("\"{text}\" cannot be tested: {why}")]
    Url {
        /// The given text.
        text: String,
        /// The reason.
        why: String,
    },
    /// HTTP/3 requires TLS.
    #[error(
        "{url} is in clear text, and HTTP/3 is spoken over QUIC only; try https://, or another --protocol"
    )]
    NoClearHttp3 {
        /// The given URL.
        url: String,
    },

    /// The server is unreachable.
    #[error("no response from {url}: {failure}{}", remedy(*.failure))]
    Unreachable {
        /// The server.
        url: String,
        /// The cause.
        failure: Failure,
    },
    /// The peer is not a speed server.
    #[error(
        "{url} is not a speed server of Longhaul: it responded with {what}; `longhaul speed serve` starts one"
    )]
    NotSpeedServer {
        /// The server.
        url: String,
        /// Its response.
        what: String,
    },
    /// The server's limit of concurrent tests is reached.
    #[error("{url} refuses: {why}; try again later")]
    Busy {
        /// The server.
        url: String,
        /// Its message.
        why: String,
    },
    /// The server's limit of body sizes is smaller than a body of the plan.
    #[error("{url} sends at most {largest} in one body, and the plan requires {wanted}")]
    TooLarge {
        /// The server.
        url: String,
        /// The limit.
        largest: units::Bytes,
        /// The size in the plan.
        wanted: units::Bytes,
    },
    /// The server stores no results.
    #[error("{url} keeps no results; a server does with `longhaul speed serve --keep FILE`")]
    KeepsNothing {
        /// The server.
        url: String,
    },
    /// A request failed during the test.
    #[error("the {step} failed: {why}")]
    BrokenOff {
        /// The step.
        step: String,
        /// The reason.
        why: String,
    },

    /// The UDP port of the loss test is in use.
    #[error("cannot send datagrams back at UDP {address}; choose another port with --loss-port")]
    LossPort {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// The CA certificate could not be written.
    #[error("cannot write the CA certificate to {}", path.display())]
    WriteCa {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file of results cannot be used.
    #[error(transparent)]
    Kept(#[from] kv_redb::Error),
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

impl Error {
    /// Whether the test had started. The error is then a failed measurement and not an invalid
    /// command.
    pub fn is_of_measurement(&self) -> bool {
        matches!(self, Self::BrokenOff { .. })
    }
}

fn remedy(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "; no server listens there: is `longhaul speed serve` running, at this port?",
        Failure::Tls("not TLS") => "; the port does not use TLS: try http://",
        Failure::Tls(_) => "; --ca names the authority of its certificate, and --insecure trusts anyone",
        _ => "",
    }
}
