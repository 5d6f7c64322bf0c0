//! Where visitors come in: for each core, sockets of its own on the same addresses.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use http::{
    Membership, Scheme, Server,
    server::{Config, Identity, PerAddress, bind_udp, share},
};

use crate::{Error, network::DataCentre, sockets::Sockets};

/// Sockets for all cores.
pub(crate) struct Doors {
    clear: Vec<Vec<TcpListener>>,
    tls: Vec<Vec<TcpListener>>,
    udp: Vec<UdpSocket>,
    /// For other data centres.
    links: Vec<Vec<TcpListener>>,
    /// For those who use the key-value store.
    kv: Vec<Vec<TcpListener>>,
    kv_tls: Vec<Vec<TcpListener>>,
    identity: Option<Identity>,
    /// What visitors of one core may cost.
    config: Config,
    /// What those of one address may, on all cores together.
    per_address: Arc<PerAddress>,
}

/// What one core serves.
pub(crate) struct Served {
    pub(crate) servers: Vec<Server>,
    /// For other data centres.
    pub(crate) links: Option<Server>,
    /// For those who use the key-value store, and how they speak.
    pub(crate) kv: Vec<(Server, Scheme)>,
    /// HTTP/3 is one core's: a client that moves to another address goes on with the same socket.
    pub(crate) quic: Option<Quic>,
}

/// Sockets for QUIC, which nobody reads yet.
pub(crate) struct Quic {
    sockets: Vec<UdpSocket>,
    identity: Identity,
    config: Config,
    per_address: Arc<PerAddress>,
}

impl Quic {
    /// The server that reads them from now on, in the runtime in which this is called.
    pub(crate) fn server(self) -> Result<Server, Error> {
        let server = Server::over_quic(self.sockets, &self.identity)?;
        Ok(server.with_config(self.config).with_most_per_address(&self.per_address))
    }
}

impl Doors {
    /// Opens what a data centre listens on, apart from what is there already.
    pub(crate) fn open(centre: &DataCentre, cores: usize, there: &mut Sockets) -> Result<Self, Error> {
        let has_tls = !centre.listen_tls.is_empty() || !centre.kv_listen_tls.is_empty();
        let identity = centre.identity.as_ref().filter(|_| has_tls);
        let identity = identity.map(|(certificate, key)| Identity::read(certificate, key)).transpose()?;
        let clear = tcp(&centre.listen, cores, there)?;
        let tls =
            if centre.listen_tls.is_empty() { Vec::new() } else { tcp(&centre.listen_tls, cores, there)? };
        let udp = udp(&addresses(&tls), there)?;
        let link: Vec<_> = centre.link.iter().map(|link| link.address).collect();
        let links = tcp(&link, cores, there)?;
        let kv = tcp(&centre.kv_listen, cores, there)?;
        let kv_tls = tcp(&centre.kv_listen_tls, cores, there)?;
        let all = Config::default();
        let connections = centre.connections.min(http::open_files().saturating_sub(OTHER_FILES)) / cores;
        let config = Config {
            connections: connections.max(1),
            proxy_protocol: centre.proxy_protocol,
            stop_grace: centre.drain,
            idle_grace: centre.drain.min(IDLE_GRACE),
            ..all
        };
        let per_address = PerAddress::at_most(centre.connections_per_address);
        Ok(Self { clear, tls, udp, links, kv, kv_tls, identity, config, per_address })
    }

    /// What visitors see over TLS.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }

    /// Who counts the connections of each address.
    pub(crate) fn per_address(&self) -> Arc<PerAddress> {
        Arc::clone(&self.per_address)
    }

