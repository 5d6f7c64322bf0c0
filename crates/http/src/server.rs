//! A server: listens, accepts connections, hands their requests to a handler, and ends in order.
//!
//! HTTP/1.1 and HTTP/2 on the same port, told apart by ALPN under TLS and by the preface in clear text; HTTP/3 on the UDP port of
//! the same number, announced to the others by Alt-Svc.
//!
//! ```no_run
//! # async fn example() -> Result<(), http::Error> {
//! let server = http::Server::listen(&["127.0.0.1:8080".parse().expect("an address")])?;
//! let stop = http::Stop::new();
//! server.serve(async |request: http::Request<http::Body>| Ok(http::Response::new(request.into_body())), &stop).await;
//! # Ok(())
//! # }
//! ```

mod at_once;
mod authority;
mod certificate;
mod config;
mod connection;
mod context;
mod delivery;
mod handler;
mod handover;
mod head;
mod http1;
mod http2;
mod http3;
mod interim;
mod listen;
mod methods;
mod objection;
mod peer;
mod per_address;
mod proxied;
mod quic;
mod reason;
mod refused;
mod relay;
mod upload;
mod watched;
mod wire;

use std::{
    net::{self, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use quinn::{Endpoint, crypto::rustls::QuicServerConfig};

use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, info, warn};

pub use self::{
    at_once::Glance,
    authority::{Authority, Issued},
    certificate::{Identity, SelfSigned},
    config::Config,
    delivery::Delivery,
    handler::Handler,
    interim::Interim,
    listen::{listen, share},
    objection::Objection,
    peer::Peer,
    per_address::PerAddress,
    proxied::read_proxy_header,
    quic::bind_udp,
    reason::Reason,
    relay::{Lines, Original, Relayed, Relaying},
};
use self::{certificate::EarlyData, context::Context, refused::Refused};
use crate::{Error, Membership, Stop, sys};

/// Sockets that listen, and how their connections are served.
pub struct Server {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    /// There if only members are served.
    members: Option<Refused>,
    http3: Option<Http3>,
    /// Whether HTTP/3 is announced: it is spoken here, or by another server of this process.
    announces_http3: bool,
    per_address: Arc<PerAddress>,
    config: Config,
}

/// What HTTP/3 takes besides.
struct Http3 {
    endpoints: Vec<Endpoint>,
    tls: Arc<QuicServerConfig>,
    early: EarlyData,
}

impl Http3 {
    fn on(sockets: Vec<UdpSocket>, identity: &Identity) -> Result<Self, Error> {
        let endpoints = quic::endpoints(sockets)?;
        Ok(Self { endpoints, tls: identity.quic(), early: identity.early() })
    }
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All requests in flight were finished.
    Complete,
    /// Some were cut off: they took longer than [`Config::stop_grace`], or somebody insisted.
    Cut,
}

impl Server {
    /// Listens on all `addresses`, port 0 being any free one. As everywhere on Linux, :: is for IPv4 too, unless 0.0.0.0
    /// has that port as well. To be called in a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub fn listen(addresses: &[SocketAddr]) -> Result<Self, Error> {
        Self::on(listen(addresses)?)
    }

    /// Serves sockets that listen already and do not block, such as those that several servers [`share`]. To be called in a tokio
    /// runtime with I/O and time.
    ///
    /// # Errors
    /// When the runtime cannot wait for them.
    pub fn on(listeners: Vec<net::TcpListener>) -> Result<Self, Error> {
        let listeners = listeners.into_iter().map(TcpListener::from_std).collect::<Result<_, _>>();
        let listeners = listeners.map_err(|source| Error::System { what: "wait for connections", source })?;
        Ok(Self {
            listeners,
            tls: None,
            members: None,
            http3: None,
            announces_http3: false,
            per_address: PerAddress::at_most(usize::MAX),
            config: Config::default(),
        })
    }

    /// Speaks nothing but HTTP/3, on sockets of [`bind_udp`], which are read from now on. To be called in a tokio runtime with I/O and
    /// time.
    ///
    /// # Errors
    /// When the runtime cannot wait for them.
    pub fn over_quic(sockets: Vec<UdpSocket>, identity: &Identity) -> Result<Self, Error> {
        let http3 = Some(Http3::on(sockets, identity)?);
        Ok(Self { http3, announces_http3: true, ..Self::on(Vec::new())? })
    }

    /// Speaks TLS on all sockets. Without it, clear text.
    #[must_use]
    pub fn with_tls(self, identity: &Identity) -> Self {
        Self { tls: Some(TlsAcceptor::from(identity.config())), ..self }
    }

    /// Speaks HTTP/3 as well, on the UDP ports of the same numbers, and TLS on all sockets.
    ///
    /// # Errors
    /// When one of these ports is not free.
    pub fn with_http3(self, identity: &Identity) -> Result<Self, Error> {
        let http3 = Some(Http3::on(bind_udp(&self.addresses()?)?, identity)?);
        Ok(Self { http3, announces_http3: true, ..self.with_tls(identity) })
    }

    /// Speaks TLS on all sockets, and tells of HTTP/3 on the UDP ports of the same numbers, which another server has.
    #[must_use]
    pub fn with_http3_elsewhere(self, identity: &Identity) -> Self {
        Self { announces_http3: true, ..self.with_tls(identity) }
    }

    /// Speaks HTTP/2 over TLS on all sockets, and with nobody but members of a closed circle. A [`Caller`](crate::Caller) is among the
    /// extensions of each request.
    #[must_use]
    pub fn with_members(self, own: &Membership) -> Self {
        Self { tls: Some(TlsAcceptor::from(own.server())), members: Some(Refused::new()), ..self }
    }

    /// With other limits than the default's.
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// Refuses connections of addresses that have as many as this allows; all servers that it is given to count together. Without it
    /// nobody is refused.
    #[must_use]
    pub fn with_most_per_address(self, per_address: &Arc<PerAddress>) -> Self {
        Self { per_address: Arc::clone(per_address), ..self }
    }

    /// Where it listens, in the order in which it was told to, with the ports that were free where it was told 0.
    ///
    /// # Errors
    /// The default if the kernel does not tell.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let addresses = self.listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>();
        addresses.map_err(|source| Error::System { what: "tell a socket's own address", source })
    }

    /// Serves until asked to stop. Then it accepts nothing more, tells its clients so, and finishes the requests in flight:
    /// for [`Config::stop_grace`] at most, or until asked once more. What is left then, and everything if this future is
    /// dropped, is cut off.
    ///
    /// Connections are tasks of the runtime that this is called in. Raises this process's limit of open files as far as
    /// it may.
    pub async fn serve<H: Handler>(self, handler: H, stop: &Stop) -> End {
        // Each connection is one file, or two; a few are for listeners, timers and standard streams.
        let files = if self.config.needs_socket() { 2 } else { 1 };
        let room = self.config.connections.min(sys::open_files().saturating_sub(RESERVED_FILES) / files);
        let room = room.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let permits = Arc::new(Semaphore::new(room));
        let context = Arc::new(Context {
            handler: Arc::new(handler),
            tls: self.tls,
            members: self.members,
            has_http3: self.announces_http3,
            per_address: self.per_address,
            config: self.config,
            stop: stop.clone(),
        });
        // Connections end when the other end is dropped.
        let (alive, cut) = watch::channel(());
        let mut accepting = JoinSet::new();
        for listener in self.listeners {
            accepting.spawn(accept(listener, Arc::clone(&context), Arc::clone(&permits), cut.clone()));
        }
        if let Some(Http3 { endpoints, tls, early }) = self.http3 {
            for endpoint in endpoints {
                endpoint.set_server_config(Some(quic::config(&tls, &self.config)));
                let permits = quic::Permits { all: Arc::clone(&permits), room };
                accepting.spawn(quic::accept(endpoint, early, Arc::clone(&context), permits, cut.clone()));
            }
        }
        stop.asked().await;
        info!("asked to stop: requests in flight are finished");
        let end = tokio::select! {
            _ = permits.acquire_many(u32::try_from(room).unwrap_or(u32::MAX)) => End::Complete,
            () = tokio::time::sleep(self.config.stop_grace) => End::Cut,
            () = stop.insisted() => End::Cut,
        };
        drop(alive);
        info!(?end, "the server ended");
        end
    }
}

/// Accepts connections until asked to stop. With all permits taken, new ones wait in the kernel's queue.
async fn accept<H: Handler>(
    listener: TcpListener,
    context: Arc<Context<H>>,
    permits: Arc<Semaphore>,
    cut: watch::Receiver<()>,
) {
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = context.stop.asked() => return,
        };
        match accepted {
            Ok((stream, address)) => {
                // Behind a load balancer, nobody knows yet whose it is.
                let counted = (!context.config.proxy_protocol).then(|| context.admit(address));
                if let Some(None) = counted {
                    per_address::reset(&stream);
                    continue;
                }
                debug!(client = %address, "a connection was accepted");
                let (context, mut cut) = (Arc::clone(&context), cut.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = context.serve(stream, address) => {}
                        _ = cut.changed() => {}
                    }
                    drop((counted, permit));
                });
            }
            // The connection is gone already, or the machine is short of something: other connections may
            // give it back.
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Open files that are not connections: listeners, timers, standard streams.
const RESERVED_FILES: usize = 64;

/// Short compared with a person's patience, long compared with a loop that would only find out again that there is no file
/// descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
