//! Purges through a NATS stream with cut links, a failed server and a damaged stream.

use std::time::Duration;

use http_cache::purge::Depth;
use http_stack::{Body, Request};
use kv_nats::Journal;
use tempfile::TempDir;
use tokio::time::sleep;

use super::{
    nats_server::Nats,
    purges::{FRA, LHR, SYD, Shelf, TO_FRA, even, purge, version, whatever_happens},
    test_network::World,
};
use crate::{admin::api::BusStatus, config::Disk, store::disk::DiskTier};

fn world(shelf: &Shelf, line: &str) -> World {
    let origins = shelf.clone();
    World::on_bus(line, TO_FRA, move |request: Request<Body>, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    })
}

fn status(world: &World, centre: usize) -> BusStatus {
    world.centres[centre].worker.node.nats_status().unwrap()
}

async fn until(world: &World, centre: usize, is_so: impl Fn(&BusStatus) -> bool) -> BusStatus {
    loop {
        let status = status(world, centre);
        if is_so(&status) {
            return status;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

fn works(status: &BusStatus) -> bool {
    status.error.is_none()
}

async fn all_work(world: &World) {
    for centre in [LHR, FRA, SYD] {
        until(world, centre, works).await;
    }
}

fn cut_all(world: &World) {
    for (a, b) in [(LHR, FRA), (FRA, SYD), (LHR, SYD)] {
        world.let_pass(a, b, false);
    }
}

fn disk(folder: &TempDir) -> Disk {
    Disk { path: folder.path().join("cache"), bytes: 64 << 20 }
}

#[tokio::test]
async fn purge_reaches_an_unlinked_data_centre() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    for centre in [LHR, FRA, SYD] {
        assert_eq!(version(&world, centre, "/a").await, 0);
    }
    cut_all(&world);
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Soft).await;
    assert!(told.iter().all(|there| there.applied_ms.is_some() && there.unreachable.is_none()), "{told:?}");
    for centre in [LHR, FRA, SYD] {
        assert_eq!(version(&world, centre, "/a").await, 1);
    }
    // The stream delivers an entry before it acknowledges it to the publisher.
    until(&world, LHR, |status| (status.put, status.waiting) == (1, 0)).await;
    until(&world, SYD, |status| status.taken == 1).await;
}

#[tokio::test]
async fn stream_catches_up_after_nats_outage() {
    let (mut nats, shelf) = (Nats::absent(), Shelf::default());
    let mut world = world(&shelf, &nats.line("/OWN"));
    let why = until(&world, LHR, |status| status.error.as_ref().is_some_and(|why| why.contains("refused")));
    let why = why.await.error.unwrap();
    assert!(why.starts_with("NATS at nats://127.0.0.1:") && why.contains("/OWN cannot be used"), "{why}");
    assert_eq!(version(&world, SYD, "/a").await, 0);
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Soft).await;
    assert!(told.iter().all(|there| there.applied_ms.is_some()), "{told:?}");
    assert_eq!((version(&world, SYD, "/a").await, status(&world, LHR).waiting), (1, 1));
    nats.begin().await;
    until(&world, LHR, |status| works(status) && status.waiting == 0).await;
    cut_all(&world);
    world.restart(SYD, None);
    even(&world, SYD, LHR).await;
}

#[tokio::test]
async fn purge_during_nats_outage_arrives_later() {
    let (mut nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    version(&world, SYD, "/a").await;
    shelf.change("/b");
    purge(&world, LHR, "b", Depth::Soft).await;
    nats.kill();
    cut_all(&world);
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Hard).await;
    assert!(told.iter().all(|there| there.unreachable.is_some()), "{told:?}");
    assert_eq!(version(&world, SYD, "/a").await, 0);
    until(&world, SYD, |status| !works(status)).await;
    nats.begin().await;
    even(&world, SYD, LHR).await;
    even(&world, FRA, LHR).await;
    assert_eq!(version(&world, SYD, "/a").await, 1);
    assert_eq!(status(&world, SYD).resets, 0);
}

#[tokio::test]
async fn reachable_peer_publishes_for_unreachable_one() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    // lhr purges, only fra receives it over the link, and lhr ends.
    let network = world.centres[LHR].worker.network();
    world.centres[LHR].worker.node.join_nats(None);
    world.let_pass(SYD, LHR, false);
    world.let_pass(SYD, FRA, false);
    shelf.change("/a");
    purge(&world, LHR, "a", Depth::Soft).await;
    assert!(network.bus.is_some());
    even(&world, SYD, LHR).await;
    until(&world, FRA, |status| status.put == 1).await;
    world.restart(LHR, None);
    until(&world, LHR, works).await;
}

