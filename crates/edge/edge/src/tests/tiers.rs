//! Tiers: one origin request for all data centres, authentication, and failed data centres.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use http_cache::{
    internal_headers::is_internal,
    purge::{Depth, Purge},
};
use http_stack::{
    Body, Bytes, Client, HeaderMap, MeshIdentity, Method, Origin, Request, Response,
    client::{Config, Known, Protocol, Trace},
};
use tier_routing::{DataCentreId, Hop, KeyHash, Role};
use tokio::sync::Notify;

use super::{
    ReceivedResponse, request,
    test_network::{NAMES, World},
    with,
};
use crate::peers::{HeartbeatRequest, TrafficClass, headers};

const LHR: usize = 0;
const FRA: usize = 1;
const SYD: usize = 2;

const TO_FRA: &str = "tiers = { lhr = \"fra\", syd = \"fra\" }\n";

#[tokio::test]
async fn concurrent_clients_everywhere_are_one_origin_request() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&begun), Arc::clone(&go_on));
    let world = Arc::new(World::new(TO_FRA, move |_, number| {
        let (begun, go_on) = (Arc::clone(&told.0), Arc::clone(&told.1));
        async move {
            begun.notify_one();
            go_on.notified().await;
            with("max-age=60", format!("answer {number}"))
        }
    }));
    let mut visitors = tokio::task::JoinSet::new();
    for number in 0..300 {
        let world = Arc::clone(&world);
        visitors.spawn(async move { world.get(number % NAMES.len(), "/").await });
    }
    begun.notified().await;
    while [LHR, SYD].iter().any(|&centre| requests(&world, centre) == 0) {
        tokio::task::yield_now().await;
    }
    go_on.notify_one();
    while let Some(received) = visitors.join_next().await {
        assert_eq!(received.unwrap().body, "answer 0");
    }
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cold_objects_are_one_origin_request_each() {
    let requests = Arc::new(std::sync::Mutex::new(std::collections::BTreeMap::<String, usize>::new()));
    let counted = Arc::clone(&requests);
    let world = Arc::new(World::new(TO_FRA, move |request: Request<Body>, _| {
        *counted.lock().unwrap().entry(request.uri().path().to_owned()).or_default() += 1;
        async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            with("max-age=60", "it")
        }
    }));
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..6 * COLD_OBJECTS {
        let world = Arc::clone(&world);
        clients
            .spawn(async move { world.get(number % NAMES.len(), &format!("/{}", number / 6)).await.status });
    }
    while let Some(status) = clients.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
    let requests = requests.lock().unwrap();
    let repeated: Vec<_> = requests.iter().filter(|(_, count)| **count > 1).take(20).collect();
    assert_eq!((requests.len(), repeated), (COLD_OBJECTS, vec![]));
}

const COLD_OBJECTS: usize = 300;

#[tokio::test]
async fn disagreeing_upper_tiers_do_not_deadlock() {
    let zones = ["tiers = { lhr = \"fra\" }\n", "tiers = { fra = \"lhr\" }\n", ""];
    let world = World::with(zones.map(|zone| (zone.to_owned(), None)), async |_, _| {
        tokio::time::sleep(Duration::from_millis(20)).await;
        with("max-age=60", "it")
    });
    for number in 0..20 {
        let path = format!("/{number}");
        let both = async { tokio::join!(world.get(LHR, &path), world.get(FRA, &path)) };
        let (lhr, fra) = tokio::time::timeout(Duration::from_secs(10), both).await.unwrap();
        assert_eq!((lhr.status, fra.status), (200, 200));
    }
    assert!(world.asked() <= 40, "{}", world.asked());
}

fn requests(world: &World, centre: usize) -> u64 {
    world.others(centre).peer(DataCentreId(1)).snapshot().requests
}

