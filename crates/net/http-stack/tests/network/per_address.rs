//! The connection limit per address: connections above it are reset, others are served.

use std::{io, sync::Arc};

use http_stack::{
    Body, Failure, Request, Response, Server, ShutdownSignal,
    client::{Limits, Protocol},
    server::{self, Config, Identity, PerIpLimit},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{client, get};

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

async fn who(request: Request<Body>) -> Result<Response<Body>, Failure> {
    let peer = request.extensions().get::<server::Peer>().unwrap();
    Ok(Response::new(Body::whole(peer.address.ip().to_string())))
}

async fn answered(address: std::net::SocketAddr, front: &[u8]) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(&[front, ASK].concat()).await?;
    let mut bytes = [0; 12];
    stream.read_exact(&mut bytes).await?;
    assert_eq!(&bytes, b"HTTP/1.1 200");
    Ok(stream)
}

async fn until(all: &PerIpLimit, open: u64) {
    while all.open() != open {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn servers_count_together_and_what_is_too_many_is_reset() {
    let all = PerIpLimit::at_most(3);
    let stop = ShutdownSignal::new();
    let server = || {
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_most_per_address(&all);
        let (address, stop) = (server.addresses().unwrap()[0], stop.clone());
        tokio::spawn(async move { server.serve(who, &stop).await });
        address
    };
    let (one, other) = (server(), server());
    let first = answered(one, b"").await.unwrap();
    let rest = [answered(one, b"").await.unwrap(), answered(other, b"").await.unwrap()];
    for address in [one, other] {
        let refused = answered(address, b"").await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionReset, "{refused}");
    }
    assert_eq!((all.open(), all.refused()), (3, 2));
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut stranger = socket.connect(one).await.unwrap();
    stranger.write_all(ASK).await.unwrap();
    assert_eq!(stranger.read_u8().await.unwrap(), b'H');
    drop((first, stranger));
    until(&all, 2).await;
    answered(other, b"").await.unwrap();
    drop(rest);
}

#[tokio::test(flavor = "current_thread")]
async fn behind_a_load_balancer_visitors_count_and_not_their_balancer() {
    let all = PerIpLimit::at_most(1);
    let config = Config { proxy_protocol: true, ..Config::default() };
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_config(config);
    let server = server.with_most_per_address(&all);
    let address = server.addresses().unwrap()[0];
    tokio::spawn(async move { server.serve(who, &ShutdownSignal::new()).await });
    let from = |last: u8| {
        [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02", &[last][..], b"\x0a\0\0\x01\x12\x34\0\x50"].concat()
    };
    let visitors = [answered(address, &from(7)).await.unwrap(), answered(address, &from(8)).await.unwrap()];
    answered(address, &from(7)).await.unwrap_err();
    assert_eq!((all.open(), all.refused()), (2, 1));
    drop(visitors);
    until(&all, 0).await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_quic_connection_counts_and_one_too_many_is_refused() {
    let all = PerIpLimit::at_most(2);
    let identity = Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity;
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap().with_http3(&identity).unwrap();
    let server = server.with_most_per_address(&all);
    let origin = format!("https://{}", server.addresses().unwrap()[0]).parse().unwrap();
    tokio::spawn(async move { server.serve(who, &ShutdownSignal::new()).await });
    let clients = [(); 3].map(|()| client(Protocol::Http3, Limits::default()));
    let ask = async |number: usize| {
        let response = get(&clients[number], &origin).await.1?;
        response.into_body().collect(100).await
    };
    assert_eq!((ask(0).await.unwrap(), ask(1).await.unwrap()), ("127.0.0.1".into(), "127.0.0.1".into()));
    let refused = ask(2).await.unwrap_err();
    assert_eq!((all.open(), all.refused()), (2, 1), "{refused}");
    ask(0).await.unwrap();
    all.allow(3);
    ask(2).await.unwrap();
    assert_eq!(Arc::clone(&all).open(), 3);
}
