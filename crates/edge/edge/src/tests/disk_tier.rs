//! Objects that are too large for memory: written to disk while they arrive, and read from there.

use std::{fs, sync::Arc};

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, Bytes, Method, Request, Response, StatusCode};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{Fixture, request, with};
use crate::{
    body::shared::Retention,
    config::Disk,
    store::memory::{Lookup, Object},
};

const LENGTH: usize = 3 << 20;

fn disk(directory: &TempDir, bytes: u64) -> Disk {
    Disk { path: directory.path().join("cache"), bytes }
}

fn text(length: usize) -> Bytes {
    (0..length / 8).flat_map(|number| format!("{number:07} ").into_bytes()).collect()
}

fn named(mut response: Response<Body>, tag: &str) -> Response<Body> {
    response.headers_mut().insert("etag", format!("\"{tag}\"").parse().unwrap());
    response
}

async fn large(_: Request<Body>, number: usize) -> Response<Body> {
    named(with("max-age=60", text(LENGTH)), &number.to_string())
}

impl Fixture {
    pub(super) fn stored(&self, path: &str) -> Option<Arc<Object>> {
        let url = format!("http://shop.example{path}").parse().unwrap();
        let key = http_cache::Key::of(&url, &http_stack::HeaderMap::new(), &http_cache::KeyRule::default());
        match self.node.store.find(&key, &http_stack::HeaderMap::new()) {
            Lookup::Object(object) => Some(object),
            _ => None,
        }
    }

    async fn fetch(&self, path: &str) -> Retention {
        assert_eq!(self.get(path, &[]).await.body, text(LENGTH));
        match self.stored(path) {
            Some(object) => kept(&object).await,
            None => Retention::PassThrough,
        }
    }
}

async fn kept(object: &Object) -> Retention {
    while object.body.is_writing_to_disk() {
        tokio::task::yield_now().await;
    }
    object.body.retention()
}

#[tokio::test]
async fn oversized_object_is_served_from_disk() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let mut fixture = Fixture::with_disk(Some(&disk), "", large);
    assert_eq!(fixture.fetch("/").await, Retention::Disk);
    let whole = text(LENGTH);
    for is_restarted in [false, true] {
        if is_restarted {
            fixture.restart(&disk).await;
        }
        let again = fixture.get("/", &[]).await;
        assert_eq!((again.told.as_str(), &again.body), ("lhr; hit", &whole));
        let last = LENGTH - 10;
        let part = fixture.get("/", &[("range", &format!("bytes={last}-"))]).await;
        assert_eq!((part.status, &part.body[..]), (206, &whole[last..]));
        let several = fixture.get("/", &[("range", "bytes=2000000-2000003, 65534-65537")]).await;
        let several = String::from_utf8(several.body.to_vec()).unwrap();
        for first in [2_000_000, 65_534] {
            let part = std::str::from_utf8(&whole[first..first + 4]).unwrap();
            assert!(several.contains(&format!("bytes {first}-{}/{LENGTH}\r\n\r\n{part}\r\n", first + 3)));
        }
        let head = fixture.node.serve(request(Method::HEAD, "/", &[])).await;
        assert_eq!(head.headers()["content-length"], LENGTH.to_string());
        assert_eq!(fixture.get("/", &[("if-none-match", "\"0\"")]).await.status, 304);
    }
    assert_eq!(fixture.request_count(), 1);
    let usage = fixture.node.store.usage();
    assert!((1..10_000).contains(&usage.bytes), "{usage:?}");
}

