//! Objects that are only on disk, because memory is full: served on the fast path while they are
//! valid.

use std::fs;

use http_cache::purge::{Depth, Purge};
use http_stack::{
    Body, Client, Method, Request, Response,
    client::{Config, Protocol},
};
use tempfile::TempDir;

use super::{
    Fixture, MEMORY,
    test_listener::{TestListener, fields_of},
    with,
};
use crate::{Network, config::Disk, fast_path::disk_heads::VERIFY_INTERVAL, store::memory::Object};

/// More than the free memory next to the fillers, and less than a block.
const LENGTH: usize = 60_000;
const FILLER: usize = 40_000;

/// In tmpfs, so that results do not depend on the page cache.
fn disk() -> (TempDir, Disk) {
    let directory = TempDir::new_in("/dev/shm").unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    (directory, disk)
}

fn of_length(length: usize, number: usize) -> Response<Body> {
    let begin = format!("answer {number} ");
    with("max-age=60", format!("{begin:x<length$}"))
}

/// The body is the number of the request. Fillers are shorter.
async fn counted(request: Request<Body>, number: usize) -> Response<Body> {
    let is_filler = request.uri().path().starts_with("/filler");
    of_length(if is_filler { FILLER } else { LENGTH }, number)
}

async fn door<F>(
    disk: &Disk,
    zone: &str,
    paths: &[(&str, &[(&'static str, &str)])],
    respond: impl Fn(Request<Body>, usize) -> F + Send + Sync + 'static,
) -> TestListener
where
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut fixture = Fixture::with_disk(Some(disk), zone, respond);
    for (path, fields) in paths {
        fixture.get(path, fields).await;
    }
    fixture.restart(disk).await;
    for number in 0..=MEMORY / FILLER as u64 {
        fixture.get(&format!("/filler/{number}"), &[]).await;
    }
    TestListener::new(fixture)
}

#[tokio::test]
async fn disk_only_hit_equals_the_pipeline() {
    let zone = "[[zone.rule]]\npath = \"/b/*\"\nedge_ttl = \"1h\"\nbrowser_ttl = \"5min\"\n";
    let (_directory, disk) = disk();
    let paths = ["/a?GET", "/a?HEAD", "/b/c?GET", "/b/c?HEAD"];
    let over_http2 = ["/a/2?GET", "/a/2?HEAD", "/b/2?GET", "/b/2?HEAD"];
    let all: Vec<_> = paths.into_iter().chain(over_http2).map(|path| (path, &[][..])).collect();
    let door = door(&disk, zone, &all, async |request, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response.headers_mut().insert("cache-status", "origin; hit".parse().unwrap());
        response.headers_mut().append("link", "</a>".parse().unwrap());
        response.headers_mut().append("link", "</b>".parse().unwrap());
        response
    })
    .await;
    let asked = door.fixture.request_count();
    let client = Client::new(&Config { protocol: Protocol::Http2, ..Config::default() }).unwrap();
    for path in paths {
        let method = path.split_once('?').unwrap().1;
        let (whole, quick) = door.ask(method, path, &["accept: */*"]).await;
        assert!(!quick && whole.status == "HTTP/1.1 200 OK", "{whole:?}");
        assert_eq!(whole.body.len(), if method == "GET" { LENGTH } else { 0 });
        for _ in 0..2 {
            let (said, quick) = door.ask(method, path, &["accept: text/html", "cookie: a=b"]).await;
            assert!(quick, "{path}");
            assert_eq!(said, whole);
        }
    }
    for path in over_http2 {
        let method: Method = path.split_once('?').unwrap().1.parse().unwrap();
        let (whole, quick) = door.ask_http2(&client, method.clone(), path).await;
        assert!(!quick && whole.status() == 200, "{whole:?}");
        let (said, quick) = door.ask_http2(&client, method.clone(), path).await;
        assert!(quick, "{path}");
        assert_eq!((fields_of(path, &said), said.body()), (fields_of(path, &whole), whole.body()));
        assert_eq!(said.body().len(), if method == Method::GET { LENGTH } else { 0 });
    }
    assert!(all.iter().all(|(path, _)| door.fixture.stored(path).is_none()));
    assert_eq!(door.fixture.request_count(), asked);
}

#[tokio::test]
async fn each_http_version_has_its_own_head() {
    let (_directory, disk) = disk();
    let door = door(&disk, "", &[("/a", &[]), ("/b", &[])], counted).await;
    let asked = door.fixture.request_count();
    let client = Client::new(&Config { protocol: Protocol::Http2, ..Config::default() }).unwrap();
    let over_http1 = async |path: &str| {
        let (said, quick) = door.get(path, &[]).await;
        assert_eq!((&*said.status, said.body.len()), ("HTTP/1.1 200 OK", LENGTH));
        quick
    };
    let over_http2 = async |path: &str| {
        let (said, quick) = door.ask_http2(&client, Method::GET, path).await;
        assert_eq!((said.status().as_u16(), said.body().len()), (200, LENGTH));
        quick
    };
    assert_eq!(
        (over_http1("/a").await, over_http1("/a").await, over_http2("/a").await),
        (false, true, false)
    );
    assert_eq!(
        (over_http2("/b").await, over_http2("/b").await, over_http1("/b").await),
        (false, true, false)
    );
    assert_eq!(door.fixture.request_count(), asked);
}

#[tokio::test]
async fn disk_only_hit_ends_with_its_object() {
    let (_directory, disk) = disk();
    let zone = "requests_decide = true\n";
    let door = door(&disk, zone, &[("/", &[])], async |request, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("cache-tag", "a".parse().unwrap());
        response
    })
    .await;
    let node = &door.fixture.node;
    let get = async |fields: &[&str], quick: bool| {
        let (said, is_quick) = door.get("/", fields).await;
        assert_eq!((said.body.len(), is_quick), (LENGTH, quick));
        said.body.split(' ').nth(1).unwrap().parse::<usize>().unwrap()
    };
    let quickly = async |number: usize| {
        for quick in [false, true, true] {
            assert_eq!(get(&[], quick).await, number);
        }
    };
    quickly(0).await;
    node.purge("z", vec![Purge::Tag("b".into())], Depth::Hard);
    assert_eq!(get(&[], true).await, 0);
    let network = Network::clone(&node.network());
    node.replace_network(network);
    quickly(0).await;
    let in_memory = async || {
        let asked = door.fixture.request_count();
        assert_eq!(get(&[], false).await, asked);
        asked
    };
    let asked = door.fixture.request_count();
    assert_eq!(get(&["Cache-Control: no-cache"], false).await, asked);
    assert_eq!((get(&[], false).await, get(&[], true).await), (asked, asked));
    for depth in [Depth::Soft, Depth::Hard] {
        node.purge("z", vec![Purge::Tag("a".into())], depth);
        let asked = in_memory().await;
        assert_eq!((get(&[], false).await, get(&[], true).await), (asked, asked));
    }
}

#[tokio::test]
async fn purge_invalidates_prerendered_heads() {
    for depth in [Depth::Soft, Depth::Hard] {
        let (_directory, disk) = disk();
        let door = door(&disk, "", &[("/", &[])], counted).await;
        door.get("/", &[]).await;
        assert!(door.get("/", &[]).await.1);
        let asked = door.fixture.request_count();
        door.fixture.node.purge("z", vec![Purge::Url("http://shop.example/".into())], depth);
        let (said, quick) = door.get("/", &[]).await;
        assert!(!quick && said.body.starts_with(&format!("answer {asked} ")));
    }
}

#[tokio::test]
async fn other_variants_are_separate_entries() {
    let (_directory, disk) = disk();
    let paths: [(&str, &[_]); 2] = [("/", &[("foo", "a")]), ("/", &[("foo", "b")])];
    let door = door(&disk, "", &paths, async |request: Request<Body>, number| {
        let foo = request.headers().get("foo").map_or("none", |value| value.to_str().unwrap()).to_owned();
        let mut response = counted(request, number).await;
        response.headers_mut().insert("vary", "foo".parse().unwrap());
        response.headers_mut().insert("x-foo", foo.parse().unwrap());
        response
    })
    .await;
    for round in 0..3 {
        for foo in ["a", "b"] {
            let (said, quick) = door.get("/", &[&format!("foo: {foo}")]).await;
            assert!(said.fields.contains(&format!("x-foo: {foo}")), "{:?}", said.fields);
            assert_eq!(quick, round > 0, "{round} {foo}");
        }
    }
    let (said, quick) = door.get("/", &[]).await;
    assert!(!quick && said.fields.contains("x-foo: none"));
}

#[tokio::test]
async fn hot_disk_object_is_promoted_to_memory() {
    let (_directory, disk) = disk();
    let door = door(&disk, "", &[("/often", &[]), ("/seldom", &[])], counted).await;
    let asked = door.fixture.request_count();
    door.get("/seldom", &[]).await;
    let mut times = 0;
    while door.fixture.stored("/often").is_none() {
        door.get("/often", &[]).await;
        times += 1;
        assert!(times < 100, "it stays on disk");
    }
    assert!(times > 10, "it took the place of another one after {times} requests");
    assert!(door.fixture.stored("/seldom").is_none());
    assert!(door.get("/often", &[]).await.1 && door.get("/seldom", &[]).await.1);
    assert_eq!(door.fixture.request_count(), asked);
}

#[tokio::test]
async fn damaged_object_is_not_served() {
    let (_directory, disk) = disk();
    let door = door(&disk, "", &[("/", &[])], counted).await;
    let damage = || {
        let segment = disk.path.join("segment-00000001.log");
        let mut bytes = fs::read(&segment).unwrap();
        bytes[1000] ^= 1;
        fs::write(&segment, bytes).unwrap();
    };
    let whole = door.get("/", &[]).await.0;
    // The first response is verified, those of the next second are not, and the next one is.
    for _ in 0..2 {
        assert_eq!(door.get("/", &[]).await, (whole.clone(), true));
    }
    tokio::time::sleep(VERIFY_INTERVAL).await;
    damage();
    let asked = door.fixture.request_count();
    let (said, quick) = door.get("/", &[]).await;
    assert!(!quick && said.body.starts_with(&format!("answer {asked} ")));
}

#[tokio::test]
async fn object_to_encode_is_promoted_and_encoded_once() {
    let (_directory, disk) = disk();
    let zone = "compress = [\"gzip\"]\n";
    let door = door(&disk, zone, &[("/", &[])], async |request, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
        response
    })
    .await;
    door.get("/", &[]).await;
    assert!(door.get("/", &[]).await.1);
    assert!(door.fixture.stored("/").is_none());
    for _ in 0..3 {
        let (said, _) = door.get("/", &["accept-encoding: gzip"]).await;
        assert!(said.fields.contains("content-encoding: gzip"));
    }
    let object: std::sync::Arc<Object> = door.fixture.stored("/").unwrap();
    assert!(object.body.encoded(http_cache::Coding::Gzip).is_some());
}

#[tokio::test]
async fn disk_heads_are_bounded() {
    const TAG: usize = 15_000;
    const ROOM: usize = 4 << 20;
    let (_directory, disk) = disk();
    let paths: Vec<_> = (0..ROOM / TAG + 20).map(|number| format!("/{number}")).collect();
    let all: Vec<_> = paths.iter().map(|path| (path.as_str(), &[][..])).collect();
    let door = door(&disk, "", &all, async |request, number| {
        let mut response = counted(request, number).await;
        response.headers_mut().insert("cache-tag", "x".repeat(TAG).parse().unwrap());
        response
    })
    .await;
    let asked = door.fixture.request_count();
    for path in &paths {
        assert!(!door.get(path, &[]).await.1);
        assert!(door.fixture.node.hit_table(0).disk_head_bytes() < ROOM + 2 * TAG);
    }
    let newest = paths.len() - ROOM / 2 / (TAG + 4000);
    for path in &paths[newest..] {
        assert!(door.get(path, &[]).await.1, "{path}");
    }
    assert!(!door.get(&paths[0], &[]).await.1);
    assert_eq!(door.fixture.request_count(), asked);
}
