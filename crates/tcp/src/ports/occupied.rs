//! How many sockets of this network namespace have a port towards a destination.
//!
//! Source: Documentation/networking/proc_net_tcp.rst. The lists have sockets in every state, also those in `TIME_WAIT`.

use std::{fs, net::SocketAddr};

use crate::{
    error::{Doing, Error},
    source_port::Transport,
};

/// Counts them.
pub(super) fn count(transport: Transport, destination: SocketAddr) -> Result<usize, Error> {
    let path = match (transport, destination.is_ipv4()) {
        (Transport::Tcp, true) => "/proc/thread-self/net/tcp",
        (Transport::Tcp, false) => "/proc/thread-self/net/tcp6",
        (Transport::Udp, true) => "/proc/thread-self/net/udp",
        (Transport::Udp, false) => "/proc/thread-self/net/udp6",
    };
    let text = fs::read_to_string(path).doing(|| format!("read {path}"))?;
    Ok(towards(&text, &as_listed(destination)))
}

/// The third column is the other end.
fn towards(text: &str, destination: &str) -> usize {
    text.lines().filter(|line| line.split_whitespace().nth(2) == Some(destination)).count()
}

/// The address as 32-bit words of this machine, and the port.
fn as_listed(address: SocketAddr) -> String {
    let word = |octets: &[u8; 4]| format!("{:08X}", u32::from_ne_bytes(*octets));
    let words = match address {
        SocketAddr::V4(address) => word(&address.ip().octets()),
        SocketAddr::V6(address) => address.ip().octets().as_chunks().0.iter().map(word).collect(),
    };
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;
    use crate::alone::alone;

    #[test]
    fn connections_are_counted_at_the_end_that_opened_them() {
        alone("ports::occupied::tests::connections_are_counted_at_the_end_that_opened_them", || {
            for address in ["127.0.0.1:0", "[::1]:0"] {
                let listener = TcpListener::bind(address).unwrap();
                let destination = listener.local_addr().unwrap();
                assert_eq!(count(Transport::Tcp, destination).unwrap(), 0);
                let _streams = [(); 3].map(|()| TcpStream::connect(destination).unwrap());
                assert_eq!(count(Transport::Tcp, destination).unwrap(), 3);
                assert_eq!(count(Transport::Udp, destination).unwrap(), 0);
            }
        });
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9A-F: \n]{0,80}") {
            towards(&text, "0100007F:1F90");
        }
    }
}
