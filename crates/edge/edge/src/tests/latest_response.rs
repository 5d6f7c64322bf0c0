//! The most recent response of the origin invalidates older stored ones, even if it is not stored.

use std::sync::Arc;

use http_cache::purge::{Depth, Purge};
use http_stack::{Body, Bytes, Method, Response, StatusCode};
use tokio::sync::Notify;

use super::{Fixture, request};
use crate::cache::collapse::JoinRole;

fn changing(
    zone: &str,
    first: &'static str,
    status: u16,
    second: &'static [(&'static str, &'static str)],
) -> Fixture {
    Fixture::new(zone, move |_, number| async move {
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
async fn background_response_ends_stale_while_revalidate() {
    for (status, second) in CHANGES {
        let fixture = changing("", "max-age=0, stale-while-revalidate=600", *status, second);
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.body, "old");
        while fixture.node.store.usage().objects > 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            assert_eq!(fixture.get("/", &[]).await.body, "new", "{status} {second:?}");
        }
    }
}

#[tokio::test]
async fn failure_does_not_restore_a_replaced_object() {
    for (status, second) in CHANGES {
        let fixture = Fixture::new("stale_if_error = \"1h\"\n", move |_, number| async move {
            let mut response = Response::new(Body::whole(if number == 0 { "old" } else { "new" }));
            let first = [("cache-control", "max-age=0"), ("etag", "\"v1\"")];
            for (name, value) in if number == 0 { &first } else { *second } {
                response.headers_mut().append(*name, value.parse().unwrap());
            }
            let status = [200, *status, 503][number.min(2)];
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        });
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.body, "new", "{status} {second:?}");
        assert_eq!(fixture.get("/", &[]).await.status, 503, "{status} {second:?}");
    }
}

