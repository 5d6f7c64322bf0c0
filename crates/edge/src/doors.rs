//! Where visitors come in: for each core, sockets of its own on the same addresses.

use std::net::{SocketAddr, TcpListener};

use http::{
    Server,
    server::{Config, Identity, share},
};

use crate::{Error, network::DataCentre};

/// Sockets for all cores.
pub(crate) struct Doors {
    clear: Vec<Vec<TcpListener>>,
    tls: Vec<Vec<TcpListener>>,
    identity: Option<Identity>,
    /// What visitors of one core may cost.
    config: Config,
}

impl Doors {
    /// Opens what a data centre listens on.
    pub(crate) fn open(centre: &DataCentre, cores: usize) -> Result<Self, Error> {
        let identity = centre.identity.as_ref().filter(|_| !centre.listen_tls.is_empty());
        let identity = identity.map(|(certificate, key)| Identity::read(certificate, key)).transpose()?;
        let tls = if identity.is_some() { &centre.listen_tls[..] } else { &[] };
        let (clear, tls) = (share(&centre.listen, cores)?, share(tls, cores)?);
        let all = Config::default();
        let connections = all.connections.min(http::open_files().saturating_sub(OTHER_FILES)) / cores;
        let config = Config {
            connections: connections.max(1),
            proxy_protocol: centre.proxy_protocol,
            stop_grace: centre.drain,
            ..all
        };
        Ok(Self { clear, tls, identity, config })
    }

    /// Addresses without and with TLS.
    pub(crate) fn addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        let of = |cores: &[Vec<TcpListener>]| {
            let sockets = cores.first().into_iter().flatten();
            sockets.filter_map(|socket| socket.local_addr().ok()).collect()
        };
        (of(&self.clear), of(&self.tls))
    }

    /// The servers of the next core, in whose runtime this is called.
    pub(crate) fn of_next_core(&mut self) -> Result<Vec<Server>, Error> {
        let mut servers = Vec::new();
        if let Some(sockets) = self.clear.pop().filter(|sockets| !sockets.is_empty()) {
            servers.push(Server::on(sockets)?);
        }
        if let (Some(sockets), Some(identity)) = (self.tls.pop(), &self.identity) {
            let server = Server::on(sockets)?;
            // HTTP/3 is one core's: a client that moves to another address goes on with the same socket.
            let is_last = self.tls.is_empty();
            servers.push(if is_last {
                server.with_http3(identity)?
            } else {
                server.with_http3_elsewhere(identity)
            });
        }
        Ok(servers.into_iter().map(|server| server.with_config(self.config)).collect())
    }
}

/// Open files that are not connections of visitors: sockets that listen, connections to origins, timers.
const OTHER_FILES: usize = 2048;
