//! Abusive HTTP/3 clients, frame by frame (RFC 9114, RFC 9204).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Body, Request, Response,
    client::{Limits, Protocol},
    server,
};
use quinn::{ClientConfig, Connection, Endpoint, TransportConfig, VarInt, crypto::rustls::QuicClientConfig};

use crate::{
    early_data::anyone,
    support::{Security, Serving, client, fetch, serve},
};

const CONTROL: [u8; 3] = [0, 4, 0];
/// ":method: GET", ":scheme: https", ":path: /" and ":authority: a" (RFC 9204 appendix A), after a
/// prefix without a dynamic table.
const GET: [u8; 8] = [0, 0, 0xc0 | 17, 0xc0 | 23, 0xc0 | 1, 0x50, 1, b'a'];

pub fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = 0x8000_0000 | u32::try_from(payload.len()).unwrap();
    [&[kind][..], &length.to_be_bytes(), payload].concat()
}

/// Connects with keep-alive and a window of 10 000 bytes per stream.
pub async fn connect(server: &Serving) -> (Endpoint, Connection) {
    let mut transport = TransportConfig::default();
    transport.keep_alive_interval(Some(Duration::from_millis(20)));
    transport.stream_receive_window(VarInt::from_u32(10_000));
    let mut tls = anyone();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let connection = endpoint.connect_with(config, server.address, "localhost").unwrap().await.unwrap();
    let mut control = connection.open_uni().await.unwrap();
    control.write_all(&CONTROL).await.unwrap();
    // Keeps the control stream open for the lifetime of the connection.
    std::mem::forget(control);
    (endpoint, connection)
}

fn brief() -> server::Config {
    server::Config { read_timeout: Duration::from_millis(100), ..server::Config::default() }
}

async fn is_well(server: &Serving) {
    let trace = fetch(&client(Protocol::Http3, Limits::default()), &server.origin, "GET").await;
    assert!(trace.last_byte().is_some());
}

fn counting(config: server::Config) -> (Serving, Arc<AtomicUsize>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let server = serve(Security::Quic, config, move |_: Request<Body>| {
        counted.fetch_add(1, Relaxed);
        async { Ok(Response::new(Body::whole("plain"))) }
    });
    (server, seen)
}

#[tokio::test]
async fn a_header_that_is_small_on_the_wire_alone_reaches_no_handler() {
    let (server, seen) = counting(server::Config::default());
    let (_endpoint, connection) = connect(&server).await;
    // Number 85 of the static table, a Content-Security-Policy of 108 bytes, encoded in two bytes: 3 MB
    // in 60 KB.
    let bomb = [&GET[..], &[0xff, 85 - 63].repeat(30_000)].concat();
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(&frame(1, &bomb)).await.unwrap();
    to.finish().unwrap();
    let _ = from.read_to_end(10_000).await;
    assert_eq!(seen.load(Relaxed), 0);
    is_well(&server).await;
    assert_eq!(seen.load(Relaxed), 1);
}

#[tokio::test]
async fn no_table_of_fields_grows() {
    let (server, seen) = counting(server::Config::default());
    let (_endpoint, connection) = connect(&server).await;
    let mut encoder = connection.open_uni().await.unwrap();
    let insert = [&[0x40 | 1, b'x', 0x7f, 0x81, 0x06][..], &[b'y'; 896]].concat();
    encoder.write_all(&[&[2, 0x3f, 0xe1, 0x1f][..], &insert.repeat(4)].concat()).await.unwrap();
    // The first entry of the dynamic table, which the server did not enable: the request is rejected.
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    let sent = to.write_all(&frame(1, &[&[2, 0][..], &GET[2..], &[0x80]].concat())).await;
    let _ = sent.is_ok().then(|| to.finish());
    let _ = from.read_to_end(10_000).await;
    assert_eq!(seen.load(Relaxed), 0);
    is_well(&server).await;
}

#[tokio::test]
async fn who_keeps_a_connection_alive_and_does_nothing_else_loses_it() {
    let (server, seen) = counting(brief());
    let (_endpoint, connection) = connect(&server).await;
    connection.closed().await;
    assert_eq!(seen.load(Relaxed), 0);
}

#[tokio::test]
async fn who_takes_nothing_of_what_it_asked_for_loses_the_stream() {
    let server = serve(Security::Quic, brief(), async |_: Request<Body>| {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move { while sender.send(vec![0; 1 << 20]).await.is_ok() {} });
        Ok(Response::new(body))
    });
    let (_endpoint, connection) = connect(&server).await;
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(&frame(1, &GET)).await.unwrap();
    to.finish().unwrap();
    assert!(from.received_reset().await.unwrap().is_some());
}