#[tokio::test]
async fn failure_ends_no_use() {
    for status in [500, 502, 503, 504, 429] {
        let fixture = changing("", "max-age=0, stale-while-revalidate=600", status, &[]);
        fixture.get("/", &[]).await;
        for _ in 0..3 {
            assert_eq!(fixture.get("/", &[]).await.body, "old", "{status}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn aborted_response_ends_no_use() {
    let fixture = Fixture::new("", |_, number| async move {
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
    fixture.get("/", &[]).await;
    for asked in 1..4 {
        assert_eq!(fixture.get("/", &[]).await.body, "old");
        while fixture.request_count() <= asked
            || !matches!(
                fixture.node.collapse.join(&key(), tier_routing::Role::Lower, || None),
                JoinRole::Leader(_)
            )
        {
            tokio::task::yield_now().await;
        }
        while fixture.node.store.whole(&key(), &http_stack::HeaderMap::new()).is_none() {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn oversized_background_response_ends_the_old_use() {
    let fixture = Fixture::new("largest = \"1KB\"\n", |_, number| async move {
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
    fixture.get("/", &[]).await;
    assert_eq!(fixture.get("/", &[]).await.body, "old");
    while fixture.node.store.usage().objects > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    while !matches!(
        fixture.node.collapse.join(&key(), tier_routing::Role::Lower, || None),
        JoinRole::Leader(_)
    ) {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    assert_eq!(fixture.node.store.usage().objects, 0);
}

fn slow_first(later: &'static [(u16, &'static str)]) -> (Arc<Fixture>, Arc<Notify>) {
    let release = Arc::new(Notify::new());
    let held = Arc::clone(&release);
    let fixture = Fixture::new("requests_decide = true\n", move |_, number| {
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
    (Arc::new(fixture), release)
}

#[tokio::test]
async fn earlier_response_is_not_stored_after_a_later_one() {
    for later in [
        &[(404, "no-store")][..],
        &[(410, "no-store")],
        &[(200, "no-store")],
        &[(200, "private")],
        &[(200, "max-age=600")],
        &[(503, "no-store"), (404, "no-store")],
    ] {
        let (fixture, release) = slow_first(later);
        let slow = tokio::spawn({
            let fixture = Arc::clone(&fixture);
            async move { fixture.get("/", &[]).await }
        });
        while fixture.request_count() == 0 {
            tokio::task::yield_now().await;
        }
        for _ in later {
            fixture.get("/", &[("cache-control", "no-cache")]).await;
        }
        release.notify_one();
        assert_eq!(slow.await.unwrap().body, "0");
        assert_ne!(fixture.get("/", &[]).await.body, "0", "{later:?}");
    }
}

#[tokio::test]
async fn superseded_response_still_ends_the_old_use() {
    let release = Arc::new(Notify::new());
    let held = Arc::clone(&release);
    let fixture = Fixture::new("requests_decide = true\n", move |_, number| {
        let held = Arc::clone(&held);
        async move {
            if number == 1 {
                held.notified().await;
            }
            let mut response = Response::new(Body::whole(format!("{number}")));
            let lifetime = if number == 0 { "max-age=0, stale-while-revalidate=600" } else { "max-age=600" };
            response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
            response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
            // The third response supersedes the second, which does not vary, and is for another
            // device than the first.
            if number != 1 {
                response.headers_mut().insert("vary", "x-device".parse().unwrap());
            }
            response
        }
    });
    let phone = [("x-device", "phone")];
    for _ in 0..2 {
        assert_eq!(fixture.get("/", &phone).await.body, "0");
    }
    while fixture.request_count() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.get("/", &[("cache-control", "no-cache")]).await.body, "2");
    release.notify_one();
    while !matches!(
        fixture.node.collapse.join(&key(), tier_routing::Role::Lower, || None),
        JoinRole::Leader(_)
    ) {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.get("/", &phone).await.body, "3");
    assert_eq!(fixture.get("/", &[]).await.body, "2");
}

#[tokio::test]
async fn later_failure_does_not_block_storing() {
    let (fixture, release) = slow_first(&[(503, "no-store")]);
    let slow = tokio::spawn({
        let fixture = Arc::clone(&fixture);
        async move { fixture.get("/", &[]).await }
    });
    while fixture.request_count() == 0 {
        tokio::task::yield_now().await;
    }
    fixture.get("/", &[("cache-control", "no-cache")]).await;
    release.notify_one();
    assert_eq!(slow.await.unwrap().body, "0");
    assert_eq!(fixture.get("/", &[]).await.body, "0");
}

fn key() -> http_cache::Key {
    let url = "http://shop.example/".parse().unwrap();
    http_cache::Key::of(&url, &http_stack::HeaderMap::new(), &http_cache::KeyRule::default())
}

#[tokio::test]
async fn aborted_unsafe_response_invalidates() {
    for method in [Method::DELETE, Method::PUT, Method::POST] {
        let fixture = Fixture::new("", |request: http_stack::Request<Body>, number| async move {
            let mut response = Response::new(Body::whole(format!("{number}")));
            response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
            if *request.method() != Method::GET {
                let (sender, body) = Body::channel(1);
                drop(sender);
                *response.body_mut() = body;
            }
            response
        });
        assert_eq!(fixture.get("/", &[]).await.body, "0");
        let response = fixture.node.serve(request(method.clone(), "/", &[])).await;
        let status = response.status();
        assert!(response.into_body().collect(100).await.is_err() || status == StatusCode::BAD_GATEWAY);
        assert_eq!(fixture.get("/", &[]).await.body, "2", "{method}");
    }
}

#[tokio::test]
async fn host_spelling_is_normalized_for_the_origin() {
    let fixture = Fixture::new("", |request: http_stack::Request<Body>, _| async move {
        let host = request.headers()["host"].to_str().unwrap().to_owned();
        let mut response = Response::new(Body::whole(host));
        response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
        response
    });
    for host in ["SHOP.example", "shop.example.", "shop.example:80", "shop.example:"] {
        assert_eq!(fixture.get("/", &[("host", host)]).await.body, "shop.example", "{host}");
    }
    assert_eq!(fixture.request_count(), 1);
    for host in ["shop.example..", ".shop.example", "shop..example", "."] {
        assert_eq!(fixture.get("/", &[("host", host)]).await.status, 400, "{host}");
    }
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn head_gets_stale_object_on_origin_failure() {
    let fixture = changing("stale_if_error = \"1h\"\n", "max-age=0", 503, &[]);
    fixture.get("/", &[]).await;
    let response = fixture.node.serve(request(Method::HEAD, "/", &[])).await;
    assert_eq!(
        (response.status(), &response.headers()["etag"]),
        (StatusCode::OK, &"\"v1\"".parse().unwrap())
    );
}

#[tokio::test]
async fn response_ends_the_use_of_its_own_variant() {
    let fixture = Fixture::new("", |request, number| async move {
        let language = request.headers()["x-language"].to_str().unwrap().to_owned();
        let mut response = Response::new(Body::whole(format!("{language} {number}")));
        let lifetime = if number < 2 { "max-age=0, stale-while-revalidate=600" } else { "no-store" };
        response.headers_mut().insert("cache-control", lifetime.parse().unwrap());
        response.headers_mut().insert("etag", format!("\"{language}\"").parse().unwrap());
        response.headers_mut().insert("vary", "x-language".parse().unwrap());
        response
    });
    for language in ["de", "en"] {
        fixture.get("/", &[("x-language", language)]).await;
    }
    fixture.get("/", &[("x-language", "de")]).await;
    while fixture.node.store.usage().objects > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.get("/", &[("x-language", "en")]).await.body, "en 1");
}

#[tokio::test]
async fn purge_ends_every_use_except_stale_if_error() {
    let kept = "max-age=600, stale-while-revalidate=600";
    for depth in [Depth::Soft, Depth::Hard] {
        let fixture = changing("stale_if_error = \"1h\"\n", kept, 404, &[]);
        fixture.get("/", &[]).await;
        fixture.node.purge("z", vec![Purge::Everything], depth);
        for _ in 0..2 {
            assert_eq!(fixture.get("/", &[]).await.body, "new", "{depth:?}");
        }
    }
    let fixture = changing("stale_if_error = \"1h\"\n", kept, 503, &[]);
    fixture.get("/", &[]).await;
    fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
    assert_eq!(fixture.get("/", &[]).await.body, "old");
}

#[tokio::test]
async fn request_with_content_leaves_the_store_alone() {
    let fixture = Fixture::new("", |request: http_stack::Request<Body>, _| async move {
        let content = request.into_body().collect(100).await.unwrap();
        let mut response = Response::new(Body::whole([&b"echo:"[..], &content].concat()));
        response.headers_mut().insert("cache-control", "max-age=600".parse().unwrap());
        response
    });
    for method in [Method::GET, Method::HEAD] {
        for path in ["/stored", "/not-stored"] {
            if path == "/stored" {
                fixture.get(path, &[]).await;
            }
            let mut poisoning = request(method.clone(), path, &[]);
            *poisoning.body_mut() = Body::whole("evil");
            fixture.send(poisoning).await;
            assert_eq!(fixture.get(path, &[]).await.body, Bytes::from("echo:"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn empty_content_is_no_content() {
    let fixture = Fixture::new("", async |_, number| super::with("max-age=600", format!("{number}")));
    assert_eq!(fixture.get("/", &[]).await.body, "0");
    for method in [Method::GET, Method::HEAD] {
        let (sender, body) = Body::channel(1);
        tokio::spawn(sender.finish());
        let mut chunked = request(method.clone(), "/", &[]);
        *chunked.body_mut() = body;
        assert_eq!(fixture.send(chunked).await.told, "lhr; hit", "{method}");
    }
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn rule_ttl_stores_no_errors_and_no_cookies() {
    let rule = "[[zone.rule]]\npath = \"/*\"\nedge_ttl = \"1h\"\n";
    for status in [401, 403, 429, 500, 501, 502, 503, 504] {
        let fixture = Fixture::new(rule, move |_, number| async move {
            let mut response = Response::new(Body::whole(format!("{number}")));
            if number == 0 {
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
            }
            response
        });
        assert_eq!(fixture.get("/", &[]).await.status, status);
        assert_eq!(fixture.get("/", &[]).await.body, "1");
    }
    let fixture = Fixture::new(rule, |_, number| async move {
        let mut response = Response::new(Body::whole("page"));
        response.headers_mut().insert("cache-control", "private".parse().unwrap());
        response.headers_mut().insert("set-cookie", format!("sid={number}").parse().unwrap());
        response
    });
    let first = fixture.node.serve(request(Method::GET, "/", &[])).await;
    assert_eq!(first.headers()["set-cookie"], "sid=0");
    let second = fixture.node.serve(request(Method::GET, "/", &[])).await;
    assert!(!second.headers().contains_key("set-cookie"));
    assert_eq!(fixture.request_count(), 1);
}
