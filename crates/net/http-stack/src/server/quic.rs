//! The UDP sockets of a server, and incoming QUIC connections.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
};

use quinn::{
    Connecting, Endpoint, EndpointConfig, IdleTimeout, Incoming, ServerConfig, TokioRuntime, TransportConfig,
    VarInt, crypto::rustls::QuicServerConfig,
};
use rustls::ProtocolVersion;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::{Semaphore, watch};
use tracing::debug;

use super::{certificate::EarlyData, config::Config, context::Context, handler::Handler, listen};
use crate::Error;

/// Binds UDP sockets for QUIC to all `addresses`, such as those of TCP listeners. They are not read yet.
///
/// # Errors
/// A port is in use.
pub fn bind_udp(addresses: &[SocketAddr]) -> Result<Vec<UdpSocket>, Error> {
    let open = |&address: &SocketAddr| {
        let only_v6 = listen::is_taken_by_v4(addresses, address.port());
        open(address, only_v6).map_err(|source| listen::refused(address, source))
    };
    addresses.iter().map(open).collect()
}

fn open(address: SocketAddr, only_v6: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

pub(super) fn endpoints(sockets: Vec<UdpSocket>) -> Result<Vec<Endpoint>, Error> {
    let endpoint = |socket| Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime));
    let endpoints = sockets.into_iter().map(endpoint).collect::<Result<_, _>>();
    endpoints.map_err(|source| Error::System { what: "register a QUIC socket", source })
}

pub(super) fn config(tls: &Arc<QuicServerConfig>, config: &Config) -> ServerConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(config.streams))
        .max_concurrent_uni_streams(VarInt::from_u32(16))
        .max_idle_timeout(IdleTimeout::try_from(config.read_timeout).ok());
    let mut server = ServerConfig::with_crypto(Arc::clone(tls) as _);
    server.transport_config(Arc::new(transport));
    server
}

pub(super) struct Permits {
    pub(super) all: Arc<Semaphore>,
    pub(super) room: usize,
}

/// Without a free permit, new connections get no response. When half of the permits, or half of the
/// limit of its address, are in use, a client must validate its address (Retry).
pub(super) async fn accept<H: Handler>(
    endpoint: Endpoint,
    early: EarlyData,
    context: Arc<Context<H>>,
    permits: Permits,
    cut: watch::Receiver<()>,
) {
    loop {
        let Ok(permit) = Arc::clone(&permits.all).acquire_owned().await else { return };
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            () = context.stop.asked() => break,
        };
        let Some(incoming) = incoming else { return };
        let client = incoming.remote_address();
        let is_busy =
            permits.all.available_permits() < permits.room / 2 || context.per_address.is_half_full(client);
        if is_busy && incoming.may_retry() && !incoming.remote_address_validated() {
            let _ = incoming.retry();
            continue;
        }
        // A client that migrates to another address keeps its original count.
        let Some(counted) = context.admit(client) else {
            incoming.refuse();
            continue;
        };
        debug!(%client, "a QUIC connection was accepted");
        let (context, mut cut) = (Arc::clone(&context), cut.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve(&context, incoming, early) => {}
                _ = cut.changed() => {}
            }
            drop((counted, permit));
        });
    }
    // A client whose connection is refused can try TCP immediately.
    while let Some(incoming) = endpoint.accept().await {
        incoming.refuse();
    }
}

async fn serve<H: Handler>(context: &Arc<Context<H>>, incoming: Incoming, early: EarlyData) {
    let client = incoming.remote_address();
    if early == EarlyData::Refused {
        let opening = async { incoming.await.map_err(io::Error::from) };
        let connection = context.opened(opening, client).await;
        context.handshakes.add(connection.as_ref().map(|_| ProtocolVersion::TLSv1_3));
        if let Some(connection) = connection {
            context.serve_http3(connection, None).await;
        }
        return;
    }
    match incoming.accept().map(Connecting::into_0rtt) {
        Ok(Ok((connection, handshake))) => context.serve_http3(connection, Some(handshake)).await,
        Ok(Err(_)) => {}
        Err(error) => debug!(%client, %error, "a connection failed before its first request"),
    }
}
