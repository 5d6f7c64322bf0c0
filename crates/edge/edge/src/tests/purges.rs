//! Purges in a network over real links that can be cut. After its acknowledgement a data centre
//! serves no older version, even with fetches in flight.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, Method, Request, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::{test_network::World, with};
use crate::{
    admin::{api::PurgedIn, server},
    config::Disk,
    store::disk::DiskTier,
};

pub(super) const LHR: usize = 0;
pub(super) const FRA: usize = 1;
pub(super) const SYD: usize = 2;

pub(super) const TO_FRA: &str = "tiers = { lhr = \"fra\", syd = \"fra\" }\n";

#[derive(Clone, Default)]
pub(super) struct Shelf(Arc<Mutex<HashMap<String, u64>>>);

impl Shelf {
    pub(super) fn change(&self, path: &str) -> u64 {
        let mut shelf = self.0.lock().unwrap();
        let version = shelf.entry(path.to_owned()).or_default();
        *version += 1;
        *version
    }

    pub(super) fn answer(&self, request: &Request<Body>, cache_control: &str) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let version = self.0.lock().unwrap().get(&path).copied().unwrap_or_default();
        let tag = format!("\"{version}\"");
        let is_same = request.headers().get("if-none-match").is_some_and(|known| *known == tag[..]);
        let mut response = with(cache_control, if is_same { String::new() } else { version.to_string() });
        if is_same {
            *response.status_mut() = http_stack::StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert("etag", tag.parse().unwrap());
        headers.insert("cache-tag", path.trim_start_matches('/').parse().unwrap());
        response
    }
}

pub(super) async fn version(world: &World, centre: usize, path: &str) -> u64 {
    let received = world.get(centre, path).await;
    assert_eq!(received.status, 200, "{received:?}");
    String::from_utf8_lossy(&received.body).parse().unwrap()
}

pub(super) async fn purge(world: &World, centre: usize, tag: &str, depth: Depth) -> Vec<PurgedIn> {
    let (worker, began) = (&world.centres[centre].worker, Instant::now());
    worker.purge("z", vec![Purge::Tag(tag.into())], depth).unwrap();
    worker.node.send_and_wait_for_acks(began).await
}

pub(super) async fn even(world: &World, here: usize, there: usize) {
    let told = world.centres[there].worker.purge_log.position_header().unwrap();
    while world.centres[here].worker.purge_log.covers(&told) != Ok(true) {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn purge_applies_in_every_data_centre() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let world =
        World::new(TO_FRA, move |request, _| std::future::ready(origins.answer(&request, "max-age=600")));
    for centre in [LHR, FRA, SYD] {
        assert_eq!(version(&world, centre, "/a").await, 0);
    }
    shelf.change("/a");
    let told = purge(&world, SYD, "a", Depth::Soft).await;
    let names: Vec<_> = told.iter().map(|there| there.data_centre.as_str()).collect();
    assert_eq!(names, ["fra", "lhr"]);
    assert!(told.iter().all(|there| there.applied_ms.is_some() && there.unreachable.is_none()), "{told:?}");
    for centre in [LHR, FRA, SYD] {
        assert_eq!(version(&world, centre, "/a").await, 1);
    }
    assert_eq!(world.asked(), 2);
}

#[tokio::test]
async fn lagging_peer_catches_up_before_responding() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let world = World::with_gates(TO_FRA, move |request, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    });
    let worker = &world.centres[LHR].worker;
    for round in 1..10 {
        version(&world, LHR, "/a").await;
        shelf.change("/a");
        worker.purge("z", vec![Purge::Tag("a".into())], Depth::Hard).unwrap();
        assert_eq!(version(&world, LHR, "/a").await, round);
    }
    assert_eq!(
        worker.origins.report(worker.network().zones[0].origins.iter(), |_| 0, worker.now())[0].requests,
        0
    );
    // fra cannot exchange purges with lhr, so lhr bypasses it.
    world.block(FRA, LHR);
    shelf.change("/a");
    worker.purge("z", vec![Purge::Tag("a".into())], Depth::Hard).unwrap();
    let received = world.get(LHR, "/a").await;
    assert_eq!(
        (received.told.as_str(), &received.body[..]),
        ("lhr; fwd=uri-miss; fwd-status=200; stored", &b"10"[..])
    );
}