#[tokio::test]
async fn restart_applies_only_missed_purges() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let folder = TempDir::new().unwrap();
    world.restart(SYD, Some(DiskTier::open(&disk(&folder)).unwrap()));
    until(&world, SYD, works).await;
    shelf.change("/c");
    purge(&world, LHR, "c", Depth::Soft).await;
    for path in ["/a", "/b"] {
        version(&world, SYD, path).await;
    }
    let epoch = world.centres[SYD].worker.store.epoch();
    world.centres[SYD].worker.disk.as_ref().unwrap().release();
    world.centres[SYD].worker.node.join_nats(None);
    cut_all(&world);
    for path in ["/a", "/b"] {
        shelf.change(path);
    }
    purge(&world, LHR, "a", Depth::Soft).await;
    world.restart(SYD, Some(DiskTier::open(&disk(&folder)).unwrap()));
    even(&world, SYD, LHR).await;
    assert_eq!(world.centres[SYD].worker.store.epoch(), epoch + 1);
    assert_eq!([version(&world, SYD, "/a").await, version(&world, SYD, "/b").await], [1, 0]);
}

#[tokio::test]
async fn gap_beyond_retention_makes_everything_stale() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let folder = TempDir::new().unwrap();
    world.restart(SYD, Some(DiskTier::open(&disk(&folder)).unwrap()));
    until(&world, SYD, works).await;
    version(&world, SYD, "/a").await;
    world.centres[SYD].worker.disk.as_ref().unwrap().release();
    world.centres[SYD].worker.node.join_nats(None);
    cut_all(&world);
    shelf.change("/a");
    purge(&world, LHR, "a", Depth::Soft).await;
    purge(&world, LHR, "b", Depth::Soft).await;
    until(&world, LHR, |status| status.waiting == 0).await;
    // Like the stream's limit, which keeps the last message of each log.
    let purged = nats.ask("$JS.API.STREAM.PURGE.LONGHAUL_PURGES", "{\"keep\":1}");
    assert!(purged.contains("\"success\":true,\"purged\":1"), "{purged}");
    world.restart(SYD, Some(DiskTier::open(&disk(&folder)).unwrap()));
    even(&world, SYD, LHR).await;
    assert_eq!(version(&world, SYD, "/a").await, 1);
}

fn delete_stream(nats: &Nats) {
    let deleted = nats.ask("$JS.API.STREAM.DELETE.LONGHAUL_PURGES", "");
    assert!(deleted.contains("\"success\":true"), "{deleted}");
}

#[tokio::test]
async fn recreated_stream_makes_everything_stale() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    purge(&world, LHR, "a", Depth::Soft).await;
    cut_all(&world);
    for centre in [LHR, FRA, SYD] {
        assert_eq!((version(&world, centre, "/b").await, status(&world, centre).resets), (0, 0));
    }
    shelf.change("/b");
    delete_stream(&nats);
    for centre in [LHR, FRA, SYD] {
        until(&world, centre, |status| status.resets == 1).await;
    }
    for centre in [LHR, FRA, SYD] {
        assert_eq!(version(&world, centre, "/b").await, 1);
    }
    all_work(&world).await;
    until(&world, LHR, |status| status.waiting == 0).await;
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Soft).await;
    assert!(told.iter().all(|there| there.applied_ms.is_some()), "{told:?}");
    assert_eq!(status(&world, SYD).resets, 1);
}

#[tokio::test]
async fn stream_recreated_while_away_is_detected() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let streams = TempDir::new().unwrap();
    let node = &world.centres[SYD].worker.node;
    let begin = || {
        let address = node.network().bus.clone().unwrap();
        node.join_nats(Some(Journal::new(address, "n", Some(streams.path())).unwrap()));
    };
    purge(&world, LHR, "a", Depth::Soft).await;
    begin();
    until(&world, SYD, works).await;
    let file = streams.path().join("LONGHAUL_PURGES.json");
    while !std::fs::read_to_string(&file).is_ok_and(|text| text.contains("\"last_sequence\":1")) {
        sleep(Duration::from_millis(10)).await;
    }
    version(&world, SYD, "/b").await;
    node.join_nats(None);
    begin();
    until(&world, SYD, works).await;
    assert_eq!(status(&world, SYD).resets, 0, "it is the same");
    node.join_nats(None);
    shelf.change("/b");
    delete_stream(&nats);
    for centre in [LHR, FRA] {
        until(&world, centre, |status| status.resets == 1).await;
    }
    begin();
    until(&world, SYD, |status| status.resets == 1).await;
    assert_eq!(version(&world, SYD, "/b").await, 1);
}

