//! Configuration of the server and its limits, with all defaults.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use http_stack::token::TokenHash;
use units::Bytes;

use crate::stored_results;

/// Configuration of the server.
#[derive(Debug, Clone)]
pub struct Config {
    /// The listening addresses; port 0 selects a free port. The default is loopback.
    pub listen: Vec<SocketAddr>,
    /// The UDP port of the loss test, on each listening address.
    pub loss: LossPort,
    /// Addresses that browsers use for the loss test, if they differ from the server's: behind NAT.
    pub loss_addresses: Vec<IpAddr>,
    /// TLS, with HTTP/2 and HTTP/3; `None`: clear text.
    pub tls: Option<Tls>,
    /// The listening addresses of the metrics.
    pub metrics: Vec<SocketAddr>,
    /// Limits for clients.
    pub limits: Limits,
    /// The store of results; `None`: no results are stored.
    pub keep: Option<stored_results::Config>,
    /// Hash of the operator's token, which grants access to all results; `None`: no access.
    pub operator: Option<TokenHash>,
}

/// The UDP port of the loss test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossPort {
    /// The port after the listening port, because HTTP/3 uses the UDP port of the same number.
    /// Browsers send no datagrams to ports below 1024: those are increased by 10000.
    Next,
    /// This port.
    At(u16),
}

/// The TLS certificate.
#[derive(Debug, Clone)]
pub enum Tls {
    /// A certificate and its key, in PEM.
    Files {
        /// The certificate, followed by its chain.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// A generated certificate.
    Made {
        /// Names and addresses in addition to localhost and the listening addresses.
        names: Vec<String>,
        /// Where to write the CA certificate, for clients to trust.
        write_ca: Option<PathBuf>,
    },
}

/// Limits for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Concurrent transfers in total.
    pub transfers: usize,
    /// Concurrent transfers per address; for IPv6, per network of 64 bits, which is one household.
    pub transfers_per_address: usize,
    /// Bytes per transfer in either direction. The responsiveness draft requires at least 8 GB.
    pub largest: Bytes,
}

impl Limits {
    /// These requests are short. The limit of their bodies bounds the memory.
    pub(crate) fn of_documents(self) -> Self {
        let transfers_per_address = self.transfers_per_address.min(DOCUMENTS_OF_ONE);
        Self { transfers: self.transfers.min(DOCUMENTS), transfers_per_address, ..self }
    }
}

/// At most 1 MiB each.
const DOCUMENTS: usize = 256;
/// Clients behind one address that end their tests at the same time.
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
