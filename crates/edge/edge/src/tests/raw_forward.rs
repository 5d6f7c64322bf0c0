//! Requests on the relay path over a connection: origin and client receive the same as on the slow
//! path.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, HeaderMap, Request, Response, StatusCode};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use super::{
    Fixture,
    test_listener::{Said, TestListener},
    with,
};

impl TestListener {
    async fn pass(&self, path: &str, fields: &[&str]) -> (Said, bool) {
        let before = self.relayed.load(SeqCst);
        let (said, _) = self.get(path, fields).await;
        (said, self.relayed.load(SeqCst) > before)
    }

    /// The slow path finds that the response is not stored, which makes the path relayable.
    async fn learn(&self, path: &str) {
        for _ in 0..2 {
            assert!(!self.pass(path, &[]).await.1);
        }
    }
}

fn echo(request: &Request<Body>) -> Response<Body> {
    let lines: BTreeSet<_> =
        request.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    let target = request.uri().path_and_query().unwrap();
    let mut response = with("no-store", format!("{} {target} {lines:#?}", request.method()));
    let fields = [
        ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("via", "1.0 inner"),
        ("via", "1.1 outer"),
        ("cache-status", "shield; hit"),
        ("cache-tag", "a, b"),
        ("lh-cache-key", "secret"),
        ("X-Longhaul-Score", "7"),
        ("set-cookie", "a=b; Path=/"),
        ("set-cookie", "c=d"),
        ("x-empty", ""),
        ("server", "origin"),
        ("x-\u{66}oo", "bar"),
        ("proxy-connection", "keep-alive"),
    ];
    for (name, value) in fields {
        let name: http_stack::HeaderName = name.to_ascii_lowercase().parse().unwrap();
        response.headers_mut().append(name, value.parse().unwrap());
    }
    response
}

#[tokio::test]
async fn raw_forward_equals_the_pipeline() {
    let door = TestListener::new(Fixture::new("", async |request, _| echo(&request)));
    let requests: [&[&str]; 7] = [
        &[],
        &["Accept: */*", "Cookie: a=b", "Accept-Encoding: gzip, br", "User-Agent: x"],
        &["Via: 1.0 a", "via: 1.1 b", "X-Forwarded-For: 192.0.2.9", "Forwarded: for=192.0.2.9"],
        &["X-Forwarded-Proto: https", "x-forwarded-proto: http", "Keep-Alive: x", "Proxy-Connection: x"],
        &["LH-Cache-Key: a", "x-longhaul-score: b", "lh-other: stays", "x-longhaul-other: stays"],
        &["Authorization: Basic eA==", "If-None-Match: \"a\"", "Range: bytes=0-1", "Proxy-Authorization: x"],
        &["Connection: keep-alive", "x-empty:", "x-spaces:   a b  ", "x-\u{66}oo: \u{e9}"],
    ];
    for (number, fields) in requests.into_iter().enumerate() {
        let path = format!("/{number}?a=b");
        let (_, relayed) = door.pass(&path, fields).await;
        let (whole, again) = door.pass(&path, fields).await;
        assert!(!relayed && !again, "{fields:?}");
        let (said, relayed) = door.pass(&path, fields).await;
        assert!(relayed, "{fields:?}");
        assert_eq!(said, whole);
        assert_eq!(said.status, "HTTP/1.1 200 OK");
        let told = "cache-status: shield; hit, lhr; fwd=uri-miss; fwd-status=200";
        assert!(said.fields.contains(told), "{said:?}");
        assert!(said.body.contains("longhaul;network=n;data-centre=lhr"), "{said:?}");
        assert!(!format!("{said:?}").contains("secret"), "{said:?}");
    }
    assert_eq!(door.fixture.request_count(), 3 * requests.len());
}

#[tokio::test]
async fn special_requests_take_the_pipeline() {
    let door = TestListener::new(Fixture::new("", async |request, _| echo(&request)));
    door.learn("/").await;
    for field in [
        "TE: trailers",
        "Cache-Control: no-cache",
        "Pragma: x",
        "CDN-Loop: other",
        "If-Range: Sun, 06 Nov 1994 08:49:37 GMT",
        "X_Forwarded_For: 192.0.2.9",
        "Connection: cookie",
        "Content-Length: 0",
        "Expect: 100-continue",
    ] {
        assert!(!door.pass("/", &[field]).await.1, "{field}");
    }
    let before = door.relayed.load(SeqCst);
    door.ask("HEAD", "/", &[]).await;
    assert_eq!(door.relayed.load(SeqCst), before);
    assert!(door.pass("/", &[]).await.1);
}

