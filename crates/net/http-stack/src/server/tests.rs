//! Listening, and its error messages.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener as StdListener};

use super::*;

fn refuse(listen: SocketAddr) -> Error {
    Server::listen(&[listen]).err().unwrap()
}

#[test]
fn an_address_in_use_says_so_and_what_to_do() {
    let holder = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = holder.local_addr().unwrap();
    let error = refuse(address);
    assert!(matches!(error, Error::AddressInUse { address: named } if named == address));
    assert!(error.to_string().contains("ss -ltnp"), "{error}");
}

#[test]
fn an_address_of_another_machine_is_refused() {
    // TEST-NET-1, which is not assigned to any machine (RFC 5737).
    let error = refuse("192.0.2.1:0".parse().unwrap());
    assert!(matches!(error, Error::Listen { .. }), "{error}");
}

#[tokio::test(flavor = "current_thread")]
async fn an_ipv6_socket_takes_ipv4_too_unless_another_one_has_the_port() {
    let only_v6 = |addresses: &[SocketAddr]| {
        let listeners = listen(addresses).unwrap();
        let listener = listeners.iter().find(|listener| listener.local_addr().unwrap().is_ipv6()).unwrap();
        socket2::SockRef::from(listener).only_v6().unwrap()
    };
    let all = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    assert!(!only_v6(&[all]));
    let port = listen(&[all]).unwrap()[0].local_addr().unwrap().port();
    let v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    assert!(only_v6(&[v4, SocketAddr::new(all.ip(), port)]));
}
