//! Hits on the fast path over a connection: same responses as the slow path, and invalidated with
//! the object.

use std::sync::atomic::Ordering::SeqCst;

use http_cache::{
    Coding,
    purge::{Depth, Purge},
};
use http_stack::{
    Body, Bytes, Client, Method, Request, Response,
    client::{Config, Protocol, Trace},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    Fixture,
    test_listener::{TestListener, fields_of},
    with,
};
use crate::response::encoder::tests::{decoded, text};

impl TestListener {
    pub(super) async fn ask_http2(
        &self,
        client: &Client,
        method: Method,
        path: &str,
    ) -> (Response<Bytes>, bool) {
        let before = self.at_once.load(SeqCst);
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        request.headers_mut().insert("host", "shop.example".parse().unwrap());
        let origin = format!("http://{}", self.address).parse().unwrap();
        let mut trace = Trace::start(client.clock().now());
        let (head, body) = client.send(&origin, request, &mut trace).await.unwrap().into_parts();
        let response = Response::from_parts(head, body.collect(1 << 20).await.unwrap());
        (response, self.at_once.load(SeqCst) > before)
    }
}

#[tokio::test]
async fn fast_hit_equals_the_pipeline() {
    let zone = "[[zone.rule]]\npath = \"/b/*\"\nedge_ttl = \"1h\"\nbrowser_ttl = \"5min\"\n";
    let door = TestListener::new(Fixture::new(zone, async |_, number| {
        let mut response = with("max-age=60", format!("answer {number}"));
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response.headers_mut().insert("cache-status", "origin; hit".parse().unwrap());
        response.headers_mut().append("link", "</a>".parse().unwrap());
        response.headers_mut().append("link", "</b>".parse().unwrap());
        response
    }));
    for path in ["/a", "/b/c?d=e"] {
        for method in ["GET", "HEAD"] {
            if method == "GET" {
                door.get(path, &[]).await;
            }
            let (whole, quick) = door.ask(method, path, &["accept: */*"]).await;
            assert!(!quick && whole.status == "HTTP/1.1 200 OK", "{whole:?}");
            let (said, quick) = door.ask(method, path, &["accept: text/html", "cookie: a=b"]).await;
            assert!(quick, "{method} {path}");
            assert_eq!(said, whole);
        }
    }
    assert_eq!(door.fixture.request_count(), 2);
}

#[tokio::test]
async fn requests_with_always_keyed_fields_miss_the_fast_path() {
    let door = TestListener::new(Fixture::new("", async |request: Request<Body>, _| {
        let seen = |name: &&str| request.headers().get(*name).map(|value| value.to_str().unwrap().to_owned());
        let seen = ["x-forwarded-host", "x-original-url"].iter().find_map(seen);
        with("max-age=60", seen.unwrap_or_default())
    }));
    for (fields, body) in [
        (&[][..], ""),
        (&["x-forwarded-host: evil.test"], "evil.test"),
        (&["X-Original-URL: /admin"], "/admin"),
        (&["x_forwarded_host: evil.test"], ""),
        (&["forwarded: for=192.0.2.1"], ""),
    ] {
        for at_once in [false, false, true] {
            let (said, quick) = door.get("/", fields).await;
            assert_eq!(said.body, body, "{fields:?}");
            assert!(quick || !at_once, "{fields:?}");
        }
    }
    assert_eq!(door.fixture.request_count(), 3);
}

#[tokio::test]
async fn fast_hit_over_http2_equals_http1() {
    let zone = "[[zone.rule]]\npath = \"/b/*\"\nedge_ttl = \"1h\"\nbrowser_ttl = \"5min\"\n";
    let door = TestListener::new(Fixture::new(zone, async |_, number| {
        let mut response = with("max-age=60", format!("answer {number}"));
        response.headers_mut().append("link", "</a>".parse().unwrap());
        response.headers_mut().append("link", "</b>".parse().unwrap());
        response
    }));
    let client = Client::new(&Config { protocol: Protocol::Http2, ..Config::default() }).unwrap();
    for path in ["/a", "/b/c?d=e"] {
        for _ in 0..3 {
            door.get(path, &[]).await;
        }
        for method in [Method::GET, Method::HEAD] {
            let (whole, quick) = door.ask_http2(&client, method.clone(), path).await;
            assert!(!quick && whole.status() == 200, "{whole:?}");
            let (said, quick) = door.ask_http2(&client, method.clone(), path).await;
            assert!(quick, "{method} {path}");
            assert_eq!((fields_of(path, &said), said.body()), (fields_of(path, &whole), whole.body()));
            assert_eq!(said.body().is_empty(), method == Method::HEAD);
        }
        assert!(door.get(path, &[]).await.1);
    }
    assert_eq!(door.fixture.request_count(), 2);
}