#[tokio::test]
async fn no_cache_response_is_inspected() {
    let door = TestListener::new(Fixture::new("", async |_, number| {
        let (status, control, body) = match number {
            0..3 => (StatusCode::OK, "no-store", "none"),
            3 => (StatusCode::OK, "max-age=0, stale-if-error=600", "old"),
            4 => (StatusCode::NOT_FOUND, "no-store", "gone"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "no-store", "failed"),
        };
        let mut response = with(control, body);
        *response.status_mut() = status;
        response
    }));
    door.learn("/").await;
    assert!(door.pass("/", &[]).await.1);
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.body == "old");
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(!relayed && said.body == "gone", "{said:?}");
    assert_eq!(door.pass("/", &[]).await.0.body, "failed");
}

#[tokio::test]
async fn superseded_response_is_not_stored() {
    let (slow, is_waiting) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (release, waiting) = (Arc::clone(&slow), Arc::clone(&is_waiting));
    let door = TestListener::new(Fixture::new("", move |_, number| {
        let (release, waiting) = (Arc::clone(&release), Arc::clone(&waiting));
        async move {
            match number {
                0..2 => with("no-store", "none"),
                2 => {
                    waiting.notify_one();
                    release.notified().await;
                    with("max-age=60", "old")
                }
                _ => with("no-store", "new"),
            }
        }
    }));
    door.learn("/").await;
    let answered = async {
        is_waiting.notified().await;
        let (said, relayed) = door.pass("/", &[]).await;
        assert!(relayed && said.body == "new", "{said:?}");
        slow.notify_one();
    };
    let (old, ()) = tokio::join!(door.get("/", &[]), answered);
    assert_eq!(old.0.body, "old");
    assert_eq!(door.pass("/", &[]).await.0.body, "new");
}

#[tokio::test]
async fn cacheable_response_ends_raw_forwarding() {
    let door = TestListener::new(Fixture::new("", async |_, number| match number {
        0..4 => with("no-store", "none"),
        _ => with("max-age=60", format!("answer {number}")),
    }));
    door.learn("/").await;
    for _ in 0..2 {
        let (said, relayed) = door.pass("/", &[]).await;
        assert!(relayed && said.body == "none");
    }
    let (said, relayed) = door.pass("/", &[]).await;
    let told = "cache-status: lhr; fwd=uri-miss; fwd-status=200; stored";
    assert!(relayed && said.body == "answer 4" && said.fields.contains(told), "{said:?}");
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(!relayed && said.body == "answer 4", "{said:?}");
    door.fixture.node.purge("z", vec![Purge::Everything], Depth::Hard);
    assert_eq!(door.pass("/", &[]).await.0.body, "answer 5");
}

#[tokio::test]
async fn possibly_cacheable_response_takes_the_pipeline() {
    // A hit-for-miss entry records that an expired lifetime prevents storing. Its header fields
    // alone do not.
    let door = TestListener::new(Fixture::new("", async |_, _| with("max-age=0", "it")));
    door.learn("/").await;
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.fields.contains("cache-status: lhr; fwd=uri-miss; fwd-status=200"), "{said:?}");
    for _ in 0..3 {
        assert!(!door.pass("/", &[]).await.1);
    }
}

#[tokio::test]
async fn another_status_is_inspected_once() {
    let zone = "[[zone.rule]]\nstatus = [404]\nedge_ttl = \"1h\"\n";
    let door = TestListener::new(Fixture::new(zone, async |_, number| {
        let mut response = with("no-store", "it");
        *response.status_mut() = [200, 200, 200, 503, 503, 503, 404, 200][number].try_into().unwrap();
        response
    }));
    door.learn("/").await;
    for status in ["200", "503", "503", "503"] {
        let (said, relayed) = door.pass("/", &[]).await;
        assert!(relayed && said.status.contains(status), "{said:?}");
    }
    assert!(door.pass("/", &[]).await.0.status.contains("404"));
    assert!(door.pass("/", &[]).await.0.status.contains("404"));
    assert_eq!(door.fixture.request_count(), 7);
}

#[tokio::test]
async fn bypass_rule_forwards_raw_regardless_of_headers() {
    let zone =
        "compress = [\"gzip\"]\n[[zone.rule]]\npath = \"/own/*\"\ncookie = { user = \"*\" }\nbypass = true\n";
    let door = TestListener::new(Fixture::new(zone, async |request, _| {
        let mut response = echo(&request);
        response.headers_mut().insert("cache-control", "max-age=60".parse().unwrap());
        response.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        response
    }));
    let (whole, relayed) = door.pass("/own/a", &["cookie: user=1"]).await;
    assert!(!relayed && whole.fields.iter().any(|field| field.ends_with("lhr; fwd=bypass; fwd-status=200")));
    assert_eq!(door.pass("/own/a", &["cookie: user=1"]).await, (whole, true));
    assert!(!door.pass("/own/a", &["cookie: other=1"]).await.1);
    assert!(!door.pass("/own/a", &["cookie: other=1"]).await.1);
    assert_eq!(door.fixture.request_count(), 4);
    let network = crate::Network::clone(&door.fixture.node.network());
    door.fixture.node.replace_network(network);
    assert!(!door.pass("/own/a", &["cookie: user=1"]).await.1);
}

