//! Where visitors come in: for each core, sockets of its own on the same addresses.

use std::net::{SocketAddr, TcpListener};

use http::{
    Server,
    server::{Identity, share},
};

use crate::{Error, network::DataCentre};

/// Sockets for all cores.
pub(crate) struct Doors {
    clear: Vec<Vec<TcpListener>>,
    tls: Vec<Vec<TcpListener>>,
    identity: Option<Identity>,
    /// HTTP/3 is the first core's: a client that moves to another address goes on with the same socket.
    has_http3: bool,
    proxy_protocol: bool,
}

impl Doors {
    /// Opens what a data centre listens on.
    pub(crate) fn open(centre: &DataCentre, cores: usize) -> Result<Self, Error> {
        let identity = centre.identity.as_ref().filter(|_| !centre.listen_tls.is_empty());
        let identity = identity.map(|(certificate, key)| Identity::read(certificate, key)).transpose()?;
        let tls = if identity.is_some() { &centre.listen_tls[..] } else { &[] };
        Ok(Self {
            clear: share(&centre.listen, cores)?,
            tls: share(tls, cores)?,
            identity,
            has_http3: true,
            proxy_protocol: centre.proxy_protocol,
        })
    }

    /// Addresses without and with TLS.
    pub(crate) fn addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        let of = |cores: &[Vec<TcpListener>]| {
            let sockets = cores.first().into_iter().flatten();
            sockets.filter_map(|socket| socket.local_addr().ok()).collect()
        };
        (of(&self.clear), of(&self.tls))
    }

    /// Whether what comes in begins with a header of the PROXY protocol.
    pub(crate) fn proxy_protocol(&self) -> bool {
        self.proxy_protocol
    }

    /// The servers of the next core, in whose runtime this is called.
    pub(crate) fn of_next_core(&mut self) -> Result<Vec<Server>, Error> {
        let mut servers = Vec::new();
        if let Some(sockets) = self.clear.pop().filter(|sockets| !sockets.is_empty()) {
            servers.push(Server::on(sockets)?);
        }
        if let (Some(sockets), Some(identity)) = (self.tls.pop(), &self.identity) {
            let server = Server::on(sockets)?;
            let takes_quic = std::mem::take(&mut self.has_http3);
            servers.push(if takes_quic { server.with_http3(identity)? } else { server.with_tls(identity) });
        }
        Ok(servers)
    }
}
