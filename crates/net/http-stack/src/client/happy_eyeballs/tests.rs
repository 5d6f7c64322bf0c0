//! Happy Eyeballs against real local sockets.

use std::net::{Ipv4Addr, Ipv6Addr};

use socket2::{Domain, Socket, Type};
use tokio::net::TcpStream;

use super::*;

async fn race(addresses: &[SocketAddr]) -> Result<Winner<TcpStream>, Failure> {
    let connect =
        |remote| async move { TcpStream::connect(remote).await.map_err(|error| Failure::from_io(&error)) };
    first_to_answer(Addresses { known: addresses.to_vec(), later: None }, connect).await
}

/// The socket is bound, which reserves the port, but not listening.
fn refusing(address: impl Into<SocketAddr>) -> (Socket, SocketAddr) {
    let address = address.into();
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    socket.bind(&address.into()).unwrap();
    let bound = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, bound)
}

#[tokio::test(flavor = "current_thread")]
async fn the_next_address_is_tried_when_one_fails() {
    let (_held, refuses) = refusing((Ipv6Addr::LOCALHOST, 0));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let listens = listener.local_addr().unwrap();
    let winner = race(&[refuses, listens]).await.unwrap();
    assert_eq!(winner.connection.peer_addr().unwrap(), listens);
    assert_eq!((winner.remote, winner.fallback), (listens, true));
    let winner = race(&[listens, refuses]).await.unwrap();
    assert_eq!((winner.remote, winner.fallback), (listens, false));
    let winner = race(&[listens]).await.unwrap();
    assert_eq!((winner.remote, winner.fallback), (listens, false));
}

#[tokio::test(flavor = "current_thread")]
async fn an_address_that_is_silent_is_overtaken() {
    // The kernel drops further SYNs, as a lossy path would.
    let silent = Socket::new(Domain::IPV6, Type::STREAM, None).unwrap();
    silent.bind(&SocketAddr::from((Ipv6Addr::LOCALHOST, 0)).into()).unwrap();
    silent.listen(0).unwrap();
    let deaf = silent.local_addr().unwrap().as_socket().unwrap();
    let _first = TcpStream::connect(deaf).await.unwrap();
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let listens = listener.local_addr().unwrap();
    let winner = race(&[deaf, listens]).await.unwrap();
    assert_eq!((winner.remote, winner.fallback), (listens, true));
}

#[tokio::test(flavor = "current_thread")]
async fn if_all_fail_the_first_failure_counts() {
    let (_a, v6) = refusing((Ipv6Addr::LOCALHOST, 0));
    let (_b, v4) = refusing((Ipv4Addr::LOCALHOST, 0));
    assert_eq!(race(&[v6, v4]).await.err(), Some(Failure::Refused));
    assert_eq!(race(&[]).await.err(), Some(Failure::NoAddress(Family::Any)));
}