#[tokio::test]
async fn partial_write_serves_a_late_reader() {
    let directory = TempDir::new().unwrap();
    let go_on = Arc::new(Notify::new());
    let origin_goes_on = Arc::clone(&go_on);
    let fixture = Fixture::with_disk(Some(&disk(&directory, 64 << 20)), "", move |_, _| {
        let ((sender, body), go_on) = (Body::channel(1), Arc::clone(&origin_goes_on));
        tokio::spawn(async move {
            let whole = text(LENGTH);
            sender.send(whole.slice(..LENGTH / 2)).await.unwrap();
            go_on.notified().await;
            sender.send(whole.slice(LENGTH / 2..)).await.unwrap();
            sender.finish().await.unwrap();
        });
        let mut response = with("max-age=60", "").map(|_| body);
        response.headers_mut().insert("content-length", LENGTH.into());
        std::future::ready(response)
    });
    let whole = text(LENGTH);
    let mut first = fixture.node.serve(request(Method::GET, "/", &[])).await.into_body();
    let mut received = 0;
    while received < LENGTH / 2 {
        received += first.data().await.unwrap().unwrap().len();
    }
    let object = fixture.stored("/").unwrap();
    while object.body.memory_bytes() > 1 << 20 {
        tokio::task::yield_now().await;
    }
    let part = fixture.get("/", &[("range", "bytes=100000-100009")]).await;
    assert_eq!((part.status, &part.body[..]), (206, &whole[100_000..100_010]));
    let mut second = fixture.node.serve(request(Method::GET, "/", &[])).await.into_body();
    let mut beginning = Vec::new();
    while beginning.len() < LENGTH / 2 {
        beginning.extend(second.data().await.unwrap().unwrap());
    }
    go_on.notify_one();
    let (first, second) = tokio::join!(first.collect(LENGTH), second.collect(LENGTH));
    assert_eq!(first.unwrap(), whole[received..]);
    assert_eq!([&beginning, &second.unwrap()[..]].concat(), whole);
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn reader_finishes_an_evicted_object() {
    let directory = TempDir::new().unwrap();
    let fixture = Fixture::with_disk(Some(&disk(&directory, 8 << 20)), "", large);
    assert_eq!(fixture.fetch("/a").await, Retention::Disk);
    let reading = fixture.node.serve(request(Method::GET, "/a", &[])).await;
    for path in ["/b", "/c", "/d"] {
        assert_eq!(fixture.fetch(path).await, Retention::Disk);
    }
    assert_eq!(reading.into_body().collect(LENGTH).await.unwrap(), text(LENGTH));
    assert!(fixture.stored("/a").is_none());
    assert_eq!(fixture.get("/a", &[]).await.told, "lhr; fwd=uri-miss; fwd-status=200; stored");
}

#[tokio::test]
async fn purge_applies_to_objects_being_written() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&begun), Arc::clone(&go_on));
    let mut fixture = Fixture::with_disk(Some(&disk), "", move |_, number| {
        let ((sender, body), (begun, go_on)) = (Body::channel(1), told.clone());
        tokio::spawn(async move {
            sender.send(text(LENGTH)).await.unwrap();
            if number == 0 {
                begun.notify_one();
                go_on.notified().await;
            }
            sender.finish().await.unwrap();
        });
        std::future::ready(named(with("max-age=60", "").map(|_| body), &number.to_string()))
    });
    let early = fixture.node.serve(request(Method::GET, "/", &[])).await;
    begun.notified().await;
    let early_object = fixture.stored("/").unwrap();
    fixture.node.purge("z", vec![Purge::Everything], Depth::Hard);
    go_on.notify_one();
    assert_eq!(early.into_body().collect(LENGTH).await.unwrap(), text(LENGTH));
    assert_eq!(kept(&early_object).await, Retention::Disk);
    drop(early_object);
    fixture.restart(&disk).await;
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; fwd=uri-miss; fwd-status=200; stored");
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn disk_object_is_revalidated() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let mut fixture = Fixture::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let mut response = large(request, 0).await;
        response.headers_mut().insert("x-number", number.into());
        if number > 0 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
        }
        response
    });
    assert_eq!(fixture.fetch("/").await, Retention::Disk);
    for number in 1..3 {
        fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
        fixture.restart(&disk).await;
        let response = fixture.node.serve(request(Method::GET, "/", &[])).await;
        assert_eq!(response.headers()["x-number"], number.to_string());
        assert_eq!(response.into_body().collect(LENGTH).await.unwrap(), text(LENGTH));
    }
    fixture.restart(&disk).await;
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(fixture.request_count(), 3);
}

