//! An HTTP server: listens, accepts connections, passes requests to a handler, and shuts down gracefully.
//!
//! HTTP/1.1 and HTTP/2 share a port: over TLS, ALPN selects the version, in cleartext the HTTP/2 preface does.
//! HTTP/3 uses the UDP port of the same number, which responses over TCP announce in Alt-Svc.
//!
//! ```no_run
//! # async fn example() -> Result<(), http_stack::Error> {
//! let server = http_stack::Server::listen(&["127.0.0.1:8080".parse().expect("an address")])?;
//! let stop = http_stack::ShutdownSignal::new();
//! server.serve(async |request: http_stack::Request<http_stack::Body>| Ok(http_stack::Response::new(request.into_body())), &stop).await;
//! # Ok(())
//! # }
//! ```

mod authority;
mod body_handoff;
mod cert_warning;
mod certificate;
mod config;
mod connection;
mod connection_limit;
mod context;
mod delivery;
mod delivery_tracking;
mod expect_continue;
mod fast_path;
mod handler;
mod http1;
mod http2;
mod http3;
mod interim;
mod listen;
mod methods;
mod mtls_rejections;
mod peer;
mod proxy_protocol;
mod quic;
mod reason_phrase;
mod relay;
mod response_head;
mod tls_handshakes;
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
    authority::{Authority, Issued},
    cert_warning::CertWarning,
    certificate::{
        CertificateRequest, ClientAuth, Identity, SelfSigned, ServerCertificate, TlsSettings, TlsVersion,
        challenge_certificate,
    },
    config::Config,
    connection_limit::PerIpLimit,
    delivery::Delivery,
    fast_path::RequestView,
    handler::Handler,
    interim::Interim,
    listen::{listen, share},
    peer::Peer,
    proxy_protocol::read_proxy_header,
    quic::bind_udp,
    reason_phrase::ReasonPhrase,
    relay::{Lines, Original, Relayed, Relaying},
    tls_handshakes::{HandshakeCounts, TlsHandshakes},
};
use self::{certificate::EarlyData, context::Context, mtls_rejections::MtlsRejections};
use crate::{Error, MeshIdentity, ShutdownSignal, sys};

/// Listening sockets, and the configuration of their connections.
pub struct Server {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    members: Option<MtlsRejections>,
    http3: Option<Http3>,
    announces_http3: bool,
    per_address: Arc<PerIpLimit>,
    handshakes: Arc<TlsHandshakes>,
    config: Config,
}

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
    /// All requests in flight were completed.
    Complete,
    /// Some requests were aborted: they took longer than [`Config::stop_grace`], or
    /// [`ShutdownSignal`](crate::Stop) was requested twice.
    Cut,
}

impl Server {
    /// Listens on all `addresses`; port 0 selects a free port. Must be called in a tokio runtime
    /// with I/O and time enabled.
    ///
    /// # Errors
    /// An address is unavailable.
    pub fn listen(addresses: &[SocketAddr]) -> Result<Self, Error> {
        Self::on(listen(addresses)?)
    }

    /// Serves non-blocking sockets that are already listening, such as those of several servers that
    /// [`share`] a port. Must be called in a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// The runtime cannot register the sockets.
    pub fn on(listeners: Vec<net::TcpListener>) -> Result<Self, Error> {
        let listeners = listeners.into_iter().map(TcpListener::from_std).collect::<Result<_, _>>();
        let listeners = listeners.map_err(|source| Error::System { what: "register a listener", source })?;
        Ok(Self {
            listeners,
            tls: None,
            members: None,
            http3: None,
            announces_http3: false,
            per_address: PerIpLimit::at_most(usize::MAX),
            handshakes: Arc::default(),
            config: Config::default(),
        })
    }