#[tokio::test]
async fn fill_started_before_a_purge_is_not_served_after() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let shelf = Shelf::default();
    let (told, origins) = ((Arc::clone(&begun), Arc::clone(&go_on)), shelf.clone());
    let world = Arc::new(World::new(TO_FRA, move |request: Request<Body>, number| {
        let (begun, go_on) = (Arc::clone(&told.0), Arc::clone(&told.1));
        let response = origins.answer(&request, "max-age=600");
        async move {
            if number == 0 {
                begun.notify_one();
                go_on.notified().await;
            }
            response
        }
    }));
    let slow = Arc::clone(&world);
    let early = tokio::spawn(async move { version(&slow, LHR, "/a").await });
    begun.notified().await;
    shelf.change("/a");
    purge(&world, SYD, "a", Depth::Soft).await;
    for centre in [FRA, SYD, LHR] {
        assert_eq!(version(&world, centre, "/a").await, 1);
    }
    go_on.notify_one();
    assert_eq!(early.await.unwrap(), 0);
    for centre in [FRA, SYD, LHR] {
        assert_eq!(version(&world, centre, "/a").await, 1);
    }
}

#[tokio::test]
async fn stale_if_error_is_not_shared_with_followers() {
    let (shelf, is_failing) = (Shelf::default(), Arc::new(AtomicBool::new(false)));
    let (origins, fails) = (shelf.clone(), Arc::clone(&is_failing));
    let world = World::new(TO_FRA, move |request, _| {
        let mut response = origins.answer(&request, "max-age=600, stale-if-error=600");
        let fails = fails.load(SeqCst);
        async move {
            if fails {
                sleep(Duration::from_millis(200)).await;
                response = with("no-store", String::new());
                *response.status_mut() = http_stack::StatusCode::INTERNAL_SERVER_ERROR;
            }
            response
        }
    });
    version(&world, FRA, "/a").await;
    purge(&world, FRA, "a", Depth::Soft).await;
    is_failing.store(true, SeqCst);
    let (own, other) = tokio::join!(world.get(FRA, "/a"), world.get(SYD, "/a"));
    assert_eq!((own.status, &own.body[..]), (200, &b"0"[..]));
    assert_eq!(other.status, 500, "{other:?}");
}

#[tokio::test]
async fn soft_purged_object_is_not_given_to_peers() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let control = "max-age=600, stale-while-revalidate=600, stale-if-error=600";
    let world = World::new(TO_FRA, move |request, _| std::future::ready(origins.answer(&request, control)));
    version(&world, FRA, "/a").await;
    shelf.change("/a");
    purge(&world, FRA, "a", Depth::Soft).await;
    // The origin permits stale responses to clients of fra. syd would not know that the response is
    // stale.
    assert_eq!(version(&world, SYD, "/a").await, 1);
    assert_eq!(version(&world, FRA, "/a").await, 1);
}

#[tokio::test]
async fn partitioned_peer_gets_the_purge_later() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let world = World::with_gates(TO_FRA, move |request, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    });
    for centre in [LHR, FRA, SYD] {
        version(&world, centre, "/a").await;
    }
    world.let_pass(SYD, LHR, false);
    world.let_pass(SYD, FRA, false);
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Soft).await;
    assert!(told[0].data_centre == "fra" && told[0].applied_ms.is_some(), "{told:?}");
    assert!(told[1].data_centre == "syd" && told[1].unreachable.is_some(), "{told:?}");
    assert_eq!([version(&world, LHR, "/a").await, version(&world, FRA, "/a").await], [1, 1]);
    assert_eq!(version(&world, SYD, "/a").await, 0);
    shelf.change("/b");
    purge(&world, SYD, "b", Depth::Soft).await;
    assert_eq!(version(&world, SYD, "/b").await, 1);
    world.let_pass(SYD, FRA, true);
    even(&world, SYD, LHR).await;
    even(&world, LHR, SYD).await;
    assert_eq!(version(&world, SYD, "/a").await, 1);
}

#[tokio::test]
async fn restart_without_disk_keeps_purges() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let mut world = World::with_gates(TO_FRA, move |request, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    });
    version(&world, SYD, "/a").await;
    world.let_pass(FRA, LHR, false);
    world.let_pass(FRA, SYD, false);
    shelf.change("/a");
    purge(&world, LHR, "a", Depth::Hard).await;
    world.restart(LHR, None);
    even(&world, LHR, SYD).await;
    // fra lacks a purge and cannot request it. lhr reaches fra but does not receive its stale
    // object.
    world.let_pass(FRA, LHR, true);
    assert_eq!(version(&world, LHR, "/a").await, 1);
    even(&world, FRA, LHR).await;
}