#[tokio::test]
async fn encodable_text_takes_the_pipeline() {
    let door = TestListener::new(Fixture::new("compress = [\"gzip\"]\n", async |_, _| {
        let mut response = with("no-store", "text ".repeat(1000));
        response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
        response
    }));
    door.learn("/").await;
    for relayed in [true, false, false] {
        let (said, was) = door.pass("/", &["accept-encoding: gzip"]).await;
        assert_eq!(was, relayed);
        assert!(said.fields.contains("content-encoding: gzip"), "{said:?}");
    }
}

#[tokio::test]
async fn bodies_stream_and_trailers_are_dropped() {
    let large = "0123456789".repeat(30_000);
    let sent = large.clone();
    let door = TestListener::new(Fixture::new("", move |request: Request<Body>, _| {
        let (sender, body) = Body::channel(1);
        let (sent, is_broken) = (sent.clone(), request.uri().path() == "/broken");
        tokio::spawn(async move {
            for piece in sent.as_bytes().chunks(70_000) {
                sender.send(piece.to_vec()).await.unwrap();
            }
            if !is_broken {
                let trailers =
                    HeaderMap::from_iter([("lh-cache-key".parse().unwrap(), "x".parse().unwrap())]);
                sender.finish_with(trailers).await.unwrap();
            }
        });
        let mut response = with("no-store", "");
        *response.body_mut() = body;
        std::future::ready(response)
    }));
    door.learn("/").await;
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.fields.contains("transfer-encoding: chunked"), "{:?}", said.fields);
    let digits: String = said.body.split("\r\n").skip(1).step_by(2).collect();
    assert!(digits == large && !said.body.contains("lh-"), "{}", digits.len());
    for relayed in [false, false, true] {
        let before = door.relayed.load(SeqCst);
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        stream.write_all(b"GET /broken HTTP/1.1\r\nHost: shop.example\r\n\r\n").await.unwrap();
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        assert!(said.len() > large.len() && !said.ends_with(b"0\r\n\r\n"));
        assert_eq!(door.relayed.load(SeqCst) > before, relayed);
    }
}

async fn scripted(answers: &'static [&'static [&'static str]]) -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    tokio::spawn(async move {
        for connection in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in *connection {
                let mut bytes = Vec::new();
                while !bytes.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                counter.fetch_add(1, SeqCst);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    (address, asked)
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok";

async fn before(origins: &[&'static [&'static [&'static str]]]) -> (TestListener, Vec<Arc<AtomicUsize>>) {
    let (mut addresses, mut asked) = (Vec::new(), Vec::new());
    for answers in origins {
        let (address, counter) = scripted(answers).await;
        addresses.push(format!("http://{address}").parse().unwrap());
        asked.push(counter);
    }
    let fixture = Fixture::new("", async |_, _| with("no-store", "unused"));
    let mut network = crate::Network::clone(&fixture.node.network());
    network.zones[0].origins = addresses;
    network.zones[0].first_byte = Duration::from_secs(5);
    fixture.node.replace_network(network);
    (TestListener::new(fixture), asked)
}

#[tokio::test]
async fn closed_idle_connection_is_retried() {
    const SCRIPT: &[&[&str]] = &[&[ANSWER, ANSWER], &[ANSWER]];
    let (door, asked) = before(&[SCRIPT]).await;
    door.learn("/").await;
    let (said, _) = door.pass("/", &[]).await;
    assert_eq!((said.status.as_str(), said.body.as_str()), ("HTTP/1.1 200 OK", "ok"));
    assert_eq!(asked[0].load(SeqCst), 3);
}

#[tokio::test]
async fn unparsable_response_is_an_error_or_fails_over() {
    const GARBLED: &[&[&str]] = &[&[ANSWER, ANSWER, "no HTTP at all\r\n\r\n"]];
    let (door, _) = before(&[GARBLED]).await;
    door.learn("/").await;
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.status.contains("502"), "{said:?}");
    let (door, asked) = before(&[GARBLED, &[&[ANSWER]]]).await;
    door.learn("/").await;
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.body == "ok", "{said:?}");
    assert_eq!([asked[0].load(SeqCst), asked[1].load(SeqCst)], [3, 1]);
}

#[tokio::test]
async fn interim_responses_and_aborts_pass_through() {
    const SCRIPT: &[&[&str]] = &[&[
        ANSWER,
        ANSWER,
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLH-Cache-Key: x\r\n\r\nHTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\n\r\nto the end",
    ]];
    let (door, _) = before(&[SCRIPT]).await;
    door.learn("/").await;
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    while said.windows(4).filter(|end| end == b"\r\n\r\n").count() < 2 {
        assert!(stream.read_buf(&mut said).await.unwrap() > 0);
    }
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"), "{said}");
    assert!(said.contains("content-length: 0\r\n") && said.contains("date: "), "{said}");
    assert_eq!(door.relayed.load(SeqCst), 1);
    let (said, relayed) = door.pass("/", &[]).await;
    assert!(relayed && said.body.contains("to the end"), "{said:?}");
}
