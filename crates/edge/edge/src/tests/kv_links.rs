//! Key-value store over real links: routing, invalidation, large values, failed links and data
//! centres, and access control.

use std::time::Duration;

use http_stack::{
    Body, Client, HeaderMap, MeshIdentity, Method, Request, StatusCode,
    client::{Config, Known, Protocol, Trace},
    header,
    server::Handler,
};
use kv_server::KvHandler;
use tokio::time::sleep;

use super::test_network::World;
use crate::peers::headers;

const LHR: usize = 0;
const FRA: usize = 1;
const SYD: usize = 2;

/// The store is in lhr. All data centres are in one region, so the regional tier of each key is its
/// upper tier.
const KV: &str = "[kv]\nlisten = [\"127.0.0.1:0\"]\nstore = { lhr = \"FOLDER/kv.redb\" }\n\
                  [[kv.namespace]]\nname = \"sessions\"\ntokens = [\"HASH\"]\n";

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn source(&self) -> &str {
        self.headers.get("kv-source").map_or("", |field| field.to_str().unwrap())
    }
}

fn world() -> World {
    World::with_gates(KV, async |_, _| panic!("no origin is asked"))
}

async fn ask(world: &World, centre: usize, method: Method, target: &str, body: &[u8]) -> Answer {
    let mut request = Request::new(Body::empty());
    *request.method_mut() = method;
    *request.uri_mut() = target.parse().unwrap();
    let token = format!("Bearer {}", world.token);
    request.headers_mut().insert(header::AUTHORIZATION, token.parse().unwrap());
    request.headers_mut().insert("kv-namespace", "sessions".parse().unwrap());
    if !body.is_empty() {
        request.headers_mut().insert(header::CONTENT_LENGTH, body.len().into());
        *request.body_mut() = Body::whole(body.to_vec());
    }
    let door = KvHandler::of(world.centres[centre].worker.kv.as_ref().unwrap());
    let (parts, body) = door.handle(request).await.unwrap().into_parts();
    let body = body.collect(32 << 20).await.unwrap().to_vec();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body }
}

async fn get(world: &World, centre: usize, target: &str) -> Answer {
    ask(world, centre, Method::GET, target, b"").await
}

async fn put(world: &World, centre: usize, target: &str, body: &[u8]) {
    let put = ask(world, centre, Method::PUT, target, body).await;
    assert_eq!(put.status, 200, "{}", put.text());
}

async fn key_of(world: &World, centre: usize) -> String {
    let peers = world.others(LHR);
    let namespace = kv_server::Namespace::id_of("sessions");
    let is_its = |key: &String| {
        let upper = peers.kv_places().unwrap().upper(kv::Placement::hash(&namespace, key), |_| true);
        upper.map(|upper| usize::from(upper.0)) == Some(centre)
    };
    (0..1000).map(|number| format!("k{number}")).find(is_its).unwrap()
}

