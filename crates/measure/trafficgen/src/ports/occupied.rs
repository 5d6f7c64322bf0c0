//! Counts the sockets of this network namespace that have a port towards a destination.
//!
//! Source: Documentation/networking/proc_net_tcp.rst. The lists contain sockets in every state,
//! including `TIME_WAIT`.

use std::{collections::BTreeMap, fs, net::SocketAddr};

use tcp::{
    Doing, Error,
    source_port::{Range, Transport},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub all: usize,
    pub waiting: usize,
}

pub(super) fn count(transport: Transport, destination: SocketAddr) -> Result<usize, Error> {
    Ok(towards(&list(transport, destination)?, &as_listed(destination)))
}

pub(super) fn taken(transport: Transport, destination: SocketAddr, range: &Range) -> Result<Taken, Error> {
    Ok(within(&list(transport, destination)?, &as_listed(destination), range))
}

fn list(transport: Transport, destination: SocketAddr) -> Result<String, Error> {
    let path = match (transport, destination.is_ipv4()) {
        (Transport::Tcp, true) => "/proc/thread-self/net/tcp",
        (Transport::Tcp, false) => "/proc/thread-self/net/tcp6",
        (Transport::Udp, true) => "/proc/thread-self/net/udp",
        (Transport::Udp, false) => "/proc/thread-self/net/udp6",
    };
    fs::read_to_string(path).doing(|| format!("read {path}"))
}

/// Columns 2 to 4 are local address, remote address and state. A port shared by several sockets
/// counts once.
fn within(text: &str, destination: &str, range: &Range) -> Taken {
    let mut ports = BTreeMap::new();
    for line in text.lines() {
        let mut columns = line.split_whitespace().skip(1);
        let (Some(local), Some(remote), Some(state)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let port = local.rsplit(':').next().and_then(|port| u16::from_str_radix(port, 16).ok());
        if let Some(port) =
            port.filter(|port| remote == destination && (range.low()..=range.high()).contains(port))
        {
            *ports.entry(port).or_insert(true) &= state == TIME_WAIT;
        }
    }
    Taken { all: ports.len(), waiting: ports.values().filter(|is_waiting| **is_waiting).count() }
}

fn towards(text: &str, destination: &str) -> usize {
    text.lines().filter(|line| line.split_whitespace().nth(2) == Some(destination)).count()
}

/// As 32-bit words in host byte order, and the port.
fn as_listed(address: SocketAddr) -> String {
    let word = |octets: &[u8; 4]| format!("{:08X}", u32::from_ne_bytes(*octets));
    let words = match address {
        SocketAddr::V4(address) => word(&address.ip().octets()),
        SocketAddr::V6(address) => address.ip().octets().as_chunks().0.iter().map(word).collect(),
    };
    format!("{words}:{:04X}", address.port())
}

/// `enum` in `include/net/tcp_states.h`.
const TIME_WAIT: &str = "06";

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

    #[test]
    fn ports_of_the_range_are_counted_once_and_those_that_wait_among_them() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                    0: 0100007F:9C40 0100007F:1F90 01 0:0\n\
                    1: 0100007F:9C41 0100007F:1F90 06 0:0\n\
                    2: 0200007F:9C41 0100007F:1F90 06 0:0\n\
                    3: 0100007F:9C42 0100007F:1F91 01 0:0\n\
                    4: 0100007F:9C80 0100007F:1F90 06 0:0\n\
                    5: 0100007F:1F90 00000000:0000 0A 0:0\n";
        let range = Range::new(40000, 40010).unwrap();
        assert_eq!(within(text, "0100007F:1F90", &range), Taken { all: 2, waiting: 1 });
        assert_eq!(within(text, "0100007F:1F92", &range), Taken { all: 0, waiting: 0 });
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9A-F: \n]{0,80}") {
            towards(&text, "0100007F:1F90");
            within(&text, "0100007F:1F90", &Range::new(1, 65535).unwrap());
        }
    }
}
