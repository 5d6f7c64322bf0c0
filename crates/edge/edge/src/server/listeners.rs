//! Listening sockets: each worker has separate ones on the same addresses.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use http_stack::{
    MeshIdentity, Scheme, Server,
    server::{Config, Identity, PerIpLimit, TlsHandshakes, bind_udp, share},
};

use crate::{Error, config::DataCentre, server::inherited_sockets::InheritedSockets};

pub(crate) struct Listeners {
    clear: Vec<Vec<TcpListener>>,
    tls: Vec<Vec<TcpListener>>,
    udp: Vec<UdpSocket>,
    links: Vec<Vec<TcpListener>>,
    kv: Vec<Vec<TcpListener>>,
    kv_tls: Vec<Vec<TcpListener>>,
    identity: Option<Identity>,
    config: Config,
    per_address: Arc<PerIpLimit>,
    handshakes: Arc<TlsHandshakes>,
}

pub(crate) struct WorkerListeners {
    pub(crate) servers: Vec<Server>,
    pub(crate) links: Option<Server>,
    pub(crate) kv: Vec<(Server, Scheme)>,
    /// One worker serves HTTP/3: a client that migrates to another address must reach the same
    /// socket.
    pub(crate) quic: Option<QuicSockets>,
}

pub(crate) struct QuicSockets {
    sockets: Vec<UdpSocket>,
    identity: Identity,
    config: Config,
    per_address: Arc<PerIpLimit>,
    handshakes: Arc<TlsHandshakes>,
}

impl QuicSockets {
    pub(crate) fn server(self) -> Result<Server, Error> {
        let server = Server::over_quic(self.sockets, &self.identity)?;
        let server = server.with_config(self.config).with_most_per_address(&self.per_address);
        Ok(server.with_handshakes(&self.handshakes))
    }
}

impl Listeners {
    pub(crate) fn open(
        centre: &DataCentre,
        workers: usize,
        inherited: &mut InheritedSockets,
        identity: Option<Identity>,
    ) -> Result<Self, Error> {
        let clear = tcp(&centre.listen, workers, inherited)?;
        let tls = if centre.listen_tls.is_empty() {
            Vec::new()
        } else {
            tcp(&centre.listen_tls, workers, inherited)?
        };
        let udp = udp(&addresses(&tls), inherited)?;
        let link: Vec<_> = centre.link.iter().map(|link| link.address).collect();
        let links = tcp(&link, workers, inherited)?;
        let kv = tcp(&centre.kv_listen, workers, inherited)?;
        let kv_tls = tcp(&centre.kv_listen_tls, workers, inherited)?;
        let all = Config::default();
        let connections =
            centre.connections.min(http_stack::open_files().saturating_sub(RESERVED_FILES)) / workers;
        let config = Config {
            connections: connections.max(1),
            proxy_protocol: centre.proxy_protocol,
            stop_grace: centre.drain,
            idle_grace: centre.drain.min(IDLE_GRACE),
            ..all
        };
        let per_address = PerIpLimit::at_most(centre.connections_per_address);
        Ok(Self {
            clear,
            tls,
            udp,
            links,
            kv,
            kv_tls,
            identity,
            config,
            per_address,
            handshakes: Arc::default(),
        })
    }

    pub(crate) fn per_address(&self) -> Arc<PerIpLimit> {
        Arc::clone(&self.per_address)
    }

    pub(crate) fn handshakes(&self) -> Arc<TlsHandshakes> {
        Arc::clone(&self.handshakes)
    }

