//! The UDP socket of one QUIC connection.
//!
//! The socket is connected, so the kernel reports ICMP errors for its datagrams: without them quinn
//! would wait until the handshake times out.

use std::{
    fmt,
    io::{self, IoSliceMut},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use quinn::{
    AsyncUdpSocket, UdpPoller,
    udp::{RecvMeta, Transmit, UdpSocketState},
};
use socket2::{Domain, Protocol, Socket as Raw, Type};
use tokio::{io::Interest, net::UdpSocket};

use super::super::io::Recorder;
use crate::Failure;

#[derive(Debug)]
pub(super) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    recorder: Arc<Recorder>,
}

impl Socket {
    pub(super) fn to(remote: SocketAddr, recorder: Arc<Recorder>) -> io::Result<Self> {
        let any = match remote {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = Raw::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&any.into())?;
        socket.connect(&remote.into())?;
        socket.set_nonblocking(true)?;
        let state = UdpSocketState::new((&socket).into())?;
        let io = UdpSocket::from_std(socket.into())?;
        Ok(Self { io, state, recorder })
    }

    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.io.local_addr().ok()
    }

    pub(super) async fn refused(&self) -> Failure {
        let told = || self.io.take_error()?.map_or_else(|| Err(io::ErrorKind::WouldBlock.into()), Ok);
        Failure::from_io(&self.io.async_io(Interest::ERROR, told).await.unwrap_or_else(|error| error))
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let at = self.recorder.now();
        self.io.try_io(Interest::WRITABLE, || self.state.send((&self.io).into(), transmit))?;
        self.recorder.wire().sent(transmit.contents.len(), at);
        self.recorder.flushed(at);
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let received =
                self.io.try_io(Interest::READABLE, || self.state.recv((&self.io).into(), buffers, meta));
            match received {
                Ok(datagrams) => {
                    let bytes = meta[..datagrams].iter().map(|datagram| datagram.len).sum();
                    self.recorder.wire().received(bytes);
                    self.recorder.read();
                    return Poll::Ready(Ok(datagrams));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // ICMP messages can be forged, so they only end a handshake, not an established
                // connection.
                Err(error) if is_told(error.kind()) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

fn is_told(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::ConnectionRefused | Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::PermissionDenied
    )
}

struct Writable(Arc<Socket>);

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writable")
    }
}

impl UdpPoller for Writable {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.io.poll_send_ready(cx)
    }
}
