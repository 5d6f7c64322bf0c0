//! What a server listens on and what its clients may cost. The only home of its defaults.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use http::token::TokenHash;
use units::Bytes;

use crate::kept;

/// What a server listens on, and what it allows.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 is any free one. Loopback unless told otherwise.
    pub listen: Vec<SocketAddr>,
    /// The UDP port at which datagrams of the loss test are sent back: of each address that is listened on.
    pub loss: LossPort,
    /// Where browsers are told to send these, if this machine's own address is not it: behind an address translation.
    pub loss_addresses: Vec<IpAddr>,
    /// Speak TLS, HTTP/2 and HTTP/3. Without it, clear text.
    pub tls: Option<Tls>,
    /// Where metrics are served.
    pub metrics: Vec<SocketAddr>,
    /// What clients may cost.
    pub limits: Limits,
    /// Where results are kept that clients leave here. None are kept without it.
    pub keep: Option<kept::Config>,
    /// Whose token shows all results that are kept. Nobody's without it.
    pub operator: Option<TokenHash>,
}

/// Where datagrams are sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossPort {
    /// At the port after the one that is listened on; any free one if that is any, too. HTTP/3 has the UDP port of the same number. Below 1024,
    /// where browsers send nothing to, 10000 further.
    Next,
    /// At this one.
    At(u16),
}

/// What a server shows under TLS.
#[derive(Debug, Clone)]
pub enum Tls {
    /// A certificate and its key, in PEM.
    Files {
        /// The certificate, then those that lead to an authority.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// One that is made on the spot.
    Made {
        /// Names and addresses besides localhost and those that are listened on.
        names: Vec<String>,
        /// Where to write the authority that signed it, for clients to trust.
        write_ca: Option<PathBuf>,
    },
}

/// What clients may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Transfers at once, in total.
    pub transfers: usize,
    /// Transfers at once from one address; of IPv6, from a network of 64 bits, as one household has.
    pub transfers_per_address: usize,
    /// Bytes of one transfer, either way. The draft of the responsiveness test wants at least 8 GB.
    pub largest: Bytes,
}

impl Limits {
    /// For telling, leaving and reading results, which is over at once on any line that a test is worth while on: a few of these at a time,
    /// and what all of their bodies come to bounds the memory.
    pub(crate) fn of_documents(self) -> Self {
        let transfers_per_address = self.transfers_per_address.min(DOCUMENTS_OF_ONE);
        Self { transfers: self.transfers.min(DOCUMENTS), transfers_per_address, ..self }
    }
}

/// Of at most 1 MiB each.
const DOCUMENTS: usize = 256;
/// As many visitors behind one address end their tests in the same moment.
const DOCUMENTS_OF_ONE: usize = 16;

impl Default for Limits {
    fn default() -> Self {
        Self { transfers: 4096, transfers_per_address: 64, largest: Bytes(8_000_000_000) }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8090))],
            loss: LossPort::Next,
            loss_addresses: Vec::new(),
            tls: None,
            metrics: Vec::new(),
            limits: Limits::default(),
            keep: None,
            operator: None,
        }
    }
}
