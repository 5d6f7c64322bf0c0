//! Selection of variants, their eviction, and updates by HEAD.

use http_stack::{Body, HeaderValue, Method, Request, Response};

use super::{Fixture, receive, request, with};

fn of(name: &'static str, request: &Request<Body>) -> Response<Body> {
    let lines: Vec<_> = request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect();
    let mut response = with("max-age=600", lines.join(&b"|"[..]));
    response.headers_mut().insert("vary", name.parse().unwrap());
    response
}

async fn asked_with(fixture: &Fixture, name: &'static str, values: &[&[u8]]) -> Vec<u8> {
    let mut request = request(Method::GET, "/", &[]);
    for value in values {
        request.headers_mut().append(name, HeaderValue::from_bytes(value).unwrap());
    }
    receive(fixture.node.serve(request).await).await.body.to_vec()
}

#[tokio::test]
async fn non_ascii_cookies_are_different_variants() {
    let fixture = Fixture::new("", async |request, _| of("cookie", &request));
    let values: [&[u8]; 6] = [b"u=ren\xe9", b"u=ren\xe8", b"u=ren\xc3\xa9", b"u=ren", b"", b"u=ren\xe9; a=1"];
    for _ in 0..2 {
        for value in values {
            assert_eq!(asked_with(&fixture, "cookie", &[value]).await, value, "{value:?}");
        }
        assert_eq!(asked_with(&fixture, "cookie", &[]).await, b"");
    }
    assert_eq!(fixture.request_count(), values.len() + 1);
}

#[tokio::test]
async fn order_of_equal_language_weights_counts() {
    let fixture = Fixture::new("", async |request, _| of("accept-language", &request));
    for value in [&b"de, en"[..], b"en, de", b"de;q=0.5, en;q=0.5"] {
        assert_eq!(asked_with(&fixture, "accept-language", &[value]).await, value);
    }
    assert_eq!(asked_with(&fixture, "accept-language", &[b"EN,de;q=1.0"]).await, b"en, de");
    assert_eq!(asked_with(&fixture, "accept-language", &[b"de", b"en"]).await, b"de, en");
    assert_eq!(fixture.request_count(), 3);
}

#[tokio::test]
async fn unreadable_vary_is_not_shared() {
    let fixture = Fixture::new("", async |_, number| {
        let mut response = with("max-age=600", number.to_string());
        response.headers_mut().insert("vary", HeaderValue::from_bytes(b"accept, x-\xe9").unwrap());
        response
    });
    for number in ["0", "1", "2"] {
        let received = fixture.get("/", &[]).await;
        assert_eq!(received.body, number, "{}", received.told);
    }
}

#[tokio::test]
async fn hot_variant_is_not_evicted() {
    let fixture = Fixture::new("", async |request, _| of("x-a", &request));
    fixture.get("/", &[("x-a", "popular")]).await;
    for number in 0..200 {
        fixture.get("/", &[("x-a", &number.to_string())]).await;
        let popular = fixture.get("/", &[("x-a", "popular")]).await;
        assert_eq!(popular.told, "lhr; hit", "{number}");
    }
    assert_eq!(fixture.request_count(), 201);
    assert_eq!(fixture.node.store.usage().objects, 64);
}

fn behind_head(tag: &'static str, length: &'static str) -> Fixture {
    Fixture::new("", move |request: Request<Body>, number: usize| async move {
        let is_head = request.method() == Method::HEAD;
        let mut response = with(if is_head { "max-age=600" } else { "max-age=0" }, "it");
        let headers = response.headers_mut();
        headers.insert("etag", if is_head { tag } else { "\"a\"" }.parse().unwrap());
        headers.insert("x-number", number.into());
        if is_head {
            headers.insert("content-length", length.parse().unwrap());
            *response.body_mut() = Body::empty();
        }
        response
    })
}

#[tokio::test]
async fn matching_head_refreshes_a_stale_object() {
    let fixture = behind_head("\"a\"", "2");
    fixture.get("/", &[]).await;
    let head = fixture.node.serve(request(Method::HEAD, "/", &[])).await;
    assert_eq!((head.headers()["x-number"].to_str().unwrap(), fixture.request_count()), ("1", 2));
    for _ in 0..2 {
        let got = fixture.node.serve(request(Method::GET, "/", &[])).await;
        assert_eq!(got.headers()["x-number"], "1");
        let received = receive(got).await;
        assert_eq!((received.told.as_str(), &received.body[..]), ("lhr; hit", &b"it"[..]));
    }
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn contradicting_head_changes_no_field() {
    for (tag, length) in [("\"b\"", "2"), ("\"a\"", "3")] {
        let fixture = behind_head(tag, length);
        fixture.get("/", &[]).await;
        fixture.node.serve(request(Method::HEAD, "/", &[])).await;
        let got = fixture.node.serve(request(Method::GET, "/", &[])).await;
        assert_eq!((got.headers()["etag"].to_str().unwrap(), fixture.request_count()), ("\"a\"", 3));
    }
}

#[tokio::test]
async fn uncacheable_head_does_not_affect_get() {
    let fixture = Fixture::new("", async |request, _| {
        let mut response = with("max-age=600", "it");
        if request.method() == Method::HEAD {
            *response.body_mut() = Body::empty();
        }
        response
    });
    for _ in 0..3 {
        fixture.node.serve(request(Method::HEAD, "/", &[])).await;
    }
    assert_eq!(fixture.get("/", &[]).await.body, "it");
    assert_eq!(fixture.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(
        fixture.node.serve(request(Method::HEAD, "/", &[])).await.headers()["cache-status"].as_bytes()[..8],
        *b"lhr; hit"
    );
    assert_eq!(fixture.request_count(), 4);
}
