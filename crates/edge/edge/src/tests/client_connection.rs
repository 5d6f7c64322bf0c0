//! Interim responses, trailers and protocol upgrades on client connections.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use http_stack::{
    Body, Bytes, Client, Failure, HeaderMap, Method, Request, Response, Server, StatusCode,
    body::{Frame, Frames},
    client::{Config, OnInterim, Protocol, Trace, Trust},
    server::{Identity, Interim},
    tunnel::Downstream,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Fixture, with};
use crate::request::handler::ClientHandler;

async fn said(fixture: &Fixture, sent: &str) -> String {
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let address = server.addresses().unwrap()[0];
    let (visitors, stop) = (ClientHandler(fixture.node.clone()), fixture.stop.clone());
    tokio::spawn(async move { server.serve(visitors, &stop).await });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

fn hinting() -> Fixture {
    Fixture::new("", async |request: Request<Body>, _| {
        let interim: &Interim = request.extensions().get().unwrap();
        let hints =
            HeaderMap::from_iter([("link".parse().unwrap(), "</a.css>; rel=preload".parse().unwrap())]);
        interim.send(StatusCode::EARLY_HINTS, hints);
        tokio::task::yield_now().await;
        with("max-age=60", "whole")
    })
}

#[tokio::test]
async fn interim_responses_reach_visitors_in_each_version() {
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
        let fixture = hinting();
        let identity = Identity::make(&["127.0.0.1".to_owned()]).unwrap().identity;
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = server.addresses().unwrap()[0];
        let server = server.with_http3(&identity).unwrap();
        let (visitors, stop) = (ClientHandler(fixture.node.clone()), fixture.stop.clone());
        tokio::spawn(async move { server.serve(visitors, &stop).await });
        let origin = format!("https://{address}").parse().unwrap();
        let client = Config { protocol, trust: Trust::Anyone, ..Config::default() };
        let client = Client::new(&client).unwrap();
        for expected in [1, 0] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let noted = Arc::clone(&seen);
            let mut request = Request::new(Body::empty());
            *request.uri_mut() = "/a".parse().unwrap();
            request.headers_mut().insert("host", "shop.example".parse().unwrap());
            request.extensions_mut().insert(OnInterim::new(move |status, fields| {
                noted.lock().unwrap().push((status, fields.clone()));
            }));
            let mut trace = Trace::start(client.clock().now());
            let response = client.send(&origin, request, &mut trace).await.unwrap();
            assert_eq!(response.into_body().collect(100).await.unwrap(), "whole");
            let seen = seen.lock().unwrap();
            assert_eq!(seen.len(), expected, "{protocol:?}: {seen:?}");
            for (status, fields) in &*seen {
                assert_eq!(*status, StatusCode::EARLY_HINTS);
                assert!(fields["link"] == "</a.css>; rel=preload" && !fields.contains_key("lh-hop-count"));
            }
        }
    }
}

#[tokio::test]
async fn interim_responses_reach_only_the_requester() {
    let fixture = hinting();
    let ask = "GET /a HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";
    let text = said(&fixture, ask).await;
    let (interim, rest) = text.split_once("\r\n\r\n").unwrap();
    assert!(interim.starts_with("HTTP/1.1 103 ") && interim.contains("link: </a.css>"), "{text}");
    assert!(!text.contains("lh-hop-count"), "{text}");
    assert!(rest.starts_with("HTTP/1.1 200 OK\r\n") && rest.ends_with("whole"), "{text}");
    // Interim responses belong to the exchange with the origin, and a hit has no such exchange.
    let text = said(&fixture, ask).await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
}

#[tokio::test]
async fn websocket_is_tunnelled() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        let headers = request.headers();
        assert!(headers["upgrade"] == "websocket" && headers["sec-websocket-key"] == "k");
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        for (name, value) in
            [("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-accept", "a")]
        {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response.extensions_mut().insert(Downstream::then(async |mut stream| {
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await.unwrap();
            stream.write_all(&[&bytes[..], b" pong"].concat()).await.unwrap();
        }));
        response
    });
    let ask = "GET /chat HTTP/1.1\r\nHost: shop.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
               Sec-WebSocket-Key: k\r\n\r\nping";
    let text = said(&fixture, ask).await;
    let (head, rest) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{text}");
    for field in ["upgrade: websocket", "connection: upgrade", "sec-websocket-accept: a"] {
        assert!(head.lines().any(|line| line == field), "{field}: {text}");
    }
    assert_eq!(rest, "ping pong");
}

#[tokio::test]
async fn origin_may_decline_the_upgrade() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        // An upgrade to another HTTP version would bypass the rules.
        let upgrade = request.headers().get("upgrade").map_or("none", |value| value.to_str().unwrap());
        with("no-store", upgrade.to_owned())
    });
    for (protocol, expected) in [("websocket", "websocket"), ("h2c", "none"), ("x, h2c", "none")] {
        let ask = format!(
            "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: upgrade\r\nUpgrade: {protocol}\r\n\r\n\
             GET / HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n"
        );
        let text = said(&fixture, &ask).await;
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n")
                && text.contains(&format!("\r\n\r\n{expected}HTTP/1.1 421")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn head_request_is_never_upgraded() {
    let fixture = Fixture::new("", async |request: Request<Body>, _| {
        assert!(!request.headers().contains_key("upgrade") && request.method() == Method::HEAD);
        with("no-store", "whole")
    });
    let ask = "HEAD / HTTP/1.1\r\nHost: shop.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\
               GET / HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n";
    let text = said(&fixture, ask).await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("\r\n\r\nHTTP/1.1 421"), "{text}");
}

struct Several(VecDeque<Frame<Bytes>>);

impl Frames for Several {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

#[tokio::test]
async fn trailers_reach_clients_that_accept_them() {
    let fixture = Fixture::new("", async |_, _| {
        let fields = HeaderMap::from_iter([
            ("x-sum".parse().unwrap(), "1".parse().unwrap()),
            ("lh-hop-count".parse().unwrap(), "1".parse().unwrap()),
        ]);
        let frames = [Frame::data(Bytes::from_static(b"data")), Frame::trailers(fields)];
        let mut response = with("no-store", "");
        *response.body_mut() = Body::stream(Several(frames.into()));
        response
    });
    let ask = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close, TE\r\nTE: trailers\r\n\r\n";
    let text = said(&fixture, ask).await;
    assert!(text.ends_with("4\r\ndata\r\n0\r\nx-sum: 1\r\n\r\n"), "{text}");
    let text = said(&fixture, &ask.replace("TE: trailers", "x: y")).await;
    assert!(text.ends_with("\r\n\r\ndata") && text.contains("content-length: 4\r\n"), "{text}");
}