    pub(crate) fn addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        (addresses(&self.clear), addresses(&self.tls))
    }

    pub(crate) fn link_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.links)
    }

    pub(crate) fn kv_addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        (addresses(&self.kv), addresses(&self.kv_tls))
    }

    pub(crate) fn duplicate_all(&self, operator: Option<&TcpListener>) -> io::Result<Vec<OwnedFd>> {
        let tcp =
            self.clear.iter().chain(&self.tls).chain(&self.kv).chain(&self.kv_tls).flatten().chain(operator);
        let tcp = tcp.map(|socket| socket.try_clone().map(OwnedFd::from));
        let udp = self.udp.iter().map(|socket| socket.try_clone().map(OwnedFd::from));
        let links = self.links.iter().flatten().map(|socket| socket.try_clone().map(OwnedFd::from));
        tcp.chain(udp).chain(links).collect()
    }

    /// Must be called in the worker's runtime.
    pub(crate) fn next_worker(&mut self, member: Option<&MeshIdentity>) -> Result<WorkerListeners, Error> {
        let mut servers = Vec::new();
        if let Some(sockets) = self.clear.pop().filter(|sockets| !sockets.is_empty()) {
            servers.push(Server::on(sockets)?);
        }
        let mut quic = None;
        if let (Some(sockets), Some(identity)) = (self.tls.pop(), self.identity.clone()) {
            servers.push(Server::on(sockets)?.with_http3_elsewhere(&identity));
            let is_last = self.tls.is_empty();
            quic = is_last.then(|| QuicSockets {
                sockets: self.udp.drain(..).collect(),
                identity,
                config: self.config,
                per_address: self.per_address(),
                handshakes: self.handshakes(),
            });
        }
        let limited = |server: Server| {
            let server = server.with_config(self.config).with_most_per_address(&self.per_address);
            server.with_handshakes(&self.handshakes)
        };
        let servers = servers.into_iter().map(limited).collect();
        let sockets = self.links.pop().filter(|sockets| !sockets.is_empty());
        let links = match (sockets, member) {
            (Some(sockets), Some(member)) => {
                let config = Config { proxy_protocol: false, ..self.config };
                Some(Server::on(sockets)?.with_members(member).with_config(config))
            }
            _ => None,
        };
        Ok(WorkerListeners { servers, links, kv: self.next_kv_worker()?, quic })
    }

    fn next_kv_worker(&mut self) -> Result<Vec<(Server, Scheme)>, Error> {
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

fn tcp(
    addresses: &[SocketAddr],
    workers: usize,
    inherited: &mut InheritedSockets,
) -> Result<Vec<Vec<TcpListener>>, Error> {
    let found: Vec<_> = addresses.iter().map(|&address| inherited.take_tcp(address)).collect();
    let missing = addresses.iter().zip(&found).filter(|(_, found)| found.is_empty());
    let missing: Vec<_> = missing.map(|(address, _)| *address).collect();
    let mut opened = share(&missing, workers)?.into_iter();
    let mut of_cores: Vec<_> = (0..workers).map(|_| Vec::new()).collect();
    for found in found {
        let sockets = if found.is_empty() { opened.next().unwrap_or_default() } else { found };
        // Each inherited socket must be accepted from. If there are fewer than workers, workers
        // share them.
        for worker in 0..sockets.len().max(workers) {
            let socket = &sockets[worker % sockets.len()];
            of_cores[worker % workers].push(socket.try_clone().map_err(Error::Inherited)?);
        }
    }
    Ok(of_cores)
}

fn udp(addresses: &[SocketAddr], inherited: &mut InheritedSockets) -> Result<Vec<UdpSocket>, Error> {
    let (mut sockets, mut missing) = (Vec::new(), Vec::new());
    for &address in addresses {
        match inherited.take_udp(address).pop() {
            Some(socket) => sockets.push(socket),
            None => missing.push(address),
        }
    }
    sockets.extend(bind_udp(&missing)?);
    Ok(sockets)
}

fn addresses(of_cores: &[Vec<TcpListener>]) -> Vec<SocketAddr> {
    let sockets = of_cores.first().into_iter().flatten();
    let mut addresses: Vec<_> = sockets.filter_map(|socket| socket.local_addr().ok()).collect();
    addresses.dedup();
    addresses
}

/// Longer than any round trip on Earth.
const IDLE_GRACE: Duration = Duration::from_secs(1);

const RESERVED_FILES: usize = 2048;
