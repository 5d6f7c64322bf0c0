//! The most recent response of the origin invalidates older stored ones, even if it is not stored.

use std::sync::Arc;

use cache::purge::{Depth, Purge};
use http::{Body, Bytes, Method, Response, StatusCode};
use tokio::sync::Notify;

use super::{Stage, request};
use crate::flights::Part;

/// An origin that sends one response and then always another one.
fn changing(
    zone: &str,
    first: &'static str,
    status: u16,
    second: &'static [(&'static str, &'static str)],
) -> Stage {
    Stage::new(zone, move |_, number| async move {
        let mut response = Response::new(Body::whole(if number == 0 { "old" } else { "new" }));
        let fields = if number == 0 { &[("cache-control", first), ("etag", "\"v1\"")] } else { second };
        for (name, value) in fields {
            response.headers_mut().append(*name, value.parse().unwrap());
        }
        if number > 0 {
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
        }
        response
    })
}

const CHANGES: &[(u16, &[(&str, &str)])] = &[
    (404, &[]),
    (410, &[]),
    (403, &[]),
    (401, &[("www-authenticate", "Basic")]),
    (302, &[("location", "/login")]),
    (200, &[("cache-control", "no-store")]),
    (200, &[("cache-control", "private")]),
    (200, &[("cache-control", "max-age=60"), ("vary", "*")]),
    (200, &[("cache-control", "max-age=60"), ("set-cookie", "a=b")]),
];

#[tokio::test]
async fn an_answer_in_the_background_ends_stale_while_revalidate() {
    for (status, second) in CHANGES {
        let stage = changing("", "max-age=0, stale-while-revalidate=600", *status, second);
        stage.get("/", &[]).await;
        assert_eq!(stage.get("/", &[]).await.body, "old");
        // It is used until the response of the origin arrives.
        while stage.edge.store.usage().objects > 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            assert_eq!(stage.get("/", &[]).await.body, "new", "{status} {second:?}");
        }
    }
}

#[tokio::test]
async fn a_failure_does_not_bring_back_what_was_replaced() {
    for (status, second) in CHANGES {
        let stage = Stage::new("stale_if_error = \"1h\"\n", move |_, number| async move {
            let mut response = Response::new(Body::whole(if number == 0 { "old" } else { "new" }));
            let first = [("cache-control", "max-age=0"), ("etag", "\"v1\"")];
            for (name, value) in if number == 0 { &first } else { *second } {
                response.headers_mut().append(*name, value.parse().unwrap());
            }
            let status = [200, *status, 503][number.min(2)];
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        });
        stage.get("/", &[]).await;
        assert_eq!(stage.get("/", &[]).await.body, "new", "{status} {second:?}");
        assert_eq!(stage.get("/", &[]).await.status, 503, "{status} {second:?}");
    }
}

