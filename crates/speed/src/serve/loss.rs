//! Datagrams of the loss test: sent back to whoever has begun a test over HTTP from the same address, and to nobody else.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::net::UdpSocket;
use tracing::warn;

use super::{config::LossPort, counts::Counts, respond::Responder};
use crate::{
    Error,
    wire::{Datagram, Way},
};

/// Binds a socket for each address that is listened on, all at the same port.
pub(crate) async fn bind(listens: &[SocketAddr], port: LossPort) -> Result<Vec<UdpSocket>, Error> {
    let mut sockets: Vec<UdpSocket> = Vec::new();
    for listen in listens {
        let wanted = match (port, sockets.first()) {
            (_, Some(first)) => first.local_addr().map_or(0, |address| address.port()),
            (LossPort::At(port), None) => port,
            (LossPort::Next, None) => listen.port().checked_add(1).unwrap_or(0),
        };
        let address = SocketAddr::new(listen.ip(), wanted);
        let bound = UdpSocket::bind(address).await;
        sockets.push(bound.map_err(|source| Error::LossPort { address, source })?);
    }
    Ok(sockets)
}

/// The port of these sockets.
pub(crate) fn port(sockets: &[UdpSocket]) -> Option<u16> {
    Some(sockets.first()?.local_addr().ok()?.port())
}

/// Sends back what is to be sent back, for ever.
pub(crate) async fn send_back(socket: UdpSocket, responder: Arc<Responder>) {
    let counts = &responder.counts;
    // One byte more than a datagram has: what is longer is none.
    let mut room = [0; Datagram::BYTES + 1];
    loop {
        let (length, from) = match socket.recv_from(&mut room).await {
            Ok(received) => received,
            // Somebody could not be reached; it is told at the next receive.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
            Err(error) => {
                warn!(%error, "the loss test has no socket any more");
                return;
            }
        };
        let asked = Datagram::decode(&room[..length]).filter(|datagram| datagram.way == Way::There);
        match asked.filter(|datagram| responder.sends_back(datagram.test, from.ip())) {
            Some(datagram) => {
                let back = Datagram { way: Way::Back, ..datagram };
                // Without room in the socket it is lost, as on any other line.
                let _ = socket.try_send_to(&back.encode(), from);
                Counts::add(&counts.datagrams_back, 1);
            }
            None => Counts::add(&counts.datagrams_ignored, 1),
        }
    }
}