#[tokio::test]
async fn write_is_readable_in_every_data_centre() {
    let world = world();
    let key = format!("/{}", key_of(&world, FRA).await);
    put(&world, SYD, &key, b"1").await;
    for (centre, source) in [(SYD, "store"), (SYD, "lower"), (FRA, "lower"), (LHR, "lower")] {
        let got = get(&world, centre, &key).await;
        assert_eq!((got.text(), got.source()), ("1", source), "{centre}");
    }
    put(&world, SYD, &key, b"2").await;
    while get(&world, FRA, &key).await.text() != "2" {
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(get(&world, SYD, &key).await.text(), "2");
    let deleted = ask(&world, SYD, Method::DELETE, &key, b"").await;
    assert_eq!(deleted.status, 200);
    assert_eq!(get(&world, SYD, &key).await.status, 404);
    let report = world.centres[LHR].worker.kv.as_ref().unwrap().report();
    let network = report.network.unwrap();
    assert_eq!((report.writes, report.keys, network.to_tell), (3, Some(0), 3));
    let listed = get(&world, SYD, "/").await;
    assert_eq!(listed.text(), r#"{"keys":[],"list_complete":true}"#);
}

#[tokio::test]
async fn large_value_uses_the_bulk_connection() {
    let world = world();
    let key = format!("/{}", key_of(&world, FRA).await);
    let value: Vec<u8> = (0..25 << 20_u32).map(|at: u32| u8::try_from(at * 31 % 251).unwrap_or(7)).collect();
    put(&world, SYD, &key, &value).await;
    for _ in 0..2 {
        let got = get(&world, SYD, &key).await;
        assert_eq!(got.source(), "store");
        assert!(got.body == value);
    }
    put(&world, SYD, &key, &value[..900_000]).await;
    for source in ["store", "lower"] {
        let got = get(&world, SYD, &key).await;
        assert_eq!(got.source(), source);
        assert!(got.body == value[..900_000]);
    }
}

#[tokio::test]
async fn concurrent_large_values_do_not_block_each_other() {
    let world = world();
    for number in 0..4 {
        put(&world, LHR, &format!("/k{number}"), &vec![b'a'; 6 << 20]).await;
    }
    let asked = br#"{"keys":["k0","k1","k2","k3"]}"#;
    let got = ask(&world, SYD, Method::POST, "/bulk/get", asked).await;
    assert_eq!((got.status, got.body.len()), (200, 4 * ((6 << 20) + 8) + 1));
}

#[tokio::test]
async fn partitioned_reader_serves_marked_copies() {
    let world = world();
    let key = format!("/{}", key_of(&world, FRA).await);
    put(&world, LHR, &key, b"1").await;
    assert_eq!(get(&world, SYD, &key).await.text(), "1");
    world.let_pass(SYD, LHR, false);
    let refused = ask(&world, SYD, Method::PUT, &key, b"2").await;
    assert_eq!(refused.status, 503);
    assert!(
        refused.text().starts_with("the store is in data centre \"lhr\", which has not responded: "),
        "{}",
        refused.text()
    );
    assert_eq!(get(&world, SYD, "/").await.status, 503);
    assert_eq!(get(&world, SYD, &key).await.text(), "1");
    let is_other = |target: &String| is_of(&world, target, FRA);
    let other = (0..1000).map(|number| format!("/x{number}")).find(is_other).unwrap();
    assert_eq!(get(&world, SYD, &other).await.status, 404);
    world.let_pass(SYD, LHR, true);
    while ask(&world, SYD, Method::PUT, &key, b"2").await.status != 200 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(get(&world, SYD, &key).await.text(), "2");
}

fn is_of(world: &World, target: &str, centre: usize) -> bool {
    let hash = kv::Placement::hash(&kv_server::Namespace::id_of("sessions"), target.trim_start_matches('/'));
    let peers = world.others(SYD);
    peers.kv_places().unwrap().upper(hash, |_| true).is_some_and(|upper| usize::from(upper.0) == centre)
}

#[tokio::test]
async fn key_falls_back_to_the_next_tier() {
    let world = world();
    let key = format!("/{}", key_of(&world, FRA).await);
    put(&world, LHR, &key, b"1").await;
    world.centres[FRA].die();
    let got = get(&world, SYD, &key).await;
    assert_eq!((got.text(), got.source()), ("1", "store"));
}

#[tokio::test]
async fn either_of_two_stores_is_enough() {
    let stores = KV.replace("kv.redb\" }", "lhr.redb\", syd = \"FOLDER/syd.redb\" }");
    let world = World::with_gates(&stores, async |_, _| panic!("no origin is asked"));
    let service = |centre: usize| std::sync::Arc::clone(world.centres[centre].worker.kv.as_ref().unwrap());
    let sweeping = [LHR, SYD].map(|centre| {
        let service = service(centre);
        tokio::spawn(async move { service.sweep().await })
    });
    let keys = async |centre: usize, wanted: u64| {
        while service(centre).report().keys != Some(wanted)
            || service(centre).report().pair.unwrap().behind > 0
        {
            sleep(Duration::from_millis(5)).await;
        }
    };
    put(&world, FRA, "/a", b"1").await;
    put(&world, SYD, "/large", &vec![b'x'; 3 << 20]).await;
    for centre in [LHR, SYD] {
        keys(centre, 2).await;
    }
    world.let_pass(LHR, SYD, false);
    world.let_pass(FRA, LHR, false);
    put(&world, FRA, "/b", b"2").await;
    assert_eq!(get(&world, FRA, "/b").await.text(), "2");
    assert_eq!(get(&world, FRA, "/large").await.body.len(), 3 << 20);
    assert!(get(&world, FRA, "/").await.text().contains("\"b\""));
    assert_eq!(service(LHR).report().keys, Some(2));
    world.let_pass(LHR, SYD, true);
    world.let_pass(FRA, LHR, true);
    for centre in [LHR, SYD] {
        keys(centre, 3).await;
    }
    sweeping.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn only_peers_may_read_keys() {
    let world = world();
    put(&world, LHR, "/a", b"secret").await;
    let ask = async |node: &str| {
        let (certificate, key) = (world.file("syd.pem"), world.file("syd-key.pem"));
        let member = MeshIdentity::read(&world.file("ca.pem"), &certificate, &key).unwrap();
        let address = world.centres[LHR].address;
        let known = Known { host: "lhr".into(), port: address.port(), address: address.ip() };
        let config = Config {
            protocol: Protocol::Http2,
            member: Some(member),
            known: [known].into_iter().collect(),
            ..Config::default()
        };
        let client = Client::new(&config).unwrap();
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = "/a".parse().unwrap();
        let namespace = kv_server::Namespace::id_of("sessions");
        for (name, value) in
            [("kv-namespace", namespace.as_str()), ("lh-tier-name", "store"), ("host", "lhr")]
        {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        request.headers_mut().insert(headers::REQUEST_KIND, headers::KIND_VALUES);
        request.headers_mut().insert(headers::PEER_NODE, node.parse().unwrap());
        let origin = format!("https://lhr:{}", address.port()).parse().unwrap();
        let mut trace = Trace::start(client.clock().now());
        let response = client.send(&origin, request, &mut trace).await.unwrap();
        (response.status(), response.into_body().collect(1000).await.unwrap())
    };
    assert_eq!(ask("syd").await, (StatusCode::OK, "secret".into()));
    let (status, why) = ask("fra").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(why, "it claims to be \"fra\", but its certificate is for syd\n");
}

#[tokio::test]
async fn copies_of_each_data_centre_are_listed() {
    let world = world();
    let key = key_of(&world, FRA).await;
    put(&world, LHR, &format!("/{key}"), b"1").await;
    get(&world, FRA, &format!("/{key}")).await;
    let target = format!("/client/v4/accounts/a/storage/kv/namespaces/sessions/whereabouts/{key}");
    let shown = get(&world, SYD, &target).await;
    let shown: serde_json::Value = serde_json::from_str(shown.text()).unwrap();
    let of = |number: usize| {
        let one = &shown["result"]["data_centres"][number];
        (
            one["data_centre"].as_str().unwrap(),
            one["source"].as_str().unwrap(),
            one["found"].as_bool().unwrap(),
        )
    };
    assert_eq!(
        [of(0), of(1), of(2)],
        [("lhr", "lower", true), ("fra", "lower", true), ("syd", "regional", true)]
    );
}