#[tokio::test]
async fn cache_tier_is_reported_and_age_is_counted_once() {
    let world = World::new(TO_FRA, async |_, _| {
        let mut response = with("max-age=600", "it");
        response.headers_mut().insert("age", "100".parse().unwrap());
        response.headers_mut().insert("cache-tag", "Prices, offers".parse().unwrap());
        response
    });
    let at = async |centre: usize| {
        let response = world.centres[centre].worker.serve(request(Method::GET, "/", &[])).await;
        let field = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let told = (field("cache-status").unwrap(), field("age").unwrap().parse::<u64>().unwrap());
        assert!(!response.headers().keys().any(|name| is_internal(name.as_str().as_bytes())));
        assert_eq!(field("cache-tag"), None);
        assert_eq!(response.into_body().collect(10).await.unwrap(), "it");
        told
    };
    let (first, age) = at(LHR).await;
    assert!(
        first.starts_with("fra; fwd=uri-miss; fwd-status=200; stored; ttl=")
            && first.contains(", lhr; fwd=uri-miss; fwd-status=200; stored"),
        "{first}"
    );
    // The Age is from the origin's header and not from elapsed time.
    assert!((100..200).contains(&age), "{age}");
    let (second, age) = at(SYD).await;
    assert!(second.starts_with("fra; hit; ttl=") && second.contains(", syd; fwd=uri-miss"), "{second}");
    assert!((100..200).contains(&age), "{age}");
    let (hit, age) = at(SYD).await;
    assert!(hit.starts_with("fra; hit; ttl=") && hit.contains(", syd; hit; ttl="), "{hit}");
    assert!((100..200).contains(&age), "{age}");
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (1, 2));
    for centre in &world.centres {
        let purges = vec![Purge::Tag("prices".into())];
        assert_eq!(centre.worker.purge("z", purges, Depth::Hard).unwrap().1, 1);
    }
}

#[tokio::test]
async fn origin_sees_no_internal_headers() {
    let world = World::new(TO_FRA, async |request: Request<Body>, _| {
        let headers = request.headers();
        assert!(!headers.keys().any(|name| is_internal(name.as_str().as_bytes())));
        let names = ["via", "cdn-loop", "x-forwarded-for", "forwarded", "host", "if-none-match", "my-own"];
        let of = |name: &&str| headers.get(*name).map(|value| value.to_str().unwrap().to_owned());
        with("max-age=60", format!("{:?}", names.iter().map(of).collect::<Vec<_>>()))
    });
    let fields = [
        ("x-forwarded-for", "203.0.113.9"),
        ("if-none-match", "\"a\""),
        ("my-own", "1"),
        ("lh-tier-path", "2 detour http syd z"),
        ("lh-cache-key", "0000000000000000 192.0.2.9:1"),
    ];
    let seen = world.send(LHR, request(Method::GET, "/", &fields)).await.body;
    let expected = [
        Some("1.1 lhr, 2 fra"),
        Some("longhaul;network=n;data-centre=lhr, longhaul;network=n;data-centre=fra"),
        Some("203.0.113.9, 192.0.2.1"),
        Some("for=192.0.2.1;proto=http"),
        Some("shop.example"),
        None,
        Some("1"),
    ];
    assert_eq!(String::from_utf8(seen.to_vec()).unwrap(), format!("{expected:?}"));
    assert_eq!(world.asked_by_others(FRA), 1);
}

#[tokio::test]
async fn upper_tier_failure_is_invisible() {
    let world = World::new(TO_FRA, async |_, number| with("max-age=60", format!("{number}")));
    assert_eq!(world.get(LHR, "/a").await.status, 200);
    world.centres[FRA].die();
    for number in 0..20 {
        let received = world.get(LHR, &format!("/{number}")).await;
        assert_eq!(
            (received.status, received.told.as_str()),
            (200, "lhr; fwd=uri-miss; fwd-status=200; stored")
        );
    }
    let seen = world.others(LHR).peer(DataCentreId(1)).snapshot();
    assert!(seen.is_lost && seen.requests < 21, "{seen:?}");
    assert_eq!(world.asked(), 21);
}

