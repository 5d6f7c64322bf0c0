//! Truncated response bodies: the rest is requested and combined if it is of the same
//! representation.

use std::sync::{Arc, OnceLock};

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, Method, Request, Response, StatusCode};
use tokio::sync::Notify;

use super::{Fixture, with};
use crate::{
    response::encoder::tests::{decoded, text},
    server::worker_state::WorkerState,
};

const LENGTH: usize = 3000;

type Change = fn(&mut Response<Body>);

/// The last part ends the body; others truncate it after the client has received them.
fn part(first: usize, end: usize, seen: &Arc<Notify>) -> Body {
    let ((sender, body), seen) = (Body::channel(1), Arc::clone(seen));
    tokio::spawn(async move {
        let _ = sender.send(text(LENGTH)[first..end].to_vec()).await;
        if end == LENGTH {
            let _ = sender.finish().await;
        } else {
            seen.notified().await;
        }
    });
    body
}

async fn read(response: Response<Body>, seen: &Notify) -> Result<Vec<u8>, Vec<u8>> {
    let (mut body, mut received) = (response.into_body(), Vec::new());
    loop {
        match body.data().await {
            Ok(Some(data)) => received.extend_from_slice(&data),
            Ok(None) => return Ok(received),
            Err(_) => return Err(received),
        }
        seen.notify_one();
    }
}

fn asked_for(fields: &[(&'static str, &str)]) -> Request<Body> {
    super::request(Method::GET, "/", fields)
}

fn described(body: Body, fields: &[(&'static str, &str)]) -> Response<Body> {
    let mut response = with("max-age=60", "").map(|_| body);
    response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    for (name, value) in fields {
        response.headers_mut().insert(*name, value.parse().unwrap());
    }
    response
}

/// The origin truncates the first `breaks` bodies after 500 bytes. `change` modifies the responses
/// with the rest.
fn stage(zone: &str, breaks: usize, etag: &'static str, change: Change) -> (Fixture, Arc<Notify>) {
    let seen = Arc::new(Notify::new());
    let told = Arc::clone(&seen);
    // A body with a Content-Length above the limit is not stored at all.
    let is_announced = !zone.contains("largest");
    let fixture = Fixture::new(zone, move |request: Request<Body>, number| {
        let seen = Arc::clone(&told);
        async move {
            let range = request.headers().get("range").map(|range| range.to_str().unwrap());
            let first = range.map_or(0, |range| {
                assert_eq!(request.headers().get("if-range").unwrap(), etag);
                range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap()
            });
            let end = if number < breaks { first + 500 } else { LENGTH };
            let fields = [("etag", etag), ("x-number", &number.to_string())];
            let mut response = described(part(first, end, &seen), &fields);
            if first > 0 {
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                let range = format!("bytes {first}-{}/{LENGTH}", LENGTH - 1);
                response.headers_mut().insert("content-range", range.parse().unwrap());
                response.headers_mut().insert("content-length", (LENGTH - first).into());
                change(&mut response);
            } else if is_announced {
                response.headers_mut().insert("content-length", LENGTH.into());
            }
            response
        }
    });
    (fixture, seen)
}

#[tokio::test]
async fn aborted_body_is_resumed_invisibly() {
    for breaks in 1..=3 {
        let (fixture, seen) = stage("compress = [\"gzip\"]\n", breaks, "\"v1\"", |_| ());
        let response = fixture.node.serve(asked_for(&[("accept-encoding", "gzip")])).await;
        let encoded = read(response, &seen).await.unwrap();
        assert!(decoded(http_cache::Coding::Gzip, &encoded) == text(LENGTH));
        assert_eq!(fixture.request_count(), breaks + 1);
        let response = fixture.node.serve(asked_for(&[])).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers().get("x-number").unwrap(), &breaks.to_string());
        assert_eq!(response.headers().get("content-length").unwrap(), &LENGTH.to_string());
        assert!(!response.headers().contains_key("content-range"));
        assert!(read(response, &seen).await.unwrap() == text(LENGTH));
        assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (breaks + 1, 1));
    }
}

#[tokio::test]
async fn unresumable_body_aborts_for_the_client() {
    let changes: [(&'static str, usize, Change); 6] = [
        ("W/\"v1\"", 1, |_| ()),
        ("\"v1\"", 2, |response| *response.status_mut() = StatusCode::OK),
        ("\"v1\"", 2, |response| *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE),
        ("\"v1\"", 2, |response| drop(response.headers_mut().insert("etag", "\"v2\"".parse().unwrap()))),
        ("\"v1\"", 2, |response| {
            drop(response.headers_mut().insert("content-range", "bytes 501-2999/3000".parse().unwrap()));
        }),
        ("\"v1\"", 2, |response| {
            response.headers_mut().remove("content-length");
            *response.body_mut() = Body::whole("abc");
        }),
    ];
    for (place, (etag, asked, change)) in changes.into_iter().enumerate() {
        let (fixture, seen) = stage("", 1, etag, change);
        let response = fixture.node.serve(asked_for(&[])).await;
        let received = read(response, &seen).await.unwrap_err();
        assert!(received.starts_with(&text(500)) && received.len() < LENGTH, "{place}: {}", received.len());
        assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (asked, 0), "{place}");
    }
}

#[tokio::test]
async fn resumes_are_bounded() {
    let (fixture, seen) = stage("", usize::MAX, "\"v1\"", |_| ());
    let response = fixture.node.serve(asked_for(&[])).await;
    assert!(read(response, &seen).await.unwrap_err() == text(2000));
    assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (4, 0));
}

#[tokio::test]
async fn oversized_body_is_resumed_too() {
    let (fixture, seen) = stage("largest = \"700B\"\n", 2, "\"v1\"", |_| ());
    let response = fixture.node.serve(asked_for(&[])).await;
    assert!(read(response, &seen).await.unwrap() == text(LENGTH));
    assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (3, 0));
}

#[tokio::test]
async fn resumed_body_purged_meanwhile_is_not_stored() {
    let (seen, node) = (Arc::new(Notify::new()), Arc::new(OnceLock::<Arc<WorkerState>>::new()));
    let (told, known) = (Arc::clone(&seen), Arc::clone(&node));
    let fixture = Fixture::new("", move |request: Request<Body>, _| {
        let (seen, node) = (Arc::clone(&told), Arc::clone(&known));
        async move {
            if !request.headers().contains_key("range") {
                return described(part(0, 1000, &seen), &[("etag", "\"v1\""), ("content-length", "3000")]);
            }
            node.get().unwrap().purge("z", vec![Purge::Everything], Depth::Hard);
            let fields = [("etag", "\"v1\""), ("content-range", "bytes 1000-2999/3000")];
            let mut response = described(part(1000, LENGTH, &seen), &fields);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            response
        }
    });
    node.set(Arc::clone(&fixture.node)).ok().unwrap();
    let response = fixture.node.serve(asked_for(&[])).await;
    assert!(read(response, &seen).await.unwrap() == text(LENGTH));
    let usage = fixture.node.store.usage();
    assert_eq!((fixture.request_count(), usage.objects, usage.bytes), (2, 0, 0));
}
