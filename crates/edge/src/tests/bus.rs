//! Purges through a NATS stream with cut links, a failed server and a damaged stream.

use std::time::Duration;

use cache::purge::Depth;
use http::{Body, Request};
use jetstream::Journal;
use tempfile::TempDir;
use tokio::time::sleep;

use super::{
    nats::Nats,
    network::World,
    purges::{FRA, LHR, SYD, Shelf, TO_FRA, even, purge, version, whatever_happens},
};
use crate::{network::Disk, on_disk::OnDisk, operator::BusStatus};

/// A network with this bus.
fn world(shelf: &Shelf, line: &str) -> World {
    let origins = shelf.clone();
    World::on_bus(line, TO_FRA, move |request: Request<Body>, _| {
        std::future::ready(origins.answer(&request, "max-age=600"))
    })
}

fn status(world: &World, centre: usize) -> BusStatus {
    world.centres[centre].core.edge.bus_status().unwrap()
}

/// Waits until the bus status of a data centre satisfies a condition.
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

/// Waits until all data centres use the bus and know each other through it.
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
async fn a_purge_reaches_a_data_centre_whose_links_are_cut() {
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
async fn without_nats_links_go_on_and_the_stream_catches_up() {
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
    // A data centre that starts later, without links, receives the purge.
    cut_all(&world);
    world.restart(SYD, None);
    even(&world, SYD, LHR).await;
}

#[tokio::test]
async fn what_was_purged_while_the_server_was_dead_arrives_when_it_is_back() {
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
    // It has acknowledged no purge.
    assert_eq!(version(&world, SYD, "/a").await, 0);
    until(&world, SYD, |status| !works(status)).await;
    nats.begin().await;
    even(&world, SYD, LHR).await;
    even(&world, FRA, LHR).await;
    assert_eq!(version(&world, SYD, "/a").await, 1);
    // It retains all entries.
    assert_eq!(status(&world, SYD).resets, 0);
}

#[tokio::test]
async fn who_reaches_the_stream_puts_into_it_what_another_one_cannot() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    // lhr purges, only fra receives it over the link, and lhr ends.
    let network = world.centres[LHR].core.network();
    world.centres[LHR].core.edge.take_part(None);
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
async fn a_restart_takes_what_it_missed_and_no_more() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let folder = TempDir::new().unwrap();
    world.restart(SYD, Some(OnDisk::open(&disk(&folder)).unwrap()));
    until(&world, SYD, works).await;
    shelf.change("/c");
    purge(&world, LHR, "c", Depth::Soft).await;
    for path in ["/a", "/b"] {
        version(&world, SYD, path).await;
    }
    let epoch = world.centres[SYD].core.store.epoch();
    world.centres[SYD].core.on_disk.as_ref().unwrap().release();
    world.centres[SYD].core.edge.take_part(None);
    cut_all(&world);
    for path in ["/a", "/b"] {
        shelf.change(path);
    }
    purge(&world, LHR, "a", Depth::Soft).await;
    world.restart(SYD, Some(OnDisk::open(&disk(&folder)).unwrap()));
    even(&world, SYD, LHR).await;
    // The new purge is applied once, and the old one is not repeated.
    assert_eq!(world.centres[SYD].core.store.epoch(), epoch + 1);
    assert_eq!([version(&world, SYD, "/a").await, version(&world, SYD, "/b").await], [1, 0]);
}

#[tokio::test]
async fn who_was_away_for_longer_than_the_stream_remembers_takes_everything_for_stale() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let folder = TempDir::new().unwrap();
    world.restart(SYD, Some(OnDisk::open(&disk(&folder)).unwrap()));
    until(&world, SYD, works).await;
    version(&world, SYD, "/a").await;
    world.centres[SYD].core.on_disk.as_ref().unwrap().release();
    world.centres[SYD].core.edge.take_part(None);
    cut_all(&world);
    shelf.change("/a");
    purge(&world, LHR, "a", Depth::Soft).await;
    purge(&world, LHR, "b", Depth::Soft).await;
    until(&world, LHR, |status| status.waiting == 0).await;
    // Like the stream's limit, which keeps the last message of each log.
    let purged = nats.ask("$JS.API.STREAM.PURGE.LONGHAUL_PURGES", "{\"keep\":1}");
    assert!(purged.contains("\"success\":true,\"purged\":1"), "{purged}");
    world.restart(SYD, Some(OnDisk::open(&disk(&folder)).unwrap()));
    even(&world, SYD, LHR).await;
    assert_eq!(version(&world, SYD, "/a").await, 1);
}