#[tokio::test]
async fn body_resumes_when_its_peer_dies() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&begun), Arc::clone(&go_on));
    let world = Arc::new(World::new(TO_FRA, move |request: Request<Body>, number| {
        let (begun, go_on) = (Arc::clone(&told.0), Arc::clone(&told.1));
        async move {
            let mut response = with("max-age=60", "");
            response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
            if number > 0 {
                assert_eq!(request.headers().get("range").unwrap(), "bytes=6-");
                *response.status_mut() = http_stack::StatusCode::PARTIAL_CONTENT;
                response.headers_mut().insert("content-range", "bytes 6-11/12".parse().unwrap());
                *response.body_mut() = Body::whole("second");
                return response;
            }
            response.headers_mut().insert("content-length", 12.into());
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("first ").await.unwrap();
                begun.notify_one();
                go_on.notified().await;
                drop(sender);
            });
            *response.body_mut() = body;
            response
        }
    }));
    let mut response = world.centres[LHR].worker.serve(request(Method::GET, "/", &[])).await;
    assert_eq!(response.body_mut().data().await.unwrap().unwrap(), "first ");
    begun.notified().await;
    world.centres[FRA].die();
    let rest = response.into_body().collect(100).await;
    assert_eq!(rest.unwrap(), "second");
    go_on.notify_one();
}

#[tokio::test]
async fn mutual_upper_tiers_end_at_the_origin() {
    let zones = ["tiers = { lhr = \"fra\" }", "tiers = { fra = \"syd\" }", "tiers = { syd = \"lhr\" }"];
    let world = World::with(zones.map(|zone| (zone.to_owned(), None)), async |_, number| {
        with("max-age=60", format!("{number}"))
    });
    let received = world.get(LHR, "/").await;
    assert_eq!((received.status, world.asked()), (200, 1));
    assert_eq!([LHR, FRA, SYD].map(|centre| world.asked_by_others(centre)), [0, 1, 1]);
}

#[tokio::test]
async fn large_body_uses_the_bulk_connection_once() {
    let body = vec![b'x'; 3 << 20];
    let sent = body.clone();
    let world = World::new(TO_FRA, move |_, _| std::future::ready(with("max-age=60", sent.clone())));
    let received = world.get(LHR, "/").await;
    assert!(received.status == 200 && received.body == body);
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (1, 2));
    let client = |lane| {
        world
            .others(LHR)
            .connections
            .client(lane)
            .connections(&world.others(LHR).peer(DataCentreId(1)).origin)
    };
    assert_eq!([TrafficClass::Small, TrafficClass::Bulk].map(client), [1, 1]);
    let to_lhr = || world.others(FRA).report_links().into_iter().find(|link| link.to == "lhr").unwrap();
    while to_lhr().throughput_bps.is_none() {
        tokio::task::yield_now().await;
    }
    let loss = to_lhr().loss.unwrap();
    assert!((0.0..1.0).contains(&loss), "{loss}");
}

