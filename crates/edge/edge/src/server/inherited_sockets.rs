//! Inherited listening sockets: from a replaced process, or from the parent process.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    os::fd::OwnedFd,
};

use rustix::net::{SocketType, sockopt};

/// Inherited sockets, identified only by type and address.
#[derive(Debug, Default)]
pub struct InheritedSockets {
    tcp: Vec<(SocketAddr, TcpListener)>,
    udp: Vec<(SocketAddr, UdpSocket)>,
}

impl InheritedSockets {
    /// Collects listening TCP sockets and UDP sockets from these descriptors. All others are
    /// closed.
    ///
    /// # Errors
    ///
    /// If the address of a socket cannot be read.
    pub fn from_descriptors(descriptors: impl IntoIterator<Item = OwnedFd>) -> io::Result<Self> {
        let mut sockets = Self::default();
        for descriptor in descriptors {
            match sockopt::socket_type(&descriptor) {
                Ok(SocketType::STREAM) if sockopt::socket_acceptconn(&descriptor).unwrap_or(false) => {
                    let socket = TcpListener::from(descriptor);
                    socket.set_nonblocking(true)?;
                    sockets.tcp.push((socket.local_addr()?, socket));
                }
                Ok(SocketType::DGRAM) => {
                    let socket = UdpSocket::from(descriptor);
                    socket.set_nonblocking(true)?;
                    sockets.udp.push((socket.local_addr()?, socket));
                }
                _ => {}
            }
        }
        Ok(sockets)
    }

    pub(crate) fn take_tcp(&mut self, address: SocketAddr) -> Vec<TcpListener> {
        take(&mut self.tcp, address)
    }

    pub(crate) fn take_udp(&mut self, address: SocketAddr) -> Vec<UdpSocket> {
        take(&mut self.udp, address)
    }
}

fn take<S>(sockets: &mut Vec<(SocketAddr, S)>, wanted: SocketAddr) -> Vec<S> {
    let fits = |at: &SocketAddr| at.ip() == wanted.ip() && [0, at.port()].contains(&wanted.port());
    let Some(found) = sockets.iter().map(|(at, _)| *at).find(fits) else { return Vec::new() };
    sockets.extract_if(.., |(at, _)| *at == found).map(|(_, socket)| socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").unwrap()
    }

    #[test]
    fn socket_is_taken_once_by_type_and_address() {
        let (first, second, udp) = (listening(), listening(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let [at_first, at_second] = [&first, &second].map(|socket| socket.local_addr().unwrap());
        let at_udp = udp.local_addr().unwrap();
        let copy = first.try_clone().unwrap();
        let mut sockets = InheritedSockets::from_descriptors([
            first.into(),
            udp.into(),
            second.into(),
            OwnedFd::from(copy),
        ])
        .unwrap();
        assert_eq!(sockets.take_tcp("127.0.0.2:0".parse().unwrap()).len(), 0);
        assert_eq!(sockets.take_tcp(at_first).len(), 2);
        assert_eq!(sockets.take_tcp(at_first).len(), 0);
        let any = sockets.take_tcp("127.0.0.1:0".parse().unwrap());
        assert_eq!(any.iter().map(|any| any.local_addr().unwrap()).collect::<Vec<_>>(), [at_second]);
        assert_eq!(sockets.take_udp(at_udp).len(), 1);
    }

    #[test]
    fn sockets_that_do_not_listen_are_ignored() {
        let listener = listening();
        let visitor = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        let sockets = InheritedSockets::from_descriptors([visitor.into(), file.into()]).unwrap();
        assert!(sockets.tcp.is_empty() && sockets.udp.is_empty());
    }
}
