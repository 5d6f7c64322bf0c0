//! A path to the origin on which connections are accepted and end before a complete response
//! header.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_stack::{Body, Method, Request};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{detours::nowhere, request, test_network::World, with};
use crate::admin::api::RouteReason::{self, *};

#[derive(Debug, Clone, Copy)]
enum End {
    Reset,
    Close,
    ResetAfterRequest,
    Bytes(&'static str),
}

struct Path {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl Path {
    async fn new(end: End) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let path = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let asked = Arc::clone(&path.asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(meet(stream, end, Arc::clone(&asked)));
            }
        });
        path
    }
}

async fn meet(mut stream: TcpStream, end: End, asked: Arc<AtomicUsize>) {
    let reads = matches!(end, End::ResetAfterRequest | End::Bytes(_));
    if reads && !matches!(stream.read(&mut [0; 4096]).await, Ok(1..)) {
        return;
    }
    asked.fetch_add(1, SeqCst);
    match end {
        End::Reset | End::ResetAfterRequest => stream.set_zero_linger().unwrap(),
        End::Close => {}
        End::Bytes(bytes) => {
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.shutdown().await;
            let _ = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut [0; 4096])).await;
        }
    }
}

async fn world(scheme: &str, end: End) -> (World, Path) {
    let path = Path::new(end).await;
    let zones = [(); 3].map(|()| ("detour_statuses = [511]\n".to_owned(), None));
    let world = World::with(zones, async |request: Request<Body>, _| {
        with("no-store", request.into_body().collect(100).await.unwrap())
    });
    let node = &world.centres[0].worker.node;
    let mut network = crate::Network::clone(&node.network());
    network.zones[0].origins = vec![format!("{scheme}://{}", path.address).parse().unwrap()];
    node.update_peers(&network).unwrap();
    node.replace_network(network);
    (world, path)
}

fn post() -> Request<Body> {
    let mut post = request(Method::POST, "/", &[("content-length", "5")]);
    *post.body_mut() = Body::whole("12345");
    post
}

impl World {
    fn failed(&self) -> Vec<(String, RouteReason)> {
        let network = self.centres[0].worker.network();
        let routes = self.others(0).report_routes(&network);
        routes.into_iter().map(|route| (route.route, route.reason)).collect()
    }
}

const MIDDLEBOX: &str = "HTTP/1.1 511 Network Authentication Required\r\ncontent-length: 5\r\n\r\nlogin";

#[tokio::test]
async fn failed_path_is_avoided() {
    for (scheme, end, reason) in [
        ("http", End::Reset, ConnectionTerminated),
        ("http", End::Close, ConnectionTerminated),
        ("http", End::ResetAfterRequest, ConnectionTerminated),
        ("http", End::Bytes(""), ConnectionTerminated),
        ("http", End::Bytes("HTTP/1.1 200 OK\r\ncontent-le"), ConnectionTerminated),
        ("http", End::Bytes("220 mail.example ESMTP\r\n"), HttpProtocolError),
        ("http", End::Bytes("HTTP/1.1 200 OK\r\nno field\r\n\r\n"), HttpProtocolError),
        ("http", End::Bytes(MIDDLEBOX), HttpResponseStatus),
        ("https", End::Reset, ConnectionTerminated),
        ("https", End::Bytes(""), ConnectionTerminated),
        // A fatal alert, handshake_failure, in clear text.
        ("https", End::Bytes("\x15\x03\x03\x00\x02\x02\x28"), TlsProtocolError),
        ("https", End::Bytes("220 mail.example ESMTP\r\n"), TlsProtocolError),
    ] {
        let (world, path) = world(scheme, end).await;
        for number in 0..24 {
            let received = world.get(0, &format!("/{number}")).await;
            assert_eq!(received.status, 200, "{scheme} {end:?} {number}: {}", received.told);
        }
        assert_eq!(world.asked(), 24);
        assert_eq!(world.failed(), [("direct".into(), reason)], "{scheme} {end:?}");
        if !matches!(end, End::Reset | End::Close) {
            let asked = path.asked.load(SeqCst);
            assert!((2..=4).contains(&asked), "{scheme} {end:?}: {asked}");
        }
    }
}

#[tokio::test]
async fn unsafe_request_switches_path_only_if_unsent() {
    for (scheme, end, first) in [
        ("http", End::ResetAfterRequest, 502),
        ("http", End::Bytes(""), 502),
        ("http", End::Bytes("220 mail.example ESMTP\r\n"), 502),
        ("http", End::Bytes(MIDDLEBOX), 511),
        ("https", End::Reset, 200),
        ("https", End::Bytes("\x15\x03\x03\x00\x02\x02\x28"), 200),
    ] {
        let (world, _path) = world(scheme, end).await;
        let received = world.send(0, post()).await;
        assert_eq!(received.status, first, "{scheme} {end:?}: {}", received.told);
        let received = world.send(0, post()).await;
        assert_eq!(
            (received.status, received.body),
            (200, "12345".into()),
            "{scheme} {end:?}: {}",
            received.told
        );
        assert_eq!(world.asked(), if first == 200 { 2 } else { 1 });
        assert_eq!(world.failed().len(), 1, "{scheme} {end:?}");
    }
}

#[tokio::test]
async fn error_status_on_every_path_reaches_the_client() {
    let path = Path::new(End::Bytes(MIDDLEBOX)).await;
    let zones = [(); 3].map(|()| ("detour_statuses = [511]\n".to_owned(), Some(path.address)));
    let world = World::with(zones, async |_, _| with("no-store", "it"));
    let received = world.get(0, "/").await;
    assert_eq!((received.status, received.body), (511, "login".into()));
    let mut tried = world.failed();
    tried.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(tried, ["direct", "fra", "syd"].map(|route| (route.to_owned(), HttpResponseStatus)));
}

#[tokio::test]
async fn closed_idle_connection_is_no_path_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if matches!(stream.read(&mut [0; 4096]).await, Ok(1..)) {
                let answer = "HTTP/1.1 200 OK\r\ncache-control: no-store\r\ncontent-length: 2\r\n\r\nit";
                stream.write_all(answer.as_bytes()).await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await;
            }
        }
    });
    let zones = [Some(address), None, None].map(|found_at| (String::new(), found_at));
    let world = World::with(zones, async |_, _| with("no-store", "it"));
    assert_eq!(world.get(0, "/").await.status, 200);
    let received = world.send(0, post()).await;
    assert_eq!((received.status, world.failed()), (502, Vec::new()), "{}", received.told);
    assert_eq!((world.get(0, "/").await.status, world.asked()), (200, 0));
}

#[tokio::test]
async fn path_is_retested_with_exponential_backoff() {
    let zones = [Some(nowhere()), None, None].map(|found_at| (String::new(), found_at));
    let world = World::with(zones, async |_, _| with("no-store", "it"));
    let node = &world.centres[0].worker.node;
    let network = node.network();
    let attempts = || {
        let origins = network.zones[0].origins.iter();
        node.origins.report(origins, |_| 0, node.now()).remove(0).requests
    };
    let mut direct = Vec::new();
    for number in 0..3137 {
        if number == 3130 {
            // A failure expires after ten minutes.
            world.others(0).move_ahead(Duration::from_secs(600));
        }
        let before = attempts();
        assert_eq!(world.get(0, "/").await.status, 200, "{number}");
        direct.extend((attempts() > before).then_some(number));
    }
    assert_eq!(direct, [0, 5, 25, 125, 625, 3125, 3130, 3135]);
    assert_eq!(world.asked(), 3137);
}
