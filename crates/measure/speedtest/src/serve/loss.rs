//! The loss test: echoes datagrams to clients that started a test over HTTP from the same address.

use std::{
    future::pending,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

use tokio::{net::UdpSocket, time::sleep_until};
use tracing::warn;

use super::{config::LossPort, counts::Counts, handler::Responder, webrtc::Webrtc};
use crate::{
    Error,
    wire::{Datagram, Way},
};

pub(crate) async fn bind(listens: &[SocketAddr], port: LossPort) -> Result<Vec<UdpSocket>, Error> {
    let mut sockets: Vec<UdpSocket> = Vec::new();
    for ip in addresses(listens) {
        let wanted = match (port, sockets.first()) {
            (_, Some(first)) => first.local_addr().map_or(0, |address| address.port()),
            (LossPort::At(port), None) => port,
            (LossPort::Next, None) => free(listens),
        };
        let address = SocketAddr::new(ip, wanted);
        let bound = UdpSocket::bind(address).await;
        sockets.push(bound.map_err(|source| Error::LossPort { address, source })?);
    }
    Ok(sockets)
}

/// An unspecified address covers the others; that of IPv6 also covers IPv4.
fn addresses(listens: &[SocketAddr]) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = Vec::new();
    let is_covered = |ip: IpAddr| {
        let others =
            listens.iter().map(SocketAddr::ip).filter(|other| *other != ip && other.is_unspecified());
        others.into_iter().any(|other| other.is_ipv6() || ip.is_ipv4())
    };
    for ip in listens.iter().map(SocketAddr::ip).filter(|ip| !is_covered(*ip)) {
        if !all.contains(&ip) {
            all.push(ip);
        }
    }
    all
}

/// The first following port that is no listening port: HTTP/3 uses the UDP ports of those numbers.
fn free(listens: &[SocketAddr]) -> u16 {
    let mut port = listens.first().map_or(0, |listen| next(listen.port()));
    while port != 0 && listens.iter().any(|listen| listen.port() == port) {
        port = next(port);
    }
    port
}

/// 0 after 65535.
fn next(listen: u16) -> u16 {
    match listen.checked_add(1) {
        Some(next) if !is_for_browsers(next) => next + FURTHER,
        Some(next) => next,
        None => 0,
    }
}

/// Below 1024 browsers send only to 80 and 443.
pub(crate) fn is_for_browsers(port: u16) -> bool {
    port >= 1024 || port == 80 || port == 443
}

const FURTHER: u16 = 10_000;

pub(crate) fn port(sockets: &[UdpSocket]) -> Option<u16> {
    Some(sockets.first()?.local_addr().ok()?.port())
}

pub(crate) async fn send_back(socket: UdpSocket, webrtc: Arc<Webrtc>, responder: Arc<Responder>) {
    let mut room = [0; LONGEST];
    let mut next: Option<Instant> = None;
    loop {
        let due = async {
            match next {
                Some(at) => sleep_until(at.into()).await,
                None => pending().await,
            }
        };
        let received = tokio::select! {
            received = socket.recv_from(&mut room) => received.map(Some),
            () = due => Ok(None),
            () = webrtc.begun.notified() => Ok(None),
        };
        let goes_on = match received {
            Ok(Some((length, from))) => take(&socket, &webrtc, &responder, &room[..length], from),
            Ok(None) => true,
            // ICMP port unreachable for an earlier datagram.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => false,
            Err(error) => {
                warn!(%error, "the socket of the loss test failed");
                return;
            }
        };
        if goes_on {
            next = advance(&socket, &webrtc, &responder);
        }
    }
}

/// Returns whether a browser's connection must be advanced.
fn take(socket: &UdpSocket, webrtc: &Webrtc, responder: &Responder, bytes: &[u8], from: SocketAddr) -> bool {
    let counts = &responder.counts;
    let asked = Datagram::decode(bytes).filter(|datagram| datagram.way == Way::There);
    let Some(datagram) = asked.filter(|datagram| responder.sends_back(datagram.test, from.ip())) else {
        // No confusion with WebRTC: the first byte of STUN and DTLS is below 64 (RFC 7983).
        let is_for_one = webrtc.take(instant(), from, bytes);
        if !is_for_one {
            Counts::add(&counts.datagrams_ignored, 1);
        }
        return is_for_one;
    };
    let back = Datagram { way: Way::Back, ..datagram };
    // If the send buffer is full, the datagram is lost, as in a router.
    let _ = socket.try_send_to(&back.encode(), from);
    Counts::add(&counts.datagrams_back, 1);
    false
}

fn advance(socket: &UdpSocket, webrtc: &Webrtc, responder: &Responder) -> Option<Instant> {
    let may = |test, from| {
        let may = responder.sends_back(test, from);
        let counts = &responder.counts;
        Counts::add(if may { &counts.datagrams_back } else { &counts.datagrams_ignored }, 1);
        may
    };
    let (sending, next) = webrtc.advance(instant(), may);
    for (to, bytes) in sending {
        let _ = socket.try_send_to(&bytes, to);
    }
    next
}

pub(crate) fn instant() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Exceeds an Ethernet packet; longer datagrams are truncated and ignored.
const LONGEST: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_one_that_browsers_send_to() {
        for (listen, expected) in
            [(8090, 8091), (443, 10_444), (80, 10_081), (442, 443), (1023, 1024), (65_535, 0)]
        {
            assert_eq!(next(listen), expected, "{listen}");
        }
    }

    #[test]
    fn an_address_with_several_ports_has_one_socket() {
        for (listens, expected_port, expected) in [
            (&["127.0.0.1:8090", "127.0.0.1:8091"][..], 8092, &["127.0.0.1"][..]),
            (&["127.0.0.1:8090", "[::1]:8090"], 8091, &["127.0.0.1", "::1"]),
            (&["0.0.0.0:80", "127.0.0.1:8090"], 10_081, &["0.0.0.0"]),
            (&["0.0.0.0:8090", "[::1]:8090"], 8091, &["0.0.0.0", "::1"]),
            (&["[::]:8090", "0.0.0.0:8090", "[::1]:9000"], 8091, &["::"]),
        ] {
            let listens: Vec<SocketAddr> = listens.iter().map(|listen| listen.parse().unwrap()).collect();
            let expected: Vec<IpAddr> = expected.iter().map(|ip| ip.parse().unwrap()).collect();
            assert_eq!((free(&listens), addresses(&listens)), (expected_port, expected), "{listens:?}");
        }
    }
}