/// Deletes the stream. The data centres recreate it.
fn delete_stream(nats: &Nats) {
    let deleted = nats.ask("$JS.API.STREAM.DELETE.LONGHAUL_PURGES", "");
    assert!(deleted.contains("\"success\":true"), "{deleted}");
}

#[tokio::test]
async fn a_stream_that_was_made_anew_may_have_lost_purges() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    purge(&world, LHR, "a", Depth::Soft).await;
    cut_all(&world);
    for centre in [LHR, FRA, SYD] {
        assert_eq!((version(&world, centre, "/b").await, status(&world, centre).resets), (0, 0));
    }
    // Like an object purged by a data centre that no longer exists.
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
async fn a_stream_that_was_made_anew_while_a_data_centre_was_away_is_noticed() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let streams = TempDir::new().unwrap();
    let edge = &world.centres[SYD].core.edge;
    let begin = || {
        let address = edge.network().bus.clone().unwrap();
        edge.take_part(Some(Journal::new(address, "n", Some(streams.path())).unwrap()));
    };
    purge(&world, LHR, "a", Depth::Soft).await;
    begin();
    until(&world, SYD, works).await;
    let file = streams.path().join("LONGHAUL_PURGES.json");
    while !std::fs::read_to_string(&file).is_ok_and(|text| text.contains("\"last_sequence\":1")) {
        sleep(Duration::from_millis(10)).await;
    }
    version(&world, SYD, "/b").await;
    edge.take_part(None);
    begin();
    until(&world, SYD, works).await;
    assert_eq!(status(&world, SYD).resets, 0, "it is the same");
    edge.take_part(None);
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
async fn garbage_is_passed_over_and_counted() {
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
        // Its log is not the log in the subject.
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
async fn a_stream_that_is_not_this_networks_is_not_used() {
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
        // Links still work.
        let told = purge(&world, LHR, "a", Depth::Soft).await;
        assert!(told.iter().all(|there| there.applied_ms.is_some()), "{told:?}");
    }
}

#[tokio::test]
async fn two_data_centres_of_one_name_are_told_of_each_other() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    let word = r#"{"network":"n","log":"77","position":""}"#;
    nats.tell("LONGHAUL_PURGES.n.all.syd", word);
    // One message may be the last one of a process that has ended.
    nats.tell("LONGHAUL_PURGES.n.all.syd", "{}");
    until(&world, SYD, |status| status.unread == 1).await;
    assert_eq!(status(&world, SYD).namesake, None);
    nats.tell("LONGHAUL_PURGES.n.all.syd", word);
    let status = until(&world, SYD, |status| status.namesake.is_some()).await;
    let told = status.namesake.unwrap();
    assert!(told.starts_with("another process also runs as data centre \"syd\": stop one of them"), "{told}");
}

#[tokio::test]
async fn a_log_that_all_have_leaves_the_stream() {
    let (nats, shelf) = (Nats::start().await, Shelf::default());
    let mut world = world(&shelf, &nats.line(""));
    all_work(&world).await;
    purge(&world, SYD, "a", Depth::Soft).await;
    let old = format!("{:x}", world.centres[SYD].core.bus.last_own().0.0);
    let is_there = || {
        let ask = format!(r#"{{"subjects_filter":"LONGHAUL_PURGES.n.{old}"}}"#);
        nats.ask("$JS.API.STREAM.INFO.LONGHAUL_PURGES", &ask).contains(&format!("n.{old}\":"))
    };
    assert!(is_there());
    world.centres[SYD].core.edge.take_part(None);
    world.restart(SYD, None);
    // With cut links, the end of the log is received through the bus.
    cut_all(&world);
    while is_there() {
        sleep(Duration::from_millis(50)).await;
    }
    for centre in [LHR, FRA, SYD] {
        until(&world, centre, |status| status.waiting == 0).await;
    }
}

#[tokio::test]
async fn no_visitor_sees_what_was_there_before_whatever_happens_to_the_bus() {
    let mut nats = Nats::start().await;
    let line = nats.line("");
    whatever_happens(&line, |number| match (number % 3, nats.runs()) {
        (0, true) => nats.kill(),
        (1, false) => nats.spawn(),
        _ => {}
    })
    .await;
}
