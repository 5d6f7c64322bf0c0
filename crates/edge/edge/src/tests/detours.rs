//! An origin that one data centre cannot reach and others can.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use http_stack::{Body, Method, Request, Response, Server, ShutdownSignal, StatusCode, tunnel::Downstream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex},
    net::TcpSocket,
};

use super::{request, test_network::World, with};
use crate::admin::api::RouteReason;

/// The open socket reserves the address.
pub(super) fn nowhere() -> SocketAddr {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    std::mem::forget(socket);
    address
}

fn first_is_cut(zone: &str) -> [(String, Option<SocketAddr>); 3] {
    [Some(nowhere()), None, None].map(|found_at| (zone.to_owned(), found_at))
}

fn cut(zone: &str) -> World {
    World::with(first_is_cut(zone), async |request: Request<Body>, number| {
        let body = request.into_body().collect(100).await.unwrap();
        with(if number % 2 == 0 { "no-store" } else { "max-age=60" }, body)
    })
}

#[tokio::test]
async fn cut_route_fails_no_request() {
    let world = cut("");
    for number in 0..200 {
        let received = world.get(0, &format!("/{number}")).await;
        assert_eq!(received.status, 200, "{number}: {}", received.told);
    }
    assert_eq!(world.asked(), 200);
    let network = world.centres[0].worker.network();
    let routes = world.others(0).report_routes(&network);
    let [route] = &routes[..] else { panic!("{routes:?}") };
    assert_eq!((route.route.as_str(), route.reason), ("direct", RouteReason::ConnectionRefused));
    assert_eq!(route.origin, network.zones[0].origins[0].to_string());
    // The first request recorded the failure, and the others avoided the path: the next test is
    // request 625.
    assert_eq!((route.requests, route.next_test_at), (199, 625));
    assert!(route.detour.as_deref().is_some_and(|detour| ["fra", "syd"].contains(&detour)), "{route:?}");
}

#[tokio::test]
async fn unsafe_request_takes_the_detour_once() {
    let world = cut("");
    let post = || {
        let mut post = request(Method::POST, "/", &[("content-length", "5")]);
        *post.body_mut() = Body::whole("12345");
        post
    };
    for number in 1..4 {
        let received = world.send(0, post()).await;
        assert_eq!((received.status, received.body, world.asked()), (200, "12345".into(), number));
    }
}