#[tokio::test]
async fn a_failure_ends_nothing() {
    for status in [500, 502, 503, 504, 429] {
        let stage = changing("", "max-age=0, stale-while-revalidate=600", status, &[]);
        stage.get("/", &[]).await;
        for _ in 0..3 {
            assert_eq!(stage.get("/", &[]).await.body, "old", "{status}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_ends_nothing() {
    let stage = Stage::new("", |_, number| async move {
        let first = number == 0;
        let mut response = Response::new(Body::whole(if first { "old" } else { "" }));
        let lifetime = "max-age=0, stale-while-revalidate=600";
        response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
        response.headers_mut().insert("etag", "W/\"v1\"".parse().unwrap());
        if !first {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("new").await.unwrap();
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
            });
            *response.body_mut() = body;
        }
        response
    });
    stage.get("/", &[]).await;
    for asked in 1..4 {
        assert_eq!(stage.get("/", &[]).await.body, "old");
        while stage.asked() <= asked
            || !matches!(stage.edge.flights.join(&key(), tiers::Role::Lower, || None), Part::Leads(_))
        {
            tokio::task::yield_now().await;
        }
        // The truncated object is removed, and the previous one is used again.
        while stage.edge.store.whole(&key(), &http::HeaderMap::new()).is_none() {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn an_answer_in_the_background_that_is_too_large_ends_the_use_of_the_old_one() {
    let stage = Stage::new("largest = \"1KB\"\n", |_, number| async move {
        let mut response = Response::new(Body::whole("old"));
        let lifetime = "max-age=0, stale-while-revalidate=600";
        response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
        response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
        if number > 0 {
            // Without Content-Length the size is known only after most of the body has arrived.
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move { while sender.send(vec![b'n'; 64 << 10]).await.is_ok() {} });
            *response.body_mut() = body;
        }
        response
    });
    stage.get("/", &[]).await;
    assert_eq!(stage.get("/", &[]).await.body, "old");
    while stage.edge.store.usage().objects > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    while !matches!(stage.edge.flights.join(&key(), tiers::Role::Lower, || None), Part::Leads(_)) {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    assert_eq!(stage.edge.store.usage().objects, 0);
}

/// The first response is held back until later ones have been sent.
fn slow_first(later: &'static [(u16, &'static str)]) -> (Arc<Stage>, Arc<Notify>) {
    let release = Arc::new(Notify::new());
    let held = Arc::clone(&release);
    let stage = Stage::new("requests_decide = true\n", move |_, number| {
        let held = Arc::clone(&held);
        async move {
            if number == 0 {
                held.notified().await;
            }
            let (status, lifetime) =
                if number == 0 { (200, "max-age=600") } else { later[number.min(later.len()) - 1] };
            let mut response = Response::new(Body::whole(format!("{number}")));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
            response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
            response
        }
    });
    (Arc::new(stage), release)
}

#[tokio::test]
async fn an_answer_to_an_earlier_request_is_not_stored_after_one_to_a_later() {
    for later in [
        &[(404, "no-store")][..],
        &[(410, "no-store")],
        &[(200, "no-store")],
        &[(200, "private")],
        &[(200, "max-age=600")],
        &[(503, "no-store"), (404, "no-store")],
    ] {
        let (stage, release) = slow_first(later);
        let slow = tokio::spawn({
            let stage = Arc::clone(&stage);
            async move { stage.get("/", &[]).await }
        });
        while stage.asked() == 0 {
            tokio::task::yield_now().await;
        }
        // They do not join a fetch that began before them.
        for _ in later {
            stage.get("/", &[("cache-control", "no-cache")]).await;
        }
        release.notify_one();
        assert_eq!(slow.await.unwrap().body, "0");
        assert_ne!(stage.get("/", &[]).await.body, "0", "{later:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_superseded_ends_the_use_of_the_object_before_it() {
    let release = Arc::new(Notify::new());
    let held = Arc::clone(&release);
    let stage = Stage::new("requests_decide = true\n", move |_, number| {
        let held = Arc::clone(&held);
        async move {
            if number == 1 {
                held.notified().await;
            }
            let mut response = Response::new(Body::whole(format!("{number}")));
            let lifetime = if number == 0 { "max-age=0, stale-while-revalidate=600" } else { "max-age=600" };
            response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
            response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
            // The second response does not vary. The third supersedes it and is for another device than the
            // first.
            if number != 1 {
                response.headers_mut().insert("vary", "x-device".parse().unwrap());
            }
            response
        }
    });
    let phone = [("x-device", "phone")];
    for _ in 0..2 {
        assert_eq!(stage.get("/", &phone).await.body, "0");
    }
    while stage.asked() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.get("/", &[("cache-control", "no-cache")]).await.body, "2");
    release.notify_one();
    while !matches!(stage.edge.flights.join(&key(), tiers::Role::Lower, || None), Part::Leads(_)) {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.get("/", &phone).await.body, "3");
    assert_eq!(stage.get("/", &[]).await.body, "2");
}

#[tokio::test]
async fn a_failure_of_a_later_request_does_not_keep_an_answer_from_the_store() {
    let (stage, release) = slow_first(&[(503, "no-store")]);
    let slow = tokio::spawn({
        let stage = Arc::clone(&stage);
        async move { stage.get("/", &[]).await }
    });
    while stage.asked() == 0 {
        tokio::task::yield_now().await;
    }
    stage.get("/", &[("cache-control", "no-cache")]).await;
    release.notify_one();
    assert_eq!(slow.await.unwrap().body, "0");
    assert_eq!(stage.get("/", &[]).await.body, "0");
}

fn key() -> cache::Key {
    let url = "http://shop.example/".parse().unwrap();
    cache::Key::of(&url, &http::HeaderMap::new(), &cache::KeyRule::default())
}

#[tokio::test]
async fn an_unsafe_request_whose_response_breaks_off_invalidates() {
    for method in [Method::DELETE, Method::PUT, Method::POST] {
        let stage = Stage::new("", |request: http::Request<Body>, number| async move {
            let mut response = Response::new(Body::whole(format!("{number}")));
            response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
            if *request.method() != Method::GET {
                let (sender, body) = Body::channel(1);
                drop(sender);
                *response.body_mut() = body;
            }
            response
        });
        assert_eq!(stage.get("/", &[]).await.body, "0");
        let response = stage.edge.serve(request(method.clone(), "/", &[])).await;
        let status = response.status();
        assert!(response.into_body().collect(100).await.is_err() || status == StatusCode::BAD_GATEWAY);
        assert_eq!(stage.get("/", &[]).await.body, "2", "{method}");
    }
}

#[tokio::test]
async fn each_spelling_of_a_host_is_one_for_the_origin_too() {
    let stage = Stage::new("", |request: http::Request<Body>, _| async move {
        let host = request.headers()["host"].to_str().unwrap().to_owned();
        let mut response = Response::new(Body::whole(host));
        response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
        response
    });
    for host in ["SHOP.example", "shop.example.", "shop.example:80", "shop.example:"] {
        assert_eq!(stage.get("/", &[("host", host)]).await.body, "shop.example", "{host}");
    }
    assert_eq!(stage.asked(), 1);
    for host in ["shop.example..", ".shop.example", "shop..example", "."] {
        assert_eq!(stage.get("/", &[("host", host)]).await.status, 400, "{host}");
    }
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn a_head_has_something_stale_while_the_origin_fails() {
    let stage = changing("stale_if_error = \"1h\"\n", "max-age=0", 503, &[]);
    stage.get("/", &[]).await;
    let response = stage.edge.serve(request(Method::HEAD, "/", &[])).await;
    assert_eq!(
        (response.status(), &response.headers()["etag"]),
        (StatusCode::OK, &"\"v1\"".parse().unwrap())
    );
}

#[tokio::test]
async fn an_answer_ends_the_use_of_its_own_variant() {
    let stage = Stage::new("", |request, number| async move {
        let language = request.headers()["x-language"].to_str().unwrap().to_owned();
        let mut response = Response::new(Body::whole(format!("{language} {number}")));
        let lifetime = if number < 2 { "max-age=0, stale-while-revalidate=600" } else { "no-store" };
        response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
        response.headers_mut().insert("etag", format!("\"{language}\"").parse().unwrap());
        response.headers_mut().insert("vary", "x-language".parse().unwrap());
        response
    });
    for language in ["de", "en"] {
        stage.get("/", &[("x-language", language)]).await;
    }
    stage.get("/", &[("x-language", "de")]).await;
    while stage.edge.store.usage().objects > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.get("/", &[("x-language", "en")]).await.body, "en 1");
}

#[tokio::test]
async fn a_purge_ends_each_use_but_that_of_a_failure() {
    let kept = "max-age=600, stale-while-revalidate=600";
    for depth in [Depth::Soft, Depth::Hard] {
        let stage = changing("stale_if_error = \"1h\"\n", kept, 404, &[]);
        stage.get("/", &[]).await;
        stage.edge.purge("z", vec![Purge::Everything], depth);
        for _ in 0..2 {
            assert_eq!(stage.get("/", &[]).await.body, "new", "{depth:?}");
        }
    }
    let stage = changing("stale_if_error = \"1h\"\n", kept, 503, &[]);
    stage.get("/", &[]).await;
    stage.edge.purge("z", vec![Purge::Everything], Depth::Soft);
    assert_eq!(stage.get("/", &[]).await.body, "old");
}

#[tokio::test]
async fn a_request_with_content_leaves_the_store_alone() {
    let stage = Stage::new("", |request: http::Request<Body>, _| async move {
        let content = request.into_body().collect(100).await.unwrap();
        let mut response = Response::new(Body::whole([&b"echo:"[..], &content].concat()));
        response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
        response
    });
    for method in [Method::GET, Method::HEAD] {
        for path in ["/stored", "/not-stored"] {
            if path == "/stored" {
                stage.get(path, &[]).await;
            }
            let mut poisoning = request(method.clone(), path, &[]);
            *poisoning.body_mut() = Body::whole("evil");
            stage.send(poisoning).await;
            assert_eq!(stage.get(path, &[]).await.body, Bytes::from("echo:"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn content_without_bytes_is_no_content() {
    let stage = Stage::new("", async |_, number| super::with("max-age=600", format!("{number}")));
    assert_eq!(stage.get("/", &[]).await.body, "0");
    for method in [Method::GET, Method::HEAD] {
        let (sender, body) = Body::channel(1);
        tokio::spawn(sender.finish());
        let mut chunked = request(method.clone(), "/", &[]);
        *chunked.body_mut() = body;
        assert_eq!(stage.send(chunked).await.told, "lhr; hit", "{method}");
    }
    assert_eq!(stage.asked(), 1);
}

#[tokio::test]
async fn a_rule_keeps_no_errors_and_no_cookies() {
    let rule = "[[zone.rule]]\npath = \"/*\"\nedge_ttl = \"1h\"\n";
    for status in [401, 403, 429, 500, 501, 502, 503, 504] {
        let stage = Stage::new(rule, move |_, number| async move {
            let mut response = Response::new(Body::whole(format!("{number}")));
            if number == 0 {
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
            }
            response
        });
        assert_eq!(stage.get("/", &[]).await.status, status);
        assert_eq!(stage.get("/", &[]).await.body, "1");
    }
    let stage = Stage::new(rule, |_, number| async move {
        let mut response = Response::new(Body::whole("page"));
        response.headers_mut().insert("cache-control", "private".parse().unwrap());
        response.headers_mut().insert("set-cookie", format!("sid={number}").parse().unwrap());
        response
    });
    let first = stage.edge.serve(request(Method::GET, "/", &[])).await;
    assert_eq!(first.headers()["set-cookie"], "sid=0");
    let second = stage.edge.serve(request(Method::GET, "/", &[])).await;
    assert!(!second.headers().contains_key("set-cookie"));
    assert_eq!(stage.asked(), 1);
}