#[tokio::test]
async fn worker_uses_its_own_peer_connection() {
    let world = World::new(TO_FRA, async |_, _| with("max-age=60", "it"));
    let (peers, fra) = (world.others(LHR), DataCentreId(1));
    let origin = &peers.peer(fra).origin;
    let small = |has_body| peers.connections.small_client(0, origin, has_body);
    let is_own = || !std::ptr::eq(small(true), peers.connections.client(TrafficClass::Small));
    assert_eq!(world.get(LHR, "/1").await.status, 200);
    while !is_own() {
        tokio::task::yield_now().await;
    }
    let own = small(true);
    // The other data centre has announced streams for HTTP/1.1. Requests without a body use them.
    while !own.is_nesting(origin) {
        tokio::task::yield_now().await;
    }
    let (nested, connections, asked) = (small(false), own.connections(origin), world.asked_by_others(FRA));
    for number in 2..5 {
        assert_eq!(world.get(LHR, &format!("/{number}")).await.status, 200);
        assert_eq!((own.connections(origin), nested.connections(origin)), (connections, 1));
    }
    assert_eq!(world.asked_by_others(FRA), asked + 3);
    peers.mark_down(fra, "it is cut off");
    assert!(!own.is_open(origin) && !is_own() && nested.connections(origin) == 0);
    peers.mark_up(fra);
    assert_eq!(world.get(LHR, "/5").await.status, 200);
    while !is_own() {
        tokio::task::yield_now().await;
    }
    own.open(origin).await.unwrap();
    while own.connections(origin) > 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn smart_upper_tier_is_the_nearest_by_measurement() {
    let world = World::new("tiers = \"smart\"\n", async |_, _| with("max-age=60", "it"));
    let peers = [LHR, FRA, SYD].map(|centre| world.others(centre));
    let network = world.centres[LHR].worker.network();
    let origin = network.zones[0].origins[0].clone();
    for (peers, ms) in peers.iter().zip([80, 5, 250]) {
        for _ in 0..5 {
            peers.origin_routes().record_connect(peers.now(), &origin, Duration::from_millis(ms));
        }
    }
    for peers in &peers {
        for (number, other) in (0..).zip(&others_of(&world)) {
            let told = other.heartbeat_reply(&HeartbeatRequest { network: "n".into(), process: 0, from: 0 });
            if DataCentreId(number) != peers.own_id() {
                peers.origin_routes().merge_samples(peers.now(), DataCentreId(number), &told.origins);
            }
        }
        peers.review_choices(&network);
    }
    let next = |centre: usize, role| peers[centre].next_hop("z", role, KeyHash(1), &[]);
    let fra = Hop::Centre { centre: DataCentreId(1), role: Role::Upper(1) };
    assert_eq!([LHR, SYD].map(|centre| next(centre, Role::Lower)), [fra, fra]);
    assert_eq!(next(FRA, Role::Lower), Hop::Origin);
    let status = &peers[LHR].report_tiers(&network)[0];
    assert_eq!((status.mode.as_str(), status.upper.as_deref()), ("smart", Some("fra")));
    assert!(status.why.contains("fra connects to the origin in 5.0 ms"), "{}", status.why);
    assert_eq!(
        status.candidates.iter().map(|one| one.data_centre.as_str()).collect::<Vec<_>>(),
        ["fra", "lhr", "syd"]
    );
    let told = world.get(LHR, "/").await.told;
    assert!(told.starts_with("fra; fwd=uri-miss"), "{told}");
}

fn others_of(world: &World) -> [Arc<crate::peers::Peers>; 3] {
    [LHR, FRA, SYD].map(|centre| world.others(centre))
}

pub(super) async fn knock(world: &World, own: MeshIdentity, sender: &str) -> Result<(u16, String), String> {
    let response = ask_fra(world, own, sender, |_| {}).await?;
    Ok((response.status().as_u16(), String::from_utf8_lossy(response.body()).into_owned()))
}

async fn ask_fra(
    world: &World,
    own: MeshIdentity,
    sender: &str,
    change: impl FnOnce(&mut HeaderMap),
) -> Result<Response<Bytes>, String> {
    let (client, origin) = connect_to_fra(world, own).await?;
    ask_on(&client, &origin, sender, change).await
}

pub(super) async fn connect_to_fra(world: &World, own: MeshIdentity) -> Result<(Client, Origin), String> {
    let address = world.centres[FRA].address;
    let known = vec![Known { host: "fra".into(), port: address.port(), address: address.ip() }];
    let config = Config { protocol: Protocol::Http2, known, member: Some(own), ..Config::default() };
    let connected = Client::new(&config).unwrap();
    let origin: Origin = format!("https://fra:{}", address.port()).parse().unwrap();
    connected.open(&origin).await.map_err(|failure| failure.to_string())?;
    while connected.is_open(&origin) && !connected.is_nesting(&origin) {
        tokio::task::yield_now().await;
    }
    // HTTP/1.1, as between data centres. A rejected client receives a normal response.
    let client = if connected.is_open(&origin) { connected.nested(1) } else { connected };
    Ok((client, origin))
}

pub(super) async fn ask_on(
    client: &Client,
    origin: &Origin,
    sender: &str,
    change: impl FnOnce(&mut HeaderMap),
) -> Result<Response<Bytes>, String> {
    let mut request: Request<Body> = Request::new(Body::empty());
    *request.uri_mut() = "/".parse().unwrap();
    request.headers_mut().insert("host", "shop.example".parse().unwrap());
    let told = headers::ForwardedRequest {
        role: Role::Upper(1),
        through: vec![sender.to_owned()],
        zone: "z".into(),
        key: KeyHash::of(b"http://shop.example/"),
        client: ([192, 0, 2, 1], 5).into(),
        scheme: http_stack::Scheme::Http,
        rules: None,
    };
    told.write(request.headers_mut());
    change(request.headers_mut());
    let mut trace = Trace::start(client.clock().now());
    let response: Response<Body> =
        client.send(origin, request, &mut trace).await.map_err(|failure| failure.to_string())?;
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect(1000).await.unwrap()))
}

