//! Requests that wait for one response share it only if it may be reused for them without asking the origin.

use std::sync::Arc;

use http::{Body, Bytes, Method, Request, Response};
use tokio::sync::{Barrier, Semaphore};

use super::{Came, Stage, request, with};

/// Clients that request one URL while its first response is outstanding.
const CLIENTS: usize = 4;

fn page(request: &Request<Body>) -> Bytes {
    let cookie = request.headers().get("cookie").map_or("nobody", |cookie| cookie.to_str().unwrap());
    format!("page of {cookie}").into()
}

fn cookie(client: usize) -> &'static str {
    ["u=0", "u=1", "u=2", "u=3"][client]
}

/// The responses of all clients, in order. The origin's responses are released one by one after all requests
/// have arrived.
async fn together(stage: &Arc<Stage>, fields: &[(&'static str, &'static str)]) -> Vec<Response<Bytes>> {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (stage, fields) = (Arc::clone(stage), fields.to_vec());
        clients.spawn(async move {
            let fields: Vec<_> = fields.into_iter().chain([("cookie", cookie(client))]).collect();
            let response = stage.edge.serve(request(Method::GET, "/me", &fields)).await;
            let (head, body) = response.into_parts();
            (client, Response::from_parts(head, body.collect(1000).await.unwrap()))
        });
    }
    let mut received = clients.join_all().await;
    received.sort_by_key(|(client, _)| *client);
    received.into_iter().map(|(_, response)| response).collect()
}

/// An origin whose first response is delayed until the other clients wait for it.
fn slow(fields: &'static [(&'static str, &'static str)]) -> Arc<Stage> {
    Arc::new(Stage::new("", move |request, number| async move {
        if number == 0 {
            // All requests of a test are sent before the runtime polls the origin's connection again.
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
async fn a_response_that_each_use_has_to_validate_goes_to_one_client() {
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
        let stage = slow(fields);
        for _round in 0..2 {
            for (client, response) in together(&stage, &[]).await.into_iter().enumerate() {
                assert_eq!(*response.body(), format!("page of {}", cookie(client)), "{fields:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_response_that_is_fresh_goes_to_all() {
    let stage = slow(&[("cache-control", "max-age=60")]);
    let received = together(&stage, &[]).await;
    assert!(received.windows(2).all(|two| two[0].body() == two[1].body()));
    assert_eq!(stage.asked(), 1);
    // A response that may be used during revalidation is shared, too.
    let stage = slow(&[("cache-control", "max-age=0, stale-while-revalidate=60"), ("etag", "\"a\"")]);
    let received = together(&stage, &[]).await;
    assert!(received.windows(2).all(|two| two[0].body() == two[1].body()));
}

#[tokio::test]
async fn fields_that_are_withheld_go_to_the_client_that_asked() {
    let stage = slow(&[
        ("cache-control", "max-age=60, no-cache=\"x-own\", private=\"set-cookie\""),
        ("set-cookie", "a=b"),
    ]);
    let received = together(&stage, &[]).await;
    let has = |name| received.iter().filter(|response| response.headers().contains_key(name)).count();
    assert_eq!((stage.asked(), has("x-own"), has("set-cookie")), (1, 1, 1));
}

#[tokio::test]
async fn after_one_such_response_the_next_requests_do_not_wait_for_one_another() {
    let both = Arc::new(Barrier::new(2));
    let stage = Stage::new("", move |_, number| {
        let both = Arc::clone(&both);
        async move {
            // The second and third responses wait for each other.
            if number > 0 {
                both.wait().await;
            }
            let mut response = with("no-cache", format!("{number}"));
            response.headers_mut().insert("etag", format!("\"{number}\"").parse().unwrap());
            response
        }
    });
    stage.get("/", &[]).await;
    let (one, other) = tokio::join!(stage.get("/", &[]), stage.get("/", &[]));
    assert_ne!(one.body, other.body);
}

#[tokio::test]
async fn requests_that_waited_in_vain_ask_a_few_at_a_time() {
    let (open, most) = (Arc::new(Semaphore::new(0)), Arc::new(std::sync::Mutex::new((0, 0))));
    let (opened, seen) = (Arc::clone(&open), Arc::clone(&most));
    let stage = Arc::new(Stage::new("", move |_, number| {
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
        let stage = Arc::clone(&stage);
        clients.spawn(async move { stage.get("/", &[]).await });
    }
    while stage.asked() == 0 {
        tokio::task::yield_now().await;
    }
    open.add_permits(1);
    let opening = tokio::spawn(async move {
        loop {
            tokio::task::yield_now().await;
            open.add_permits(1);
        }
    });
    let received: Vec<Came> = clients.join_all().await;
    opening.abort();
    assert_eq!((received.len(), stage.asked()), (200, 200));
    assert!(most.lock().unwrap().1 <= 33, "{most:?}");
}

#[tokio::test]
async fn a_request_for_validation_joins_no_earlier_fetch() {
    for fields in [("cache-control", "no-cache"), ("cache-control", "max-age=0"), ("pragma", "no-cache")] {
        let both = Arc::new(Barrier::new(2));
        let stage = Stage::new("requests_decide = true\n", move |_, number| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                with("max-age=60", format!("{number}"))
            }
        });
        let asks = [fields];
        let (plain, validated) = tokio::join!(stage.get("/", &[]), stage.get("/", &asks));
        assert_ne!(plain.body, validated.body, "{fields:?}");
    }
}
