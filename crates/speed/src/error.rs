//! Why a server could not be started, or a test not be made.

use std::{io, net::SocketAddr, path::PathBuf};

use http::Failure;

/// What went wrong, grouped by whose hand can mend it. Where a remedy is known the message ends in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The caller's.
    /// The text is not a URL of a server.
    #[error("\"{text}\" cannot be tested: {why}")]
    Url {
        /// As it was given.
        text: String,
        /// The mistake in it.
        why: String,
    },
    /// HTTP/3 has no clear text.
    #[error(
        "{url} is in clear text, and HTTP/3 is spoken over QUIC only; try https://, or another --protocol"
    )]
    NoClearHttp3 {
        /// As it was given.
        url: String,
    },

    // The server's.
    /// Nobody answers there.
    #[error("no answer from {url}: {failure}{}", remedy(*.failure))]
    Unreachable {
        /// The server.
        url: String,
        /// Why.
        failure: Failure,
    },
    /// Somebody answers who is no speed server.
    #[error(
        "{url} is not a speed server of Longhaul: it answered with {what}; `longhaul speed serve` starts one"
    )]
    NotSpeedServer {
        /// The server.
        url: String,
        /// What it answered.
        what: String,
    },
    /// The server has too many tests.
    #[error("{url} refuses: {why}; try again later")]
    Busy {
        /// The server.
        url: String,
        /// In its words.
        why: String,
    },
    /// The server allows smaller bodies than the plan has.
    #[error("{url} sends at most {largest} in one body, and the plan asks for {wanted}")]
    TooLarge {
        /// The server.
        url: String,
        /// The most that it sends.
        largest: units::Bytes,
        /// What the plan asks for.
        wanted: units::Bytes,
    },
    /// The server keeps no results.
    #[error("{url} keeps no results; a server does with `longhaul speed serve --keep FILE`")]
    KeepsNothing {
        /// The server.
        url: String,
    },
    /// A request failed in mid-test.
    #[error("the {step} broke off: {why}")]
    BrokenOff {
        /// What was being done.
        step: String,
        /// Why.
        why: String,
    },

    // The environment's.
    /// The UDP port of the loss test is not free.
    #[error("cannot send datagrams back at UDP {address}; choose another port with --loss-port")]
    LossPort {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// The authority's certificate could not be written.
    #[error("cannot write the CA certificate to {}", path.display())]
    WriteCa {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file of results cannot be used.
    #[error(transparent)]
    Kept(#[from] vault::Error),
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

impl Error {
    /// Whether a test was begun, so that it is a measurement that failed and not a command that could not run.
    pub fn is_of_measurement(&self) -> bool {
        matches!(self, Self::BrokenOff { .. })
    }
}

/// What can be done where nobody answers.
fn remedy(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "; nobody listens there: is `longhaul speed serve` running, at this port?",
        Failure::Tls("not TLS") => "; nobody speaks TLS there: try http://",
        Failure::Tls(_) => "; --ca names the authority of its certificate, and --insecure trusts anyone",
        _ => "",
    }
}
