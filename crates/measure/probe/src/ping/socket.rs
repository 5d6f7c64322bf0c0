//! The sockets of a run: a raw socket per address family, or a datagram socket if only that is
//! permitted.

use std::{
    io::{self, IoSliceMut},
    net::{self, IpAddr, SocketAddr},
    os::fd::AsRawFd,
    time::Duration,
};

use nix::sys::{
    socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt},
    time::TimeSpec,
};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{io::Interest, net::UdpSocket};

use super::{
    Error,
    packet::{Format, Payloads},
};

/// Has the type of a UDP socket, because the calls are the same.
pub(super) struct Echo {
    /// The same socket, for immediate sending: a runtime would first wait for writability.
    sender: net::UdpSocket,
    receiver: UdpSocket,
    format: Format,
    /// On a datagram socket the kernel's identifier, which filters all other replies.
    ident: u16,
}

pub(super) struct Received {
    pub(super) length: usize,
    pub(super) from: IpAddr,
    /// On the wall clock, ns since 1970.
    pub(super) stamp: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Raw,
    Datagram,
}

impl Echo {
    /// Call inside a runtime.
    pub(super) fn open(domain: Domain, ident: u16) -> Result<Self, Error> {
        let is_v4 = domain == Domain::IPV4;
        let (protocol, family) = if is_v4 { (Protocol::ICMPV4, "IPv4") } else { (Protocol::ICMPV6, "IPv6") };
        let opened = Socket::new(domain, Type::RAW, Some(protocol)).map(|socket| (socket, Kind::Raw));
        let opened = opened.or_else(|_| {
            Socket::new(domain, Type::DGRAM, Some(protocol)).map(|socket| (socket, Kind::Datagram))
        });
        let (socket, kind) = opened.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => Error::Forbidden { family },
            _ => Error::System { what: "open a socket for pings", source },
        })?;
        let format = match kind {
            _ if !is_v4 => Format::V6,
            Kind::Raw => Format::V4_RAW,
            Kind::Datagram => Format::V4_DATAGRAM,
        };
        let ready = || -> io::Result<Self> {
            let any = if is_v4 { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
            socket.bind(&SocketAddr::new(any, 0).into())?;
            socket.set_nonblocking(true)?;
            // Without kernel timestamps, the time of the read counts.
            let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
            let sender = net::UdpSocket::from(socket);
            let receiver = UdpSocket::from_std(sender.try_clone()?)?;
            let ident = if kind == Kind::Raw { ident } else { sender.local_addr()?.port() };
            Ok(Self { sender, receiver, format, ident })
        };
        ready().map_err(|source| Error::System { what: "set up a socket for pings", source })
    }

    pub(super) fn write(&self, number: u64, payloads: &Payloads, packet: &mut Vec<u8>) {
        self.format.write(self.ident, number, payloads.of(number), packet);
    }

    pub(super) fn send(&self, packet: &[u8], to: SocketAddr) -> io::Result<()> {
        self.sender.send_to(packet, to).map(drop)
    }

    pub(super) async fn readable(&self) {
        let _ = self.receiver.readable().await;
    }

    pub(super) fn receive(&self, buffer: &mut [u8]) -> Option<Received> {
        let take = || {
            let mut control = nix::cmsg_space!(TimeSpec);
            let mut parts = [IoSliceMut::new(buffer)];
            let (descriptor, flags) = (self.receiver.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
            let message = recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(&mut control), flags)?;
            let from = message.address.as_ref().and_then(address);
            let stamp = message.cmsgs()?.find_map(|part| match part {
                ControlMessageOwned::ScmTimestampns(at) => i64::try_from(Duration::from(at).as_nanos()).ok(),
                _ => None,
            });
            Ok(from.map(|from| Received { length: message.bytes, from, stamp }))
        };
        self.receiver.try_io(Interest::READABLE, take).ok()?
    }

    pub(super) fn read<'b>(&self, packet: &'b [u8]) -> Option<(u16, &'b [u8])> {
        let reply = self.format.read(packet)?;
        (reply.ident == self.ident).then_some((reply.sequence, reply.payload))
    }
}

fn address(peer: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = peer.as_sockaddr_in().map(|peer| IpAddr::from(peer.ip()));
    v4.or_else(|| peer.as_sockaddr_in6().map(|peer| IpAddr::from(peer.ip())))
}