async fn echo(request: Request<Body>, _: usize) -> Response<Body> {
    if request.uri().path() != "/chat" {
        let mut response = with("no-store", "not here");
        *response.status_mut() = StatusCode::FORBIDDEN;
        return response;
    }
    assert!(request.headers()["upgrade"] == "websocket" && request.headers()["sec-websocket-key"] == "k");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    for (name, value) in [("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-accept", "a")]
    {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response.extensions_mut().insert(Downstream::then(async |mut stream| {
        let mut bytes = vec![0; 10_000];
        loop {
            match stream.read(&mut bytes).await {
                Ok(0) => break drop(stream.write_all(b"bye").await),
                Ok(n) => drop(stream.write_all(&bytes[..n]).await),
                Err(_) => break,
            }
        }
    }));
    response
}

fn websocket(path: &str) -> Request<Body> {
    let fields = [("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-key", "k")];
    request(Method::GET, path, &fields)
}

#[tokio::test]
async fn websocket_takes_the_detour() {
    let world = World::with(first_is_cut(""), echo);
    let mut response = world.centres[0].worker.serve(websocket("/chat")).await;
    assert_eq!(response.status(), 101);
    for (name, value) in [("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-accept", "a")]
    {
        assert_eq!(response.headers()[name], value);
    }
    assert!(
        response
            .headers()
            .keys()
            .all(|name| !http_cache::internal_headers::is_internal(name.as_str().as_bytes()))
    );
    assert_eq!((world.asked(), world.asked_by_others(1) + world.asked_by_others(2)), (1, 1));
    let go = response.extensions_mut().remove::<Downstream>().unwrap().take().unwrap();
    let (mut visitor, node) = duplex(1000);
    let going = tokio::spawn(go(Box::new(node)));
    // The echo runs concurrently, and the bytes exceed all buffers on the path.
    let said: Vec<u8> = (0..1_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    for chunk in said.chunks(100_000) {
        let (mut read, mut write) = tokio::io::split(&mut visitor);
        let mut heard = vec![0; chunk.len()];
        let (wrote, got) = tokio::join!(write.write_all(chunk), read.read_exact(&mut heard));
        wrote.unwrap();
        got.unwrap();
        assert!(heard == chunk);
    }
    visitor.shutdown().await.unwrap();
    let mut rest = Vec::new();
    visitor.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"bye");
    going.await.unwrap();
}

#[tokio::test]
async fn websocket_ends_with_its_detour_peer() {
    let world = World::with(first_is_cut(""), echo);
    let mut response = world.centres[0].worker.serve(websocket("/chat")).await;
    let go = response.extensions_mut().remove::<Downstream>().unwrap().take().unwrap();
    let (mut visitor, node) = duplex(1000);
    let going = tokio::spawn(go(Box::new(node)));
    visitor.write_all(b"a").await.unwrap();
    assert_eq!(visitor.read_u8().await.unwrap(), b'a');
    world.centres[1].die();
    world.centres[2].die();
    // The client is silent, and its connection is closed nevertheless.
    going.await.unwrap();
    assert_eq!(visitor.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn full_tunnel_limit_is_no_route_failure() {
    let world = World::with_streams(2, first_is_cut(""), echo);
    let mut open = Vec::new();
    for number in 0..4 {
        let mut response = world.centres[0].worker.serve(websocket("/chat")).await;
        assert_eq!(response.status(), 101, "{number}");
        let go = response.extensions_mut().remove::<Downstream>().unwrap().take().unwrap();
        let (visitor, node) = duplex(1000);
        tokio::spawn(go(Box::new(node)));
        open.push(visitor);
    }
    assert_eq!((world.asked_by_others(1), world.asked_by_others(2)), (2, 2));
    assert_eq!(world.centres[0].worker.serve(websocket("/chat")).await.status(), 502);
    let routes = world.others(0).report_routes(&world.centres[0].worker.network());
    assert_eq!(routes.iter().map(|route| &route.route[..]).collect::<Vec<_>>(), ["direct"]);
    let mut ended = open.remove(0);
    ended.shutdown().await.unwrap();
    ended.read_to_end(&mut Vec::new()).await.unwrap();
    while world.centres[0].worker.serve(websocket("/chat")).await.status() != 101 {}
}

async fn ending(world: &World, is_reset: bool) -> std::io::Result<Vec<u8>> {
    let worker = std::sync::Arc::clone(&world.centres[0].worker);
    let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
    let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
    let serve = move |request| {
        let worker = std::sync::Arc::clone(&worker);
        async move { Ok(worker.serve(request).await) }
    };
    tokio::spawn(async move { server.serve(serve, &stop).await });
    let mut visitor = tokio::net::TcpStream::connect(address).await.unwrap();
    let ask = "GET /chat HTTP/1.1\r\nHost: shop.example\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
    visitor.write_all(ask.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"\r\n\r\nhello") {
        said.push(visitor.read_u8().await.unwrap());
    }
    visitor.write_all(if is_reset { b"r" } else { b"e" }).await.unwrap();
    let mut rest = Vec::new();
    visitor.read_to_end(&mut rest).await.map(|_| rest)
}

#[tokio::test]
async fn origin_reset_resets_the_client_tunnel() {
    let straight = [(); 3].map(|()| (String::new(), None));
    for zones in [straight, first_is_cut("")] {
        let is_round = zones[0].1.is_some();
        let world = World::with(zones, async |_, _| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            for (name, value) in [("upgrade", "x"), ("connection", "upgrade")] {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            response.extensions_mut().insert(Downstream::then(async |mut stream| {
                stream.write_all(b"hello").await.unwrap();
                if stream.read_u8().await.unwrap() == b'r' {
                    stream.reset();
                }
            }));
            response
        });
        assert_eq!(ending(&world, false).await.unwrap(), b"", "{is_round}");
        let reset = ending(&world, true).await.unwrap_err();
        assert_eq!(reset.kind(), std::io::ErrorKind::ConnectionReset, "{is_round}");
        let by_others = world.asked_by_others(1) + world.asked_by_others(2);
        assert_eq!(by_others, if is_round { 2 } else { 0 });
    }
}

#[tokio::test]
async fn unread_websocket_blocks_no_other() {
    let world = World::with(first_is_cut(""), echo);
    let mut ends = Vec::new();
    for _ in 0..2 {
        let mut response = world.centres[0].worker.serve(websocket("/chat")).await;
        let go = response.extensions_mut().remove::<Downstream>().unwrap().take().unwrap();
        let (visitor, node) = duplex(1000);
        tokio::spawn(go(Box::new(node)));
        ends.push(visitor);
    }
    let (mut deaf, mut other) = (ends.remove(0), ends.remove(0));
    let piece = vec![0; 100_000];
    while tokio::time::timeout(Duration::from_millis(300), deaf.write_all(&piece)).await.is_ok() {}
    for said in 0..100 {
        other.write_all(&[said; 5000]).await.unwrap();
        let mut heard = [0; 5000];
        other.read_exact(&mut heard).await.unwrap();
        assert_eq!(heard, [said; 5000]);
    }
}

#[tokio::test]
async fn client_data_after_origin_end_is_delivered() {
    let (heard, hearing) = tokio::sync::oneshot::channel();
    let heard = std::sync::Mutex::new(Some(heard));
    let world = World::with(first_is_cut(""), move |_, _| {
        let heard = heard.lock().unwrap().take();
        async {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            for (name, value) in [("upgrade", "x"), ("connection", "upgrade"), ("content-length", "0")] {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            response.extensions_mut().insert(Downstream::then(async |mut stream| {
                stream.shutdown().await.unwrap();
                let mut said = Vec::new();
                stream.read_to_end(&mut said).await.unwrap();
                heard.unwrap().send(said).unwrap();
            }));
            response
        }
    });
    let fields = [("connection", "upgrade"), ("upgrade", "x"), ("content-length", "0")];
    let mut response = world.centres[0].worker.serve(request(Method::GET, "/", &fields)).await;
    let go = response.extensions_mut().remove::<Downstream>().unwrap().take().unwrap();
    let (mut visitor, node) = duplex(1000);
    tokio::spawn(go(Box::new(node)));
    assert_eq!(visitor.read(&mut [0; 1]).await.unwrap(), 0);
    visitor.write_all(&[7; 100_000]).await.unwrap();
    visitor.shutdown().await.unwrap();
    assert!(hearing.await.unwrap() == [7; 100_000]);
}

#[tokio::test]
async fn declined_upgrade_response_is_complete() {
    let world = World::with(first_is_cut(""), echo);
    let received = world.send(0, websocket("/elsewhere")).await;
    assert_eq!((received.status, received.body, world.asked()), (403, "not here".into(), 1));
    let world = World::with(first_is_cut("detours = \"off\"\n"), echo);
    let received = world.send(0, websocket("/chat")).await;
    assert_eq!((received.status, world.asked()), (502, 0));
}

#[tokio::test]
async fn zone_may_disable_detours() {
    let world = cut("detours = \"off\"\n");
    let received = world.get(0, "/").await;
    assert_eq!((received.status, world.asked()), (502, 0));
    assert!(received.told.ends_with("detail=origin-unreachable"), "{}", received.told);
}

#[tokio::test]
async fn cut_off_upper_tier_fetches_through_a_lower_one() {
    // fra, the upper tier of the others, cannot reach the origin and uses syd.
    let zones = [None, Some(nowhere()), None];
    let zones = zones.map(|found_at| ("tiers = { lhr = \"fra\", syd = \"fra\" }\n".to_owned(), found_at));
    let world = World::with(zones, async |_, _| with("max-age=60", "it"));
    let received = world.get(0, "/").await;
    assert_eq!((received.status, world.asked(), world.asked_by_others(1)), (200, 1, 1));
    world.centres[2].die();
    for number in 0..20 {
        assert_eq!(world.get(0, &format!("/{number}")).await.status, 200);
    }
}

/// The origin serves one request, is then silent on that connection, and accepts no further
/// connections.
fn falls_silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, mut bytes) = (connection.unwrap(), [0; 4096]);
            // Probes send no bytes.
            if connection.read(&mut bytes).is_ok_and(|read| read > 0) {
                connection
                    .write_all(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nit")
                    .unwrap();
                drop(listener);
                std::mem::forget(connection);
                return;
            }
        }
    });
    address
}