pub(super) fn member(world: &World, name: &str) -> MeshIdentity {
    let (certificate, key) = (format!("{name}.pem"), format!("{name}-key.pem"));
    MeshIdentity::read(&world.file("ca.pem"), &world.file(&certificate), &world.file(&key)).unwrap()
}

#[tokio::test]
async fn fast_peer_hit_equals_the_pipeline() {
    let world = World::new(TO_FRA, async |_, number| {
        let mut response = with("max-age=600", format!("answer {number}"));
        response.headers_mut().insert("cache-tag", "red, green".parse().unwrap());
        response.headers_mut().append("link", "</a>".parse().unwrap());
        response.headers_mut().append("link", "</b>".parse().unwrap());
        response
    });
    let at_once = || world.centres[FRA].at_once.load(SeqCst);
    let ask = async |sender: &str, fields: &[(&'static str, &str)]| {
        let before = at_once();
        let change = |headers: &mut HeaderMap| {
            fields.iter().for_each(|(name, value)| drop(headers.insert(*name, value.parse().unwrap())));
        };
        let mut response = ask_fra(&world, member(&world, sender), sender, change).await.unwrap();
        response.headers_mut().remove("age");
        if let Some(told) = response.headers_mut().get_mut("cache-status") {
            let text = told.to_str().unwrap().to_owned();
            *told = text.rsplit_once("ttl=").map_or(&*text, |(text, _)| text).parse().unwrap();
        }
        (response, at_once() > before)
    };
    assert!(!ask("lhr", &[]).await.1, "it is fetched");
    let (whole, is_at_once) = ask("lhr", &[]).await;
    assert!(!is_at_once && whole.body() == "answer 0", "{whole:?}");
    assert_eq!(whole.headers()["cache-tag"], "red,green");
    for sender in ["lhr", "syd"] {
        let (said, is_at_once) = ask(sender, &[("accept", "*/*"), ("cdn-loop", "other")]).await;
        assert!(is_at_once, "{sender}");
        assert_eq!(
            (said.status(), said.headers(), said.body()),
            (whole.status(), whole.headers(), whole.body())
        );
    }
    for (field, status, told) in [
        (("lh-tier-path", "2 upper-1 http fra,lhr z"), 508, Some("loop")),
        (("lh-tier-path", "2 upper-1 http lhr y"), 421, Some("other-rules")),
        (("lh-tier-path", "2 upper-1 https lhr z"), 421, Some("other-rules")),
        (("lh-tier-path", "1 upper-1 http lhr z"), 403, Some("denied")),
        (("cdn-loop", "longhaul;network=n;data-centre=fra"), 508, Some("loop")),
        (("lh-cache-key", "0000000000000000 192.0.2.1:5"), 421, Some("other-rules")),
        (("lh-cache-key", "0000000000000000 nobody"), 403, Some("denied")),
        (("lh-purge-epoch", "1:1"), 503, Some("behind")),
        (("lh-purge-epoch", "one"), 403, Some("denied")),
        (("range", "bytes=0-1"), 206, None),
    ] {
        let (response, is_at_once) = ask("lhr", &[field]).await;
        let refused = response.headers().get("lh-route-reason").map(|word| word.to_str().unwrap());
        assert_eq!((response.status().as_u16(), refused, is_at_once), (status, told, false), "{field:?}");
    }
    assert_eq!(world.asked(), 1);
    for depth in [Depth::Hard, Depth::Soft] {
        assert!(ask("lhr", &[]).await.1);
        let asked = world.asked();
        world.centres[FRA].worker.purge("z", vec![Purge::Tag("red".into())], depth).unwrap();
        let (response, is_at_once) = ask("lhr", &[]).await;
        assert_eq!((response.body(), is_at_once), (&Bytes::from(format!("answer {asked}")), false));
        assert!(!ask("lhr", &[]).await.1);
    }
}

#[tokio::test]
async fn only_peers_under_their_own_name_are_admitted() {
    let world = World::new(TO_FRA, async |_, _| with("max-age=60", "it"));
    let elsewhere = World::new(TO_FRA, async |_, _| with("max-age=60", "it"));
    for _ in 0..3 {
        assert_eq!(knock(&world, member(&world, "lhr"), "lhr").await, Ok((200, "it".to_owned())));
    }
    assert_eq!(world.centres[FRA].at_once.load(SeqCst), 1);
    let (status, why) = knock(&world, member(&world, "lhr"), "syd").await.unwrap();
    assert_eq!((status, why.trim_end()), (403, "it claims to be \"syd\", but its certificate is for lhr"));
    let (status, why) = knock(&world, member(&world, "fra"), "fra").await.unwrap();
    assert_eq!((status, why.trim_end()), (403, "\"fra\" is this data centre itself"));
    crate::Certificate::issue(world.folder.path(), "nyc", &[], 1).unwrap();
    let (status, why) = knock(&world, member(&world, "nyc"), "nyc").await.unwrap();
    assert_eq!((status, why.trim_end()), (403, "the network has no data centre \"nyc\""));
    let file = |name: &str| elsewhere.file(name);
    let own = MeshIdentity::read(&world.file("ca.pem"), &file("lhr.pem"), &file("lhr-key.pem")).unwrap();
    assert!(knock(&world, own, "lhr").await.unwrap_err().starts_with("tls: "));
    assert_eq!(world.asked(), 1);
}

#[tokio::test]
async fn link_with_a_foreign_certificate_is_rejected() {
    let world = World::new(TO_FRA, async |_, _| with("max-age=60", "it"));
    let mut network = crate::Network::clone(&world.centres[LHR].worker.network());
    let link = network.data_centres[LHR].link.as_mut().unwrap();
    (link.certificate, link.key) = (world.file("syd.pem"), world.file("syd-key.pem"));
    let error = crate::peers::Peers::new(&network, "lhr", 1, None).err().unwrap().to_string();
    assert!(error.contains("syd.pem: it is for syd") && error.contains("must be for \"lhr\""), "{error}");
}

#[tokio::test]
async fn uncacheable_object_goes_to_the_origin_directly() {
    let world = World::new(TO_FRA, async |_, number| with("no-store", format!("{number}")));
    let ReceivedResponse { status, told, .. } = world.get(LHR, "/").await;
    assert_eq!((status, world.asked_by_others(FRA)), (200, 1));
    assert!(told.starts_with("fra; fwd=uri-miss; detail=no-store, lhr; "), "{told}");
    assert!(!world.get(LHR, "/").await.told.contains("fra"));
    assert_eq!((world.asked(), world.asked_by_others(FRA)), (2, 1));
}