    /// Addresses without and with TLS.
    pub(crate) fn addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        (addresses(&self.clear), addresses(&self.tls))
    }

    /// Where other data centres are served.
    pub(crate) fn link_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.links)
    }

    /// Where the key-value store is asked, without and with TLS.
    pub(crate) fn kv_addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        (addresses(&self.kv), addresses(&self.kv_tls))
    }

    /// Copies of all sockets, and of the operator's, in the order in which a process with the same file looks for them.
    pub(crate) fn copies(&self, operator: Option<&TcpListener>) -> io::Result<Vec<OwnedFd>> {
        let tcp =
            self.clear.iter().chain(&self.tls).chain(&self.kv).chain(&self.kv_tls).flatten().chain(operator);
        let tcp = tcp.map(|socket| socket.try_clone().map(OwnedFd::from));
        let udp = self.udp.iter().map(|socket| socket.try_clone().map(OwnedFd::from));
        let links = self.links.iter().flatten().map(|socket| socket.try_clone().map(OwnedFd::from));
        tcp.chain(udp).chain(links).collect()
    }

    /// The servers of the next core, in whose runtime this is called.
    pub(crate) fn of_next_core(&mut self, member: Option<&Membership>) -> Result<Served, Error> {
        let mut servers = Vec::new();
        if let Some(sockets) = self.clear.pop().filter(|sockets| !sockets.is_empty()) {
            servers.push(Server::on(sockets)?);
        }
        let mut quic = None;
        if let (Some(sockets), Some(identity)) = (self.tls.pop(), self.identity.clone()) {
            servers.push(Server::on(sockets)?.with_http3_elsewhere(&identity));
            let is_last = self.tls.is_empty();
            quic = is_last.then(|| Quic {
                sockets: self.udp.drain(..).collect(),
                identity,
                config: self.config,
                per_address: self.per_address(),
            });
        }
        let limited =
            |server: Server| server.with_config(self.config).with_most_per_address(&self.per_address);
        let servers = servers.into_iter().map(limited).collect();
        let sockets = self.links.pop().filter(|sockets| !sockets.is_empty());
        let links = match (sockets, member) {
            (Some(sockets), Some(member)) => {
                let config = Config { proxy_protocol: false, ..self.config };
                Some(Server::on(sockets)?.with_members(member).with_config(config))
            }
            _ => None,
        };
        Ok(Served { servers, links, kv: self.kv_of_next_core()?, quic })
    }

    fn kv_of_next_core(&mut self) -> Result<Vec<(Server, Scheme)>, Error> {
        let own = Config { proxy_protocol: false, ..self.config };
        let mut servers = Vec::new();
        if let Some(sockets) = self.kv.pop().filter(|sockets| !sockets.is_empty()) {
            servers.push((Server::on(sockets)?.with_config(own), Scheme::Http));
        }
        if let (Some(sockets), Some(identity)) = (self.kv_tls.pop(), &self.identity)
            && !sockets.is_empty()
        {
            servers.push((Server::on(sockets)?.with_tls(identity).with_config(own), Scheme::Https));
        }
        Ok(servers)
    }
}

/// For each core, sockets at all these addresses.
fn tcp(addresses: &[SocketAddr], cores: usize, there: &mut Sockets) -> Result<Vec<Vec<TcpListener>>, Error> {
    let found: Vec<_> = addresses.iter().map(|&address| there.take_tcp(address)).collect();
    let missing = addresses.iter().zip(&found).filter(|(_, found)| found.is_empty());
    let missing: Vec<_> = missing.map(|(address, _)| *address).collect();
    let mut opened = share(&missing, cores)?.into_iter();
    let mut of_cores: Vec<_> = (0..cores).map(|_| Vec::new()).collect();
    for found in found {
        let sockets = if found.is_empty() { opened.next().unwrap_or_default() } else { found };
        // All are accepted from; a core that has none of its own accepts from that of another.
        for core in 0..sockets.len().max(cores) {
            let socket = &sockets[core % sockets.len()];
            of_cores[core % cores].push(socket.try_clone().map_err(Error::Inherited)?);
        }
    }
    Ok(of_cores)
}

/// A socket at each of these addresses.
fn udp(addresses: &[SocketAddr], there: &mut Sockets) -> Result<Vec<UdpSocket>, Error> {
    let (mut sockets, mut missing) = (Vec::new(), Vec::new());
    for &address in addresses {
        match there.take_udp(address).pop() {
            Some(socket) => sockets.push(socket),
            None => missing.push(address),
        }
    }
    sockets.extend(bind_udp(&missing)?);
    Ok(sockets)
}

/// Where the sockets of each core are.
fn addresses(of_cores: &[Vec<TcpListener>]) -> Vec<SocketAddr> {
    let sockets = of_cores.first().into_iter().flatten();
    let mut addresses: Vec<_> = sockets.filter_map(|socket| socket.local_addr().ok()).collect();
    addresses.dedup();
    addresses
}

/// How long a visitor's next request may take when this process is stopped: longer than the way from anywhere on the planet.
const IDLE_GRACE: Duration = Duration::from_secs(1);

/// Open files that are not connections of visitors: sockets that listen, connections to origins, timers.
const OTHER_FILES: usize = 2048;