#[tokio::test]
async fn large_bodies_arrive_whole_for_slow_readers() {
    let large = |length: usize, number: usize| -> Bytes {
        (0..length).map(|n| u8::try_from(n * (number + 1) % 253).unwrap()).collect()
    };
    let lengths = [20_000, 64 << 10, 100_001, 300_001];
    let door = TestListener::new(Fixture::new("", move |_, number| {
        std::future::ready(with("max-age=60", large(lengths[number], number)))
    }));
    for (number, length) in lengths.into_iter().enumerate() {
        for _ in 0..3 {
            let mut stream = TcpStream::connect(door.address).await.unwrap();
            let request = format!("GET /{number} HTTP/1.1\r\nHost: shop.example\r\n\r\n");
            stream.write_all(request.repeat(4).as_bytes()).await.unwrap();
            let mut bytes = Vec::new();
            for answer in 0..4 {
                let end = loop {
                    if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                        break end + 4;
                    }
                    assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
                };
                let mut body = bytes.split_off(end);
                while body.len() < length {
                    let mut some = [0; 7000];
                    let read = stream.read(&mut some).await.unwrap();
                    assert!(read > 0);
                    body.extend_from_slice(&some[..read]);
                }
                bytes = body.split_off(length);
                assert!(body == large(length, number), "{length} {answer}");
            }
        }
    }
    assert_eq!(door.fixture.request_count(), lengths.len());
}

#[tokio::test]
async fn special_requests_take_the_pipeline() {
    let door = TestListener::new(Fixture::new("requests_decide = true\n", async |_, _| {
        let mut response = with("max-age=60", "0123456789");
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response
    }));
    for _ in 0..3 {
        door.get("/", &[]).await;
    }
    assert!(door.get("/", &[]).await.1);
    for (field, status) in [
        ("Range: bytes=2-3", "206"),
        ("If-None-Match: \"a\"", "304"),
        ("If-Match: \"b\"", "200"),
        ("IF-MODIFIED-SINCE: Mon, 23 Nov 2026 00:00:00 GMT", "200"),
        ("Cache-Control: no-cache", "200"),
        ("Pragma: x", "200"),
        ("Authorization: Basic eA==", "200"),
        ("CDN-Loop: longhaul;network=n;data-centre=lhr", "508"),
    ] {
        let (said, quick) = door.get("/", &[field]).await;
        assert!(!quick && said.status.contains(status), "{field}: {said:?}");
    }
    door.get("/", &[]).await;
    assert!(door.get("/", &[]).await.1);
}

#[tokio::test]
async fn fast_hit_ends_with_its_object() {
    let door =
        TestListener::new(Fixture::new("", async |_, number| with("max-age=60", format!("answer {number}"))));
    let body = async |expected: &str, is_quick: bool| {
        let (said, quick) = door.get("/", &[]).await;
        assert_eq!((said.body.as_str(), quick), (expected, is_quick));
    };
    for depth in [Depth::Soft, Depth::Hard] {
        let answer = format!("answer {}", door.fixture.request_count());
        for quick in [false, false, true, true] {
            body(&answer, quick).await;
        }
        door.fixture.node.purge("z", vec![Purge::Everything], depth);
    }
    for quick in [false, false, true] {
        body("answer 2", quick).await;
    }
    let network = crate::Network::clone(&door.fixture.node.network());
    door.fixture.node.replace_network(network);
    for quick in [false, true] {
        body("answer 2", quick).await;
    }
}

#[tokio::test]
async fn other_variants_are_separate_entries() {
    let door = TestListener::new(Fixture::new("", async |request: Request<Body>, _| {
        let language = request.headers().get("foo").map_or("none", |value| value.to_str().unwrap());
        let mut response = with("max-age=60", language.to_owned());
        response.headers_mut().insert("vary", "foo".parse().unwrap());
        response
    }));
    for round in 0..4 {
        for (field, expected) in [("foo: a", "a"), ("foo: b", "b"), ("bar: a", "none")] {
            let (said, quick) = door.get("/", &[field]).await;
            assert_eq!(said.body, expected);
            assert_eq!(quick, round > 1, "{round} {field}");
        }
    }
    let (said, quick) = door.get("/", &["foo: a", "foo: b"]).await;
    assert!(!quick && said.body != "b", "{said:?}");
}

#[tokio::test]
async fn encoded_objects_are_fast_hits() {
    let plain = text(5000);
    let sent = plain.clone();
    let door = TestListener::new(Fixture::new("compress = [\"br\", \"gzip\"]\n", move |_, _| {
        let sent = sent.clone();
        async move {
            let mut response = with("max-age=60", sent);
            response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
            response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
            response
        }
    }));
    for round in 0..4 {
        for (field, coding) in [
            ("accept-encoding: gzip, br", Some(Coding::Brotli)),
            ("accept-encoding: gzip", Some(Coding::Gzip)),
            ("accept-encoding: identity", None),
            ("accept: */*", None),
        ] {
            let (said, quick) = door.get("/", &[field]).await;
            let is_whole = said.fields.iter().any(|field| field.starts_with("content-length"));
            let body: Vec<_> = said.body.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
            let decoded = coding.map_or(body.clone(), |coding| decoded(coding, &body));
            assert!(if is_whole { decoded == plain } else { round == 0 }, "{round} {field}");
            let named = coding.map(|coding| format!("content-encoding: {}", coding.token()));
            assert_eq!(said.fields.iter().find(|field| field.starts_with("content-enc")), named.as_ref());
            let etag = if coding.is_some() { "etag: W/\"a\"" } else { "etag: \"a\"" };
            assert!(said.fields.contains(etag) && said.fields.contains("vary: accept-encoding"));
            // The first hits may use the coding that the previous request creates.
            assert!(quick || round < 2, "{round} {field}");
        }
    }
    assert_eq!(door.fixture.request_count(), 1);
}
