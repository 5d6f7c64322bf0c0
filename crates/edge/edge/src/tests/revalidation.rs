//! A later response is checked like a new one: its fields reach other clients only if it may be
//! stored.

use std::sync::{Arc, Mutex};

use http_stack::{Body, HeaderMap, Method, Request, Response, StatusCode};

use super::{Fixture, request};

type Fields = &'static [(&'static str, &'static str)];

fn answer(status: u16, fields: Fields, body: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert("etag", "\"v1\"".parse().unwrap());
    for (name, value) in fields {
        response.headers_mut().append(*name, value.parse().unwrap());
    }
    response
}

fn confirming(zone: &str, first: Fields, second: Fields) -> Fixture {
    Fixture::new(zone, move |_, number| async move {
        match number {
            0 => answer(200, first, "first"),
            1 => answer(304, second, ""),
            _ => answer(200, &[("cache-control", "no-store")], "new"),
        }
    })
}

async fn ask(fixture: &Fixture, method: Method, fields: &[(&'static str, &str)]) -> (HeaderMap, String) {
    let response = fixture.node.serve(request(method, "/", fields)).await;
    let (head, body) = response.into_parts();
    (head.headers, String::from_utf8(body.collect(1 << 20).await.unwrap().to_vec()).unwrap())
}

const STALE: Fields = &[("cache-control", "max-age=0")];

#[tokio::test]
async fn revalidation_may_end_a_stored_response() {
    for (second, request) in [
        (&[("cache-control", "private, max-age=60")][..], ("cookie", "sid=a")),
        (&[("cache-control", "no-store")], ("cookie", "sid=a")),
        (&[("cdn-cache-control", "private, max-age=60")], ("cookie", "sid=a")),
        (&[("cdn-cache-control", "no-store")], ("cookie", "sid=a")),
        (&[("cache-control", "max-age=60"), ("vary", "*")], ("cookie", "sid=a")),
        (&[("cache-control", "max-age=60"), ("vary", "cookie")], ("cookie", "sid=a")),
        (&[("cache-control", "max-age=60"), ("set-cookie", "sid=a")], ("cookie", "sid=a")),
        (&[("cache-control", "max-age=60"), ("x-user", "a")], ("authorization", "Basic a")),
    ] {
        let fixture = confirming("", STALE, second);
        ask(&fixture, Method::GET, &[]).await;
        let (headers, body) = ask(&fixture, Method::GET, &[request]).await;
        assert_eq!(body, "first", "{second:?}");
        for (name, value) in second {
            assert_eq!(headers[*name], *value, "{second:?}");
        }
        let (headers, body) = ask(&fixture, Method::GET, &[("cookie", "sid=b")]).await;
        assert_eq!(body, "new", "{second:?}");
        assert!(!headers.contains_key("set-cookie") && !headers.contains_key("x-user"), "{second:?}");
    }
}

#[tokio::test]
async fn mismatched_304_updates_nothing() {
    for (first, second) in [
        (&[("last-modified", "Wed, 01 Jan 2020 00:00:00 GMT")][..], &[("etag", "\"v2\"")][..]),
        (
            &[("last-modified", "Wed, 01 Jan 2020 00:00:00 GMT")],
            &[("last-modified", "Thu, 02 Jan 2020 00:00:00 GMT")],
        ),
        (&[("etag", "\"v1\"")], &[("etag", "\"v2\"")]),
    ] {
        let fixture = Fixture::new("", move |_, number| async move {
            let (status, fields, body) =
                [(200, first, "first"), (304, second, ""), (200, second, "new")][number.min(2)];
            let mut response = Response::new(Body::whole(body));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            for (name, value) in fields.iter().chain(STALE) {
                response.headers_mut().append(*name, value.parse().unwrap());
            }
            response
        });
        assert_eq!(ask(&fixture, Method::GET, &[]).await.1, "first");
        let (headers, body) = ask(&fixture, Method::GET, &[]).await;
        assert_eq!((&body[..], &headers[second[0].0]), ("new", &second[0].1.parse().unwrap()), "{first:?}");
        assert_eq!(fixture.request_count(), 3, "{first:?}");
    }
}

#[tokio::test]
async fn fields_of_many_304s_are_bounded() {
    let fixture = Fixture::new("", |request: Request<Body>, number| async move {
        let is_known = request.headers().contains_key("if-none-match");
        let (status, body) = if is_known { (304, "") } else { (200, "first") };
        let mut response = answer(status, STALE, body);
        let name = http_stack::HeaderName::try_from(format!("x-{number}")).unwrap();
        response.headers_mut().append(name, "a".repeat(10_000).parse().unwrap());
        response
    });
    let mut most = 0;
    for _ in 0..20 {
        let (headers, _) = ask(&fixture, Method::GET, &[]).await;
        most = most.max(headers.values().map(http_stack::HeaderValue::len).sum());
    }
    assert!((30_000..80_000).contains(&most), "{most}");
}

#[tokio::test]
async fn vary_of_a_304_selects_variants() {
    let fixture = confirming("", STALE, &[("cache-control", "max-age=60"), ("vary", "cookie")]);
    ask(&fixture, Method::GET, &[]).await;
    ask(&fixture, Method::GET, &[("cookie", "sid=a")]).await;
    assert_eq!(ask(&fixture, Method::GET, &[("cookie", "sid=a")]).await.1, "first");
    assert_eq!(fixture.request_count(), 2);
    assert_eq!(ask(&fixture, Method::GET, &[("cookie", "sid=b")]).await.1, "new");
}

#[tokio::test]
async fn set_cookie_is_stored_if_the_zone_allows() {
    let cookie = &[("cache-control", "max-age=60"), ("set-cookie", "a=b")];
    let fixture =
        Fixture::new("store_set_cookie = true\n", move |_, _| async move { answer(200, cookie, "it") });
    ask(&fixture, Method::GET, &[]).await;
    assert_eq!(ask(&fixture, Method::GET, &[]).await.0["set-cookie"], "a=b");
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test]
async fn head_may_end_or_refresh_a_stored_response() {
    for (second, is_kept) in [
        (&[("cache-control", "max-age=60")][..], true),
        (&[("cache-control", "private")], false),
        (&[("cache-control", "no-store")], false),
        (&[("cache-control", "max-age=60"), ("vary", "*")], false),
        (&[("cache-control", "max-age=60"), ("set-cookie", "sid=a")], false),
    ] {
        let fixture = Fixture::new("", move |request: Request<Body>, number| async move {
            if *request.method() == Method::HEAD {
                return answer(200, second, "");
            }
            answer(200, STALE, if number == 0 { "first" } else { "new" })
        });
        ask(&fixture, Method::GET, &[]).await;
        ask(&fixture, Method::HEAD, &[("cookie", "sid=a")]).await;
        let (headers, body) = ask(&fixture, Method::GET, &[]).await;
        assert_eq!(body == "first", is_kept, "{second:?}");
        assert!(!headers.contains_key("set-cookie"), "{second:?}");
    }
}

/// A body of 40 000 bytes, stored in parts.
fn in_parts(
    of_part: impl Fn(&Request<Body>) -> Fields + Send + Sync + 'static,
) -> (Fixture, Arc<Mutex<Vec<String>>>) {
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ranges);
    let fixture = Fixture::new("largest = \"10KB\"\n", move |request: Request<Body>, _| {
        let fields = of_part(&request);
        let range = request.headers().get("range").map(|range| range.to_str().unwrap().to_owned());
        seen.lock().unwrap().extend(range.clone());
        async move {
            // The first request is for the complete body. An announced length of this size is then
            // requested in parts.
            let Some(range) = range else {
                return answer(200, fields, "").map(|_| Body::whole(vec![b'x'; 40_000]));
            };
            let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
            let mut response = answer(206, fields, "");
            *response.body_mut() = Body::whole(vec![b'x'; last + 1 - first]);
            let label = format!("bytes {first}-{last}/40000");
            response.headers_mut().insert("content-range", label.parse().unwrap());
            response
        }
    });
    (fixture, ranges)
}

#[tokio::test]
async fn private_ranges_are_not_stored() {
    for (of_victim, request) in [
        (&[("cache-control", "max-age=600"), ("x-user", "victim")][..], ("authorization", "Basic a")),
        (&[("cache-control", "private, max-age=600"), ("x-user", "victim")], ("cookie", "sid=a")),
        (&[("cache-control", "no-store"), ("x-user", "victim")], ("cookie", "sid=a")),
        (
            &[("cache-control", "max-age=600"), ("set-cookie", "sid=a"), ("x-user", "victim")],
            ("cookie", "sid=a"),
        ),
    ] {
        let (fixture, ranges) = in_parts(move |asked| {
            if asked.headers().contains_key(request.0) {
                of_victim
            } else {
                &[("cache-control", "max-age=600")]
            }
        });
        let part = async |range: &str, more: &[(&'static str, &str)]| {
            let fields: Vec<_> = [("range", range)].into_iter().chain(more.iter().copied()).collect();
            ask(&fixture, Method::GET, &fields).await
        };
        part("bytes=0-999", &[]).await;
        part("bytes=0-999", &[]).await;
        part("bytes=500-1499", &[request]).await;
        let before = ranges.lock().unwrap().len();
        let (headers, body) = part("bytes=1000-1499", &[]).await;
        assert_eq!((ranges.lock().unwrap().len(), body.len()), (before + 1, 500), "{of_victim:?}");
        assert!(!headers.contains_key("x-user") && !headers.contains_key("set-cookie"), "{of_victim:?}");
    }
}

#[tokio::test]
async fn private_resume_is_not_combined() {
    for (second, is_joined) in [
        (&[("cache-control", "max-age=60")][..], true),
        (&[("cache-control", "private")], false),
        (&[("cache-control", "max-age=60"), ("set-cookie", "sid=a")], false),
        (&[("cache-control", "max-age=60"), ("vary", "*")], false),
    ] {
        let fixture = Fixture::new("", move |_, number| async move {
            if number > 0 {
                let mut rest = answer(206, second, "56789");
                rest.headers_mut().insert("content-range", "bytes 5-9/10".parse().unwrap());
                return rest;
            }
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("01234").await.unwrap();
                for _ in 0..1000 {
                    tokio::task::yield_now().await;
                }
            });
            let mut first = answer(200, &[("cache-control", "max-age=60"), ("content-length", "10")], "");
            *first.body_mut() = body;
            first
        });
        let response = fixture.node.serve(request(Method::GET, "/", &[])).await;
        let read = response.into_body().collect(100).await;
        assert_eq!(read.is_ok_and(|body| body == "0123456789"), is_joined, "{second:?}");
    }
}