    /// Serves only HTTP/3, on sockets of [`bind_udp`], which are read from now on. Must be called in a
    /// tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// The runtime cannot register the sockets.
    pub fn over_quic(sockets: Vec<UdpSocket>, identity: &Identity) -> Result<Self, Error> {
        let http3 = Some(Http3::on(sockets, identity)?);
        Ok(Self { http3, announces_http3: true, ..Self::on(Vec::new())? })
    }

    /// Serves TLS on all sockets. Without this, the server uses cleartext.
    #[must_use]
    pub fn with_tls(self, identity: &Identity) -> Self {
        Self { tls: Some(TlsAcceptor::from(identity.config())), ..self }
    }

    /// Also serves HTTP/3, on the UDP ports with the same numbers, and TLS on all sockets.
    ///
    /// # Errors
    /// One of these ports is in use.
    pub fn with_http3(self, identity: &Identity) -> Result<Self, Error> {
        let http3 = Some(Http3::on(bind_udp(&self.addresses()?)?, identity)?);
        Ok(Self { http3, announces_http3: true, ..self.with_tls(identity) })
    }

    /// Serves TLS on all sockets, and announces HTTP/3 on the UDP ports with the same numbers, which
    /// another server uses.
    #[must_use]
    pub fn with_http3_elsewhere(self, identity: &Identity) -> Self {
        Self { announces_http3: true, ..self.with_tls(identity) }
    }

    /// Serves only members of a closed group, with HTTP/2 over TLS on all sockets. Each request has a
    /// [`PeerIdentity`](crate::Caller) extension.
    #[must_use]
    pub fn with_members(self, own: &MeshIdentity) -> Self {
        Self { tls: Some(TlsAcceptor::from(own.server())), members: Some(MtlsRejections::new()), ..self }
    }

    /// Replaces the default configuration.
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// Limits the connections per client address, shared by all servers with the same `per_address`.
    /// Without this, there is no limit.
    #[must_use]
    pub fn with_most_per_address(self, per_address: &Arc<PerIpLimit>) -> Self {
        Self { per_address: Arc::clone(per_address), ..self }
    }

    /// Counts the TLS handshakes of this server in `handshakes`, which several servers may share.
    #[must_use]
    pub fn with_handshakes(self, handshakes: &Arc<TlsHandshakes>) -> Self {
        Self { handshakes: Arc::clone(handshakes), ..self }
    }

    /// Returns the listening addresses, in the order in which they were given, with the ports that
    /// replaced 0.
    ///
    /// # Errors
    /// The kernel does not report an address.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let addresses = self.listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>();
        addresses.map_err(|source| Error::System { what: "get the local address of a socket", source })
    }

    /// Serves until the stop signal. Then the server accepts no more connections, notifies its
    /// clients, and completes the requests in flight, for at most [`Config::stop_grace`] or until a
    /// second stop signal.
    ///
    /// Raises the process's limit of open files as far as permitted.
    pub async fn serve<H: Handler>(self, handler: H, stop: &ShutdownSignal) -> End {
        // Each connection needs one or two files; a few more are for listeners, timers and standard
        // streams.
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
            handshakes: self.handshakes,
            config: self.config,
            stop: stop.clone(),
        });
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
        info!("stopping: waiting for requests in flight");
        let end = tokio::select! {
            _ = permits.acquire_many(u32::try_from(room).unwrap_or(u32::MAX)) => End::Complete,
            () = tokio::time::sleep(self.config.stop_grace) => End::Cut,
            () = stop.insisted() => End::Cut,
        };
        drop(alive);
        info!(?end, "the server has stopped");
        end
    }
}

/// Without a free permit, new connections wait in the accept queue.
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
                // Behind a load balancer the client's address is not known yet.
                let counted = (!context.config.proxy_protocol).then(|| context.admit(address));
                if let Some(None) = counted {
                    connection_limit::reset(&stream);
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
            // The connection was already closed, or a resource is exhausted; other connections may
            // release it.
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

const RESERVED_FILES: usize = 64;

/// Hardly noticeable, and long enough to avoid a busy loop while file descriptors are exhausted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