#[tokio::test]
async fn cut_route_is_not_taken_for_a_slow_origin() {
    let zone = |more: &str| format!("first_byte = \"500ms\"\n{more}");
    let asks_lhr = "tiers = { fra = \"lhr\", syd = \"lhr\" }\n";
    let zones = [Some(falls_silent()), None, None].map(|found_at| (zone(asks_lhr), found_at));
    let world = World::with(zones, async |_, _| with("max-age=60", "it"));
    assert_eq!((world.get(1, "/first").await.status, world.asked()), (200, 0));
    world.centres[2].die();
    let of_lhr = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.get(0, "/second").await
    };
    let (fra, lhr) = tokio::join!(world.get(1, "/second"), of_lhr);
    assert_eq!((fra.status, lhr.status), (200, 200), "{} {}", fra.told, lhr.told);
}

#[tokio::test]
async fn unreachable_origin_error_lists_attempts() {
    let zones = [(); 3].map(|()| (String::new(), Some(nowhere())));
    let world = World::with(zones, async |_, _| with("max-age=60", "it"));
    let received = world.get(0, "/").await;
    assert_eq!((received.status, world.asked()), (502, 0));
    let routes = world.others(0).report_routes(&world.centres[0].worker.network());
    let mut tried: Vec<_> = routes.iter().map(|route| route.route.as_str()).collect();
    tried.sort_unstable();
    assert_eq!(tried, ["direct", "fra", "syd"]);
}