#[tokio::test]
async fn failed_disk_falls_back_to_memory_or_pass_through() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let fixture = Fixture::with_disk(Some(&disk), "", async |request: Request<Body>, number| {
        let length = if request.uri().path() == "/short" { LENGTH } else { 2 * LENGTH };
        named(with("max-age=60", text(length)), &number.to_string())
    });
    fixture.get("/first", &[]).await;
    assert_eq!(kept(&fixture.stored("/first").unwrap()).await, Retention::Disk);
    fs::remove_dir_all(&disk.path).unwrap();
    assert_eq!(fixture.fetch("/short").await, Retention::Memory);
    assert_eq!(fixture.get("/short", &[]).await.told, "lhr; hit");
    for _ in 0..2 {
        assert_eq!(fixture.get("/long", &[]).await.body, text(2 * LENGTH));
        while fixture.stored("/long").is_some() {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(fixture.request_count(), 4);
    let (_, why) = fixture.node.disk.as_ref().unwrap().report();
    let why = why.unwrap();
    assert!(why.contains("was deleted while the store was open") || why.contains("cannot create"), "{why}");
}

#[tokio::test]
async fn disk_failing_mid_write_blocks_nobody() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let told = (Arc::clone(&begun), Arc::clone(&go_on));
    let fixture = Fixture::with_disk(Some(&disk), "", move |_, _| {
        let ((sender, body), (begun, go_on)) = (Body::channel(1), told.clone());
        tokio::spawn(async move {
            let whole = text(LENGTH);
            sender.send(whole.slice(..LENGTH / 2)).await.unwrap();
            begun.notify_one();
            go_on.notified().await;
            for piece in whole.slice(LENGTH / 2..).chunks(50_000) {
                sender.send(piece.to_vec()).await.unwrap();
            }
            sender.finish().await.unwrap();
        });
        std::future::ready(with("max-age=60", "").map(|_| body))
    });
    let mut visitor = fixture.node.serve(request(Method::GET, "/", &[])).await.into_body();
    begun.notified().await;
    let first = visitor.data().await.unwrap().unwrap();
    let object = fixture.stored("/").unwrap();
    while object.body.bytes() < LENGTH as u64 / 2 || object.body.memory_bytes() > 1 << 20 {
        tokio::task::yield_now().await;
    }
    fs::remove_dir_all(&disk.path).unwrap();
    go_on.notify_one();
    let rest = visitor.collect(LENGTH).await.unwrap();
    assert_eq!([&first[..], &rest].concat(), text(LENGTH));
    assert_eq!(kept(&object).await, Retention::PassThrough);
    while fixture.stored("/").is_some() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn damaged_object_aborts_and_is_refetched() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let mut fixture = Fixture::with_disk(Some(&disk), "", large);
    assert_eq!(fixture.fetch("/").await, Retention::Disk);
    fixture.node.disk.as_ref().unwrap().close();
    let segment = disk.path.join("segment-00000001.log");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[1_000_000] ^= 1;
    fs::write(&segment, bytes).unwrap();
    fixture.restart(&disk).await;
    let part = fixture.get("/", &[("range", "bytes=2000000-2000009")]).await;
    assert_eq!((part.told.as_str(), &part.body[..]), ("lhr; hit", &text(LENGTH)[2_000_000..2_000_010]));
    let broken = fixture.node.serve(request(Method::GET, "/", &[])).await;
    assert!(broken.into_body().collect(LENGTH).await.is_err());
    assert_eq!(fixture.fetch("/").await, Retention::Disk);
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn disk_only_text_is_encoded_per_client() {
    let directory = TempDir::new().unwrap();
    let disk = disk(&directory, 64 << 20);
    let fixture = Fixture::with_disk(Some(&disk), "compress = [\"gzip\"]\n", async |request, number| {
        let mut response = large(request, number).await;
        response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
        response
    });
    assert_eq!(fixture.fetch("/").await, Retention::Disk);
    for _ in 0..2 {
        let response = fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await;
        assert_eq!(response.headers()["content-encoding"], "gzip");
        let encoded = response.into_body().collect(LENGTH).await.unwrap();
        assert_eq!(
            crate::response::encoder::tests::decoded(http_cache::Coding::Gzip, &encoded),
            text(LENGTH)
        );
    }
    assert_eq!(fixture.request_count(), 1);
    let usage = fixture.node.store.usage();
    assert!(usage.bytes < 10_000, "{usage:?}");
}
