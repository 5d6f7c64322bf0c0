//! Clients behind trusted proxies: their address and scheme, with and without the fast path.

use http_stack::{Body, Server};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Fixture, with};
use crate::{Network, request::handler::ClientHandler, rules::address_list::AddressList};

async fn exchange(fixture: &Fixture, fields: &str) -> String {
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let address = server.addresses().unwrap()[0];
    let (handler, stop) = (ClientHandler(fixture.node.clone()), fixture.stop.clone());
    tokio::spawn(async move { server.serve(handler, &stop).await });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let text = format!("GET / HTTP/1.1\r\nHost: shop.example\r\n{fields}Connection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn echo() -> Fixture {
    Fixture::new("", async |request: http_stack::Request<Body>, _| {
        let of =
            |name: &str| request.headers().get(name).map_or("-", |value| value.to_str().unwrap()).to_owned();
        with("max-age=60", format!("{} {}", of("x-forwarded-for"), of("x-forwarded-proto")))
    })
}

#[tokio::test]
async fn only_trusted_proxies_name_the_client() {
    let fixture = echo();
    let spoofed = "X-Forwarded-For: 203.0.113.9, 198.51.100.7\r\nX-Forwarded-Proto: https\r\n";
    let answer = exchange(&fixture, spoofed).await;
    assert!(answer.ends_with("203.0.113.9, 198.51.100.7, 127.0.0.1 http"), "{answer}");
    // The plain object is stored. A client of the proxy that uses TLS gets another object.
    let mut network = Network::clone(&fixture.node.network());
    let mut trusted = AddressList::default();
    trusted.push("127.0.0.0/8").unwrap();
    network.trusted_proxies = trusted;
    fixture.node.replace_network(network);
    for _ in 0..3 {
        let answer = exchange(&fixture, spoofed).await;
        assert!(answer.ends_with("198.51.100.7 https"), "{answer}");
    }
    let answer = exchange(&fixture, "").await;
    assert!(answer.ends_with("127.0.0.1 http"), "{answer}");
    assert_eq!(fixture.request_count(), 2);
}
