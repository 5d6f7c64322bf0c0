//! Objects on disk after a restart.

use std::{fs, sync::Arc};

use cache::purge::{Depth, Purge};
use http::{Body, Method, Request};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{Stage, came, request, with};
use crate::network::Disk;

fn disk(directory: &TempDir) -> Disk {
    Disk { path: directory.path().join("cache"), bytes: 64 << 20 }
}

async fn counted(_: Request<Body>, number: usize) -> http::Response<Body> {
    let mut response = with("max-age=60", format!("answer {number} {}", "x".repeat(200_000)));
    response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
    response.headers_mut().insert("cache-tag", "a, b".parse().unwrap());
    response
}

#[tokio::test]
async fn what_was_stored_is_there_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("vary", "foo".parse().unwrap());
        response
    });
    let first = stage.get("/", &[("foo", "1")]).await;
    let second = stage.get("/", &[("foo", "2")]).await;
    stage.restart(&disk).await;
    for (foo, before) in [("1", &first), ("2", &second)] {
        for _ in 0..2 {
            let now = stage.get("/", &[("foo", foo)]).await;
            assert_eq!((now.told.as_str(), &now.body), ("lhr; hit", &before.body));
        }
    }
    assert_eq!(stage.get("/", &[("foo", "3")]).await.told, "lhr; fwd=vary-miss; fwd-status=200; stored");
    assert_eq!(stage.asked(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_ask_at_once_for_what_only_the_disk_has_ask_no_origin() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage =
        Stage::with_disk(Some(&disk), "", async |_, number| with("max-age=60", number.to_string()));
    let paths: Vec<_> = (0..100).map(|number| format!("/{number}")).collect();
    for path in &paths {
        stage.get(path, &[]).await;
    }
    stage.restart(&disk).await;
    for path in &paths {
        let mut asking = JoinSet::new();
        for _ in 0..8 {
            let (edge, request) = (Arc::clone(&stage.edge), request(Method::GET, path, &[]));
            asking.spawn(async move { came(edge.serve(request).await).await.told });
        }
        let told = asking.join_all().await;
        assert!(told.iter().all(|told| told == "lhr; hit"), "{path}: {told:?}");
    }
    assert_eq!(stage.asked(), paths.len());
}

#[tokio::test]
async fn a_part_of_what_is_on_disk_is_served_from_there() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", counted);
    let whole = stage.get("/", &[]).await.body;
    stage.restart(&disk).await;
    let part = stage.get("/", &[("range", "bytes=100000-100009")]).await;
    assert_eq!((part.status, &part.body[..]), (206, &whole[100_000..100_010]));
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn a_purge_counts_for_what_is_on_disk_before_and_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", counted);
    stage.get("/", &[]).await;
    stage.edge.purge("z", vec![Purge::Tag("b".into())], Depth::Soft);
    stage.restart(&disk).await;
    assert_eq!(stage.edge.store.epoch(), 1);
    assert!(stage.get("/", &[]).await.body.starts_with(b"answer 1"));
    stage.restart(&disk).await;
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
    stage.restart(&disk).await;
    // The purge does not count objects that are only on disk.
    assert_eq!(stage.edge.purge("z", vec![Purge::Everything], Depth::Hard), Some((2, 0)));
    assert!(stage.get("/", &[]).await.body.starts_with(b"answer 2"));
    stage.restart(&disk).await;
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(stage.asked(), 3);
}

#[tokio::test]
async fn what_its_origin_confirmed_is_fresh_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let mut response = counted(request, 0).await;
        if number > 0 {
            *response.status_mut() = http::StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
            response.headers_mut().insert("x-confirmed", "yes".parse().unwrap());
        }
        response
    });
    stage.get("/", &[]).await;
    stage.edge.purge("z", vec![Purge::Everything], Depth::Soft);
    let confirmed = "lhr; fwd=stale; fwd-status=304; stored";
    assert_eq!(stage.get("/", &[]).await.told, confirmed);
    stage.restart(&disk).await;
    let request = request(Method::GET, "/", &[]);
    assert_eq!(stage.edge.serve(request).await.headers()["x-confirmed"], "yes");
    assert_eq!(stage.asked(), 2);
}

#[tokio::test]
async fn a_disk_that_breaks_is_a_miss() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", counted);
    stage.get("/", &[]).await;
    stage.edge.on_disk.as_ref().unwrap().close();
    for file in fs::read_dir(&disk.path).unwrap().map(Result::unwrap) {
        let mut bytes = fs::read(file.path()).unwrap();
        // Corrupt bodies and records but not the file headers in the first bytes.
        bytes.iter_mut().skip(64).for_each(|byte| *byte ^= 1);
        if bytes.len() > 100_000 {
            fs::write(file.path(), bytes).unwrap();
        }
    }
    stage.restart(&disk).await;
    assert!(stage.get("/", &[]).await.body.starts_with(b"answer 1"));
}

#[tokio::test]
async fn more_purges_than_are_remembered_are_no_obstacle() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut stage = Stage::with_disk(Some(&disk), "", counted);
    stage.get("/", &[]).await;
    for round in 0..25 {
        let tag = |number: u32| Purge::Tag(format!("{round}-{number}-{}", "x".repeat(200)));
        stage.edge.purge("z", (0..1000).map(tag).collect(), Depth::Soft);
    }
    stage.restart(&disk).await;
    assert_eq!(stage.edge.store.epoch(), 25_000);
    // The fetch began before the oldest known purge.
    assert!(stage.get("/", &[]).await.body.starts_with(b"answer 1"));
    stage.restart(&disk).await;
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
}