#[tokio::test]
async fn restart_with_disk_resumes_its_position() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let mut world = World::with_gates(TO_FRA, move |request, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    });
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    world.restart(FRA, Some(DiskTier::open(&disk).unwrap()));
    for path in ["/a", "/b", "/c"] {
        assert_eq!(version(&world, FRA, path).await, 0);
    }
    shelf.change("/a");
    purge(&world, LHR, "a", Depth::Hard).await;
    // No other data centre receives the first purge, and fra does not receive the second.
    world.let_pass(FRA, LHR, false);
    world.let_pass(FRA, SYD, false);
    shelf.change("/b");
    purge(&world, FRA, "b", Depth::Soft).await;
    shelf.change("/c");
    purge(&world, LHR, "c", Depth::Soft).await;
    let before = world.centres[FRA].worker.purge_log.position_header();
    let epoch = world.centres[FRA].worker.store.epoch();
    world.centres[FRA].worker.disk.as_ref().unwrap().release();
    world.restart(FRA, Some(DiskTier::open(&disk).unwrap()));
    assert_eq!(world.centres[FRA].worker.purge_log.position_header(), before);
    assert_eq!(world.centres[FRA].worker.store.epoch(), epoch);
    assert_eq!([version(&world, FRA, "/a").await, version(&world, FRA, "/b").await], [1, 1]);
    assert_eq!(version(&world, FRA, "/c").await, 0);
    world.let_pass(FRA, LHR, true);
    even(&world, FRA, LHR).await;
    even(&world, LHR, FRA).await;
    assert_eq!(version(&world, FRA, "/c").await, 1);
    assert_eq!(version(&world, LHR, "/b").await, 1);
}

