//! Objects on disk after a restart.

use std::{fs, sync::Arc};

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, Method, Request};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{Fixture, receive, request, with};
use crate::config::Disk;

fn disk(directory: &TempDir) -> Disk {
    Disk { path: directory.path().join("cache"), bytes: 64 << 20 }
}

async fn counted(_: Request<Body>, number: usize) -> http_stack::Response<Body> {
    let mut response = with("max-age=60", format!("answer {number} {}", "x".repeat(200_000)));
    response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
    response.headers_mut().insert("cache-tag", "a, b".parse().unwrap());
    response
}

#[tokio::test]
async fn stored_objects_survive_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("vary", "foo".parse().unwrap());
        response
    });
    let first = fixture.get("/", &[("foo", "1")]).await;
    let second = fixture.get("/", &[("foo", "2")]).await;
    fixture.restart(&disk).await;
    for (foo, before) in [("1", &first), ("2", &second)] {
        for _ in 0..2 {
            let now = fixture.get("/", &[("foo", foo)]).await;
            assert_eq!((now.told.as_str(), &now.body), ("lhr; hit", &before.body));
        }
    }
    assert_eq!(fixture.get("/", &[("foo", "3")]).await.told, "lhr; fwd=vary-miss; fwd-status=200; stored");
    assert_eq!(fixture.request_count(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_disk_hits_need_no_origin() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture =
        Fixture::with_disk(Some(&disk), "", async |_, number| with("max-age=60", number.to_string()));
    let paths: Vec<_> = (0..100).map(|number| format!("/{number}")).collect();
    for path in &paths {
        fixture.get(path, &[]).await;
    }
    fixture.restart(&disk).await;
    for path in &paths {
        let mut asking = JoinSet::new();
        for _ in 0..8 {
            let (node, request) = (Arc::clone(&fixture.node), request(Method::GET, path, &[]));
            asking.spawn(async move { receive(node.serve(request).await).await.told });
        }
        let told = asking.join_all().await;
        assert!(told.iter().all(|told| told == "lhr; hit"), "{path}: {told:?}");
    }
    assert_eq!(fixture.request_count(), paths.len());
}

#[tokio::test]
async fn range_is_served_from_disk() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", counted);
    let whole = fixture.get("/", &[]).await.body;
    fixture.restart(&disk).await;
    let part = fixture.get("/", &[("range", "bytes=100000-100009")]).await;
    assert_eq!((part.status, &part.body[..]), (206, &whole[100_000..100_010]));
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn purge_applies_to_disk_across_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", counted);
    fixture.get("/", &[]).await;
    fixture.node.purge("z", vec![Purge::Tag("b".into())], Depth::Soft);
    fixture.restart(&disk).await;
    assert_eq!(fixture.node.store.epoch(), 1);
    assert!(fixture.get("/", &[]).await.body.starts_with(b"answer 1"));
    fixture.restart(&disk).await;
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
    fixture.restart(&disk).await;
    assert_eq!(fixture.node.purge("z", vec![Purge::Everything], Depth::Hard), Some((2, 0)));
    assert!(fixture.get("/", &[]).await.body.starts_with(b"answer 2"));
    fixture.restart(&disk).await;
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(fixture.request_count(), 3);
}

#[tokio::test]
async fn revalidated_object_is_fresh_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let mut response = counted(request, 0).await;
        if number > 0 {
            *response.status_mut() = http_stack::StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
            response.headers_mut().insert("x-confirmed", "yes".parse().unwrap());
        }
        response
    });
    fixture.get("/", &[]).await;
    fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
    let confirmed = "lhr; fwd=stale; fwd-status=304; stored";
    assert_eq!(fixture.get("/", &[]).await.told, confirmed);
    fixture.restart(&disk).await;
    let request = request(Method::GET, "/", &[]);
    assert_eq!(fixture.node.serve(request).await.headers()["x-confirmed"], "yes");
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn broken_disk_is_a_miss() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", counted);
    fixture.get("/", &[]).await;
    fixture.node.disk.as_ref().unwrap().close();
    for file in fs::read_dir(&disk.path).unwrap().map(Result::unwrap) {
        let mut bytes = fs::read(file.path()).unwrap();
        bytes.iter_mut().skip(64).for_each(|byte| *byte ^= 1);
        if bytes.len() > 100_000 {
            fs::write(file.path(), bytes).unwrap();
        }
    }
    fixture.restart(&disk).await;
    assert!(fixture.get("/", &[]).await.body.starts_with(b"answer 1"));
}

#[tokio::test]
async fn many_purges_do_not_prevent_a_restart() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory);
    let mut fixture = Fixture::with_disk(Some(&disk), "", counted);
    fixture.get("/", &[]).await;
    for round in 0..25 {
        let tag = |number: u32| Purge::Tag(format!("{round}-{number}-{}", "x".repeat(200)));
        fixture.node.purge("z", (0..1000).map(tag).collect(), Depth::Soft);
    }
    fixture.restart(&disk).await;
    assert_eq!(fixture.node.store.epoch(), 25_000);
    // The fetch began before the oldest known purge.
    assert!(fixture.get("/", &[]).await.body.starts_with(b"answer 1"));
    fixture.restart(&disk).await;
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
}
