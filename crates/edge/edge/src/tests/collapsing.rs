//! Requests that wait for one response share it only if it may be reused for them without asking
//! the origin.

use std::sync::Arc;

use http_stack::{Body, Bytes, Method, Request, Response};
use tokio::sync::{Barrier, Semaphore};

use super::{Fixture, ReceivedResponse, request, with};

const CLIENTS: usize = 4;

fn page(request: &Request<Body>) -> Bytes {
    let cookie = request.headers().get("cookie").map_or("nobody", |cookie| cookie.to_str().unwrap());
    format!("page of {cookie}").into()
}

fn cookie(client: usize) -> &'static str {
    ["u=0", "u=1", "u=2", "u=3"][client]
}

async fn together(fixture: &Arc<Fixture>, fields: &[(&'static str, &'static str)]) -> Vec<Response<Bytes>> {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (fixture, fields) = (Arc::clone(fixture), fields.to_vec());
        clients.spawn(async move {
            let fields: Vec<_> = fields.into_iter().chain([("cookie", cookie(client))]).collect();
            let response = fixture.node.serve(request(Method::GET, "/me", &fields)).await;
            let (head, body) = response.into_parts();
            (client, Response::from_parts(head, body.collect(1000).await.unwrap()))
        });
    }
    let mut received = clients.join_all().await;
    received.sort_by_key(|(client, _)| *client);
    received.into_iter().map(|(_, response)| response).collect()
}

fn slow(fields: &'static [(&'static str, &'static str)]) -> Arc<Fixture> {
    Arc::new(Fixture::new("", move |request, number| async move {
        if number == 0 {
            // All requests of a test are sent before the runtime polls the origin's connection
            // again.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        let mut response = Response::new(Body::whole(page(&request)));
        for (name, value) in fields {
            response.headers_mut().append(*name, value.parse().unwrap());
        }
        let own = format!("sid={number}");
        response.headers_mut().append("x-own", own.parse().unwrap());
        response
    }))
}

#[tokio::test]
async fn no_cache_response_is_not_shared() {
    for fields in [
        &[("etag", "\"a\"")][..],
        &[("etag", "W/\"a\"")],
        &[("cache-control", "no-cache"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=0, must-revalidate"), ("etag", "\"a\"")],
        &[("cache-control", "s-maxage=0"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=60, s-maxage=0"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=60"), ("cdn-cache-control", "no-cache"), ("etag", "\"a\"")],
        &[("expires", "Thu, 19 Nov 1981 08:52:00 GMT"), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")],
        &[("expires", "0"), ("etag", "\"a\"")],
        &[("pragma", "no-cache"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=60"), ("age", "60"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=60"), ("set-cookie", "a=b")],
        &[("cache-control", "private, max-age=60"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=60"), ("vary", "cookie")],
        &[("cache-control", "max-age=60"), ("vary", "*")],
    ] {
        let fixture = slow(fields);
        for _round in 0..2 {
            for (client, response) in together(&fixture, &[]).await.into_iter().enumerate() {
                assert_eq!(*response.body(), format!("page of {}", cookie(client)), "{fields:?}");
            }
        }
    }
}

#[tokio::test]
async fn fresh_response_is_shared() {
    let fixture = slow(&[("cache-control", "max-age=60")]);
    let received = together(&fixture, &[]).await;
    assert!(received.windows(2).all(|two| two[0].body() == two[1].body()));
    assert_eq!(fixture.request_count(), 1);
    let fixture = slow(&[("cache-control", "max-age=0, stale-while-revalidate=60"), ("etag", "\"a\"")]);
    let received = together(&fixture, &[]).await;
    assert!(received.windows(2).all(|two| two[0].body() == two[1].body()));
}

#[tokio::test]
async fn private_fields_go_to_the_leader_only() {
    let fixture = slow(&[
        ("cache-control", "max-age=60, no-cache=\"x-own\", private=\"set-cookie\""),
        ("set-cookie", "a=b"),
    ]);
    let received = together(&fixture, &[]).await;
    let has = |name| received.iter().filter(|response| response.headers().contains_key(name)).count();
    assert_eq!((fixture.request_count(), has("x-own"), has("set-cookie")), (1, 1, 1));
}

#[tokio::test]
async fn hit_for_miss_disables_collapsing() {
    let both = Arc::new(Barrier::new(2));
    let fixture = Fixture::new("", move |_, number| {
        let both = Arc::clone(&both);
        async move {
            if number > 0 {
                both.wait().await;
            }
            let mut response = with("no-cache", format!("{number}"));
            response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
            response
        }
    });
    fixture.get("/", &[]).await;
    let (one, other) = tokio::join!(fixture.get("/", &[]), fixture.get("/", &[]));
    assert_ne!(one.body, other.body);
}

#[tokio::test]
async fn unshared_followers_fetch_a_few_at_a_time() {
    let (open, most) = (Arc::new(Semaphore::new(0)), Arc::new(std::sync::Mutex::new((0, 0))));
    let (opened, seen) = (Arc::clone(&open), Arc::clone(&most));
    let fixture = Arc::new(Fixture::new("", move |_, number| {
        let (open, seen) = (Arc::clone(&opened), Arc::clone(&seen));
        async move {
            {
                let mut seen = seen.lock().unwrap();
                seen.0 += 1;
                seen.1 = seen.1.max(seen.0);
            }
            open.acquire().await.unwrap().forget();
            seen.lock().unwrap().0 -= 1;
            with("private", format!("{number}"))
        }
    }));
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let fixture = Arc::clone(&fixture);
        clients.spawn(async move { fixture.get("/", &[]).await });
    }
    while fixture.request_count() == 0 {
        tokio::task::yield_now().await;
    }
    open.add_permits(1);
    let opening = tokio::spawn(async move {
        loop {
            tokio::task::yield_now().await;
            open.add_permits(1);
        }
    });
    let received: Vec<ReceivedResponse> = clients.join_all().await;
    opening.abort();
    assert_eq!((received.len(), fixture.request_count()), (200, 200));
    assert!(most.lock().unwrap().1 <= 33, "{most:?}");
}

#[tokio::test]
async fn validating_request_joins_no_earlier_fetch() {
    for fields in [("cache-control", "no-cache"), ("cache-control", "max-age=0"), ("pragma", "no-cache")] {
        let both = Arc::new(Barrier::new(2));
        let fixture = Fixture::new("requests_decide = true\n", move |_, number| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                with("max-age=60", format!("{number}"))
            }
        });
        let asks = [fields];
        let (plain, validated) = tokio::join!(fixture.get("/", &[]), fixture.get("/", &asks));
        assert_ne!(plain.body, validated.body, "{fields:?}");
    }
}