#[tokio::test]
async fn purge_reports_acknowledging_data_centres() {
    let shelf = Shelf::default();
    let origins = shelf.clone();
    let world = World::with_gates(TO_FRA, move |request, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    });
    let node = &world.centres[LHR].worker.node;
    let ask = async |method: Method, path: &str, body: &str| -> Value {
        let mut request = Request::new(Body::whole(body.to_owned()));
        (*request.method_mut(), *request.uri_mut()) = (method, path.parse().unwrap());
        request.headers_mut().insert("authorization", format!("Bearer {}", world.token).parse().unwrap());
        let response = server::serve(node, request).await;
        serde_json::from_slice(&response.into_body().collect(1 << 20).await.unwrap()).unwrap()
    };
    world.block(LHR, SYD);
    let path = "/client/v4/zones/z/purge_cache";
    let told = ask(Method::POST, path, r#"{"tags":["a"]}"#).await;
    assert_eq!((&told["success"], &told["result"]["epoch"]), (&json!(true), &json!(1)), "{told}");
    let there = &told["result"]["data_centres"];
    assert!(there[0]["data_centre"] == "fra" && there[0]["applied_ms"].is_number(), "{told}");
    assert!(there[1]["data_centre"] == "syd" && there[1]["unreachable"].is_string(), "{told}");
    let message = |number: usize| told["messages"][number]["message"].as_str().unwrap().to_owned();
    assert!(message(0).starts_with("fra acknowledged the purge after "), "{told}");
    assert!(message(1).starts_with("syd has not acknowledged the purge"), "{told}");
    let status = ask(Method::GET, "/status", "").await;
    let purges = &status["purges"];
    assert_eq!(
        (&purges["position"][0]["data_centre"], &purges["position"][0]["purges"]),
        (&json!("lhr"), &json!(1))
    );
    assert_eq!((&purges["cut_off"], &purges["data_centres"][0]["behind"]), (&json!(false), &json!(0)));
    let long = format!(r#"{{"tags":["{}"]}}"#, "x".repeat(9000));
    let told = ask(Method::POST, path, &long).await;
    assert_eq!(told["errors"][0]["message"], "a name is longer than 8192 bytes");
}

#[tokio::test]
async fn tier_settings_api_reports_the_config() {
    let world = World::new("tiers = \"smart\"\n", async |_, _| with("max-age=60", "it"));
    let ask = async |method: Method, path: &str, token: &str, body: &str| -> (u16, Value) {
        let mut request = Request::new(Body::whole(body.to_owned()));
        (*request.method_mut(), *request.uri_mut()) =
            (method, format!("/client/v4/zones/{path}").parse().unwrap());
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let response = server::serve(&world.centres[LHR].worker.node, request).await;
        let status = response.status().as_u16();
        let text = response.into_body().collect(1 << 20).await.unwrap();
        (status, serde_json::from_slice(&text).unwrap())
    };
    for (path, id, value) in [
        ("z/argo/tiered_caching", "tiered_caching", "on"),
        ("z/cache/tiered_cache_smart_topology_enable", "tiered_cache_smart_topology_enable", "on"),
        ("z/cache/regional_tiered_cache", "tc_regional", "off"),
    ] {
        let result = json!({"id": id, "value": value, "editable": false, "modified_on": null});
        let envelope = json!({"success": true, "errors": [], "messages": [], "result": result});
        assert_eq!(ask(Method::GET, path, "", "").await, (200, envelope.clone()));
        let same = json!({ "value": value }).to_string();
        assert_eq!(ask(Method::PATCH, path, &world.token, &same).await, (200, envelope));
        assert_eq!(ask(Method::PATCH, path, "", &same).await.0, 401);
        let other = json!({ "value": if value == "on" { "off" } else { "on" } }).to_string();
        let (status, refused) = ask(Method::PATCH, path, &world.token, &other).await;
        let why = refused["errors"][0]["message"].as_str().unwrap();
        assert!(status == 409 && why.starts_with("this setting comes from the network's file"), "{why}");
        assert_eq!(ask(Method::PATCH, path, &world.token, "{\"value\":1}").await.0, 400);
    }
    assert_eq!(ask(Method::GET, "y/argo/tiered_caching", "", "").await.0, 404);
}

/// xorshift64: the same results on every machine.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

#[tokio::test]
async fn purges_hold_under_any_failure() {
    whatever_happens("", |_| ()).await;
}

pub(super) async fn whatever_happens(bus: &str, mut happens: impl FnMut(usize)) {
    const PATHS: [&str; 4] = ["/a", "/b", "/c", "/d"];
    let seed = 0x9e37_79b9_7f4a_7c15;
    let shelf = Shelf::default();
    let (origins, delays) = (shelf.clone(), Arc::new(Mutex::new(seed)));
    let world = Arc::new(World::on_bus(bus, TO_FRA, move |request: Request<Body>, _| {
        let delay = u64::try_from(next(&mut delays.lock().unwrap()) % 20).unwrap();
        let response = origins.answer(&request, "max-age=600");
        async move {
            sleep(Duration::from_millis(delay)).await;
            response
        }
    }));
    // By data centre and path: the oldest version that clients may receive.
    let promised: Arc<Mutex<HashMap<(usize, &str), u64>>> = Arc::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::new(AtomicUsize::new(0));
    let mut visitors = tokio::task::JoinSet::new();
    for number in 0..24_usize {
        let (world, promised) = (Arc::clone(&world), Arc::clone(&promised));
        let (is_over, seen) = (Arc::clone(&is_over), Arc::clone(&seen));
        visitors.spawn(async move {
            let (centre, mut state) = (number % 3, seed ^ (number as u64 + 1));
            while !is_over.load(SeqCst) {
                let path = PATHS[next(&mut state) % PATHS.len()];
                let least = promised.lock().unwrap().get(&(centre, path)).copied().unwrap_or_default();
                let version = version(&world, centre, path).await;
                assert!(version >= least, "{centre} shows {path} {version} after {least}");
                seen.fetch_add(1, SeqCst);
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
    let mut state = seed;
    let (mut purges, mut unreached) = (0, 0);
    let end = Instant::now() + Duration::from_secs(6);
    let latest = end + Duration::from_secs(60);
    while Instant::now() < end || unreached == 0 && Instant::now() < latest {
        let (a, b) = (next(&mut state) % 3, next(&mut state) % 3);
        match next(&mut state) % 12 {
            0 if a != b => {
                world.let_pass(a, b, false);
                happens(next(&mut state));
            }
            1 | 2 if a != b => world.let_pass(a, b, true),
            _ => {
                let path = PATHS[b];
                let depth = if next(&mut state).is_multiple_of(2) { Depth::Soft } else { Depth::Hard };
                let version = shelf.change(path);
                let told = purge(&world, a, &path[1..], depth).await;
                let mut promised = promised.lock().unwrap();
                let mut promise = |centre| {
                    let least = promised.entry((centre, path)).or_default();
                    *least = version.max(*least);
                };
                promise(a);
                for there in &told {
                    let centre =
                        super::test_network::NAMES.iter().position(|name| *name == there.data_centre);
                    match there.applied_ms {
                        Some(_) => promise(centre.unwrap()),
                        None => unreached += 1,
                    }
                }
                purges += 1;
            }
        }
        sleep(Duration::from_millis(2)).await;
    }
    is_over.store(true, SeqCst);
    while let Some(visitor) = visitors.join_next().await {
        visitor.unwrap();
    }
    let seen = seen.load(SeqCst);
    assert!(
        purges > 20 && seen > 1000 && unreached > 0,
        "{purges} purges, {unreached} not reached, {seen} seen"
    );
    for (a, b) in [(LHR, FRA), (FRA, SYD), (LHR, SYD)] {
        world.let_pass(a, b, true);
    }
    for (a, b) in [(LHR, FRA), (FRA, LHR), (SYD, LHR), (LHR, SYD)] {
        even(&world, a, b).await;
    }
}