#[tokio::test]
async fn garbage_is_skipped_and_counted() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    cut_all(&world);
    version(&world, SYD, "/a").await;
    let long = "x".repeat(200 << 10);
    for (part, text) in [
        ("1f", "{}"),
        ("%ff", "purges"),
        ("2f", long.as_str()),
        ("1f", r#"{"data_centre":"lhr","log":"2f","first":1,"purges":[]}"#),
        ("all.fra", "hello"),
        ("all.fra", r#"{"network":"m","log":"1","position":""}"#),
    ] {
        nats.tell(&format!("LONGHAUL_PURGES.n.{part}"), text);
    }
    shelf.change("/a");
    let told = purge(&world, LHR, "a", Depth::Soft).await;
    assert!(told.iter().all(|there| there.applied_ms.is_some()), "{told:?}");
    assert_eq!(version(&world, SYD, "/a").await, 1);
    until(&world, SYD, |status| status.unread == 6).await;
}

#[tokio::test]
async fn stream_of_another_network_is_not_used() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    for (name, settings) in [
        ("OTHER", r#""subjects":["OTHER.m.*"],"discard":"new""#),
        ("ORDERS", r#""subjects":["orders.>"]"#),
        ("SHORT", r#""subjects":["SHORT.n.*"],"discard":"new","max_age":60000000000"#),
    ] {
        let text = format!(
            r#"{{"name":"{name}","retention":"limits","storage":"file","num_replicas":1,"max_consumers":-1,"max_msgs":-1,"max_bytes":-1,{settings}}}"#
        );
        let made = nats.ask(&format!("$JS.API.STREAM.CREATE.{name}"), &text);
        assert!(!made.contains("error"), "{made}");
    }
    for (name, expected) in [
        ("OTHER", "stream OTHER belongs to the network \"m\", but this network is \"n\": use another stream"),
        ("ORDERS", "stream ORDERS already exists and holds something else (orders.>): use another stream"),
        ("SHORT", "stream SHORT already exists and cannot be used: it needs no max_age"),
    ] {
        let world = world(&shelf, &nats.line(&format!("/{name}")));
        let is_told = |status: &BusStatus| status.error.as_ref().is_some_and(|why| why.contains(expected));
        until(&world, LHR, is_told).await;
        let told = purge(&world, LHR, "a", Depth::Soft).await;
        assert!(told.iter().all(|there| there.applied_ms.is_some()), "{told:?}");
    }
}

#[tokio::test]
async fn duplicate_node_name_is_reported() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let word = r#"{"network":"n","log":"77","position":""}"#;
    nats.tell("LONGHAUL_PURGES.n.all.syd", word);
    nats.tell("LONGHAUL_PURGES.n.all.syd", "{}");
    until(&world, SYD, |status| status.unread == 1).await;
    assert_eq!(status(&world, SYD).namesake, None);
    nats.tell("LONGHAUL_PURGES.n.all.syd", word);
    let status = until(&world, SYD, |status| status.namesake.is_some()).await;
    let told = status.namesake.unwrap();
    assert!(told.starts_with("another process also runs as data centre \"syd\": stop one of them"), "{told}");
}

#[tokio::test]
async fn fully_applied_log_is_removed_from_the_stream() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    purge(&world, SYD, "a", Depth::Soft).await;
    let old = format!("{:x}", world.centres[SYD].worker.purge_log.last_own_entry().0.0);
    let is_there = || {
        let ask = format!(r#"{{"subjects_filter":"LONGHAUL_PURGES.n.{old}"}}"#);
        nats.ask("$JS.API.STREAM.INFO.LONGHAUL_PURGES", &ask).contains(&format!("n.{old}\":"))
    };
    assert!(is_there());
    world.centres[SYD].worker.node.join_nats(None);
    world.restart(SYD, None);
    cut_all(&world);
    while is_there() {
        sleep(Duration::from_millis(50)).await;
    }
    for centre in [LHR, FRA, SYD] {
        until(&world, centre, |status| status.waiting == 0).await;
    }
}

#[tokio::test]
async fn purges_hold_under_any_stream_failure() {
    let mut nats = Nats::start().await;
    let line = nats.line("");
    whatever_happens(&line, |number| match (number % 3, nats.runs()) {
        (0, true) => nats.kill(),
        (1, false) => nats.spawn(),
        _ => {}
    })
    .await;
}
