//! Selection of variants, their eviction, and updates by HEAD.

use http::{Body, HeaderValue, Method, Request, Response};

use super::{Stage, came, request, with};

/// A response that varies on a field and repeats its bytes.
fn of(name: &'static str, request: &Request<Body>) -> Response<Body> {
    let lines: Vec<_> = request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect();
    let mut response = with("max-age=600", lines.join(&b"|"[..]));
    response.headers_mut().insert("vary", name.parse().unwrap());
    response
}

async fn asked_with(stage: &Stage, name: &'static str, values: &[&[u8]]) -> Vec<u8> {
    let mut request = request(Method::GET, "/", &[]);
    for value in values {
        request.headers_mut().append(name, HeaderValue::from_bytes(value).unwrap());
    }
    came(stage.edge.serve(request).await).await.body.to_vec()
}

#[tokio::test]
async fn cookies_that_differ_beyond_ascii_are_different_variants() {
    let stage = Stage::new("", async |request, _| of("cookie", &request));
    let values: [&[u8]; 6] = [b"u=ren\xe9", b"u=ren\xe8", b"u=ren\xc3\xa9", b"u=ren", b"", b"u=ren\xe9; a=1"];
    for _ in 0..2 {
        for value in values {
            assert_eq!(asked_with(&stage, "cookie", &[value]).await, value, "{value:?}");
        }
        assert_eq!(asked_with(&stage, "cookie", &[]).await, b"");
    }
    // An absent field differs from an empty one.
    assert_eq!(stage.asked(), values.len() + 1);
}

#[tokio::test]
async fn the_order_of_languages_with_equal_weights_counts() {
    let stage = Stage::new("", async |request, _| of("accept-language", &request));
    for value in [&b"de, en"[..], b"en, de", b"de;q=0.5, en;q=0.5"] {
        assert_eq!(asked_with(&stage, "accept-language", &[value]).await, value);
    }
    // Equal values in another notation.
    assert_eq!(asked_with(&stage, "accept-language", &[b"EN,de;q=1.0"]).await, b"en, de");
    assert_eq!(asked_with(&stage, "accept-language", &[b"de", b"en"]).await, b"de, en");
    assert_eq!(stage.asked(), 3);
}

#[tokio::test]
async fn a_vary_that_cannot_be_read_is_for_one_request() {
    let stage = Stage::new("", async |_, number| {
        let mut response = with("max-age=600", number.to_string());
        response.headers_mut().insert("vary", HeaderValue::from_bytes(b"accept, x-\xe9").unwrap());
        response
    });
    for number in ["0", "1", "2"] {
        let came = stage.get("/", &[]).await;
        assert_eq!(came.body, number, "{}", came.told);
    }
}

#[tokio::test]
async fn a_variant_that_is_asked_for_all_the_time_stays_while_others_come_and_go() {
    let stage = Stage::new("", async |request, _| of("x-a", &request));
    stage.get("/", &[("x-a", "popular")]).await;
    for number in 0..200 {
        stage.get("/", &[("x-a", &number.to_string())]).await;
        let popular = stage.get("/", &[("x-a", "popular")]).await;
        assert_eq!(popular.told, "lhr; hit", "{number}");
    }
    assert_eq!(stage.asked(), 201);
    assert_eq!(stage.edge.store.usage().objects, 64);
}

/// An origin whose GET responses are stale on arrival, and whose HEAD responses are fresh.
fn behind_head(tag: &'static str, length: &'static str) -> Stage {
    Stage::new("", move |request: Request<Body>, number: usize| async move {
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
async fn a_head_that_confirms_a_stale_object_makes_it_fresh() {
    let stage = behind_head("\"a\"", "2");
    stage.get("/", &[]).await;
    let head = stage.edge.serve(request(Method::HEAD, "/", &[])).await;
    assert_eq!((head.headers()["x-number"].to_str().unwrap(), stage.asked()), ("1", 2));
    for _ in 0..2 {
        let got = stage.edge.serve(request(Method::GET, "/", &[])).await;
        assert_eq!(got.headers()["x-number"], "1");
        let came = came(got).await;
        assert_eq!((came.told.as_str(), &came.body[..]), ("lhr; hit", &b"it"[..]));
    }
    assert_eq!(stage.asked(), 2);
}

#[tokio::test]
async fn a_head_that_contradicts_an_object_changes_no_field_of_it() {
    for (tag, length) in [("\"b\"", "2"), ("\"a\"", "3")] {
        let stage = behind_head(tag, length);
        stage.get("/", &[]).await;
        stage.edge.serve(request(Method::HEAD, "/", &[])).await;
        let got = stage.edge.serve(request(Method::GET, "/", &[])).await;
        assert_eq!((got.headers()["etag"].to_str().unwrap(), stage.asked()), ("\"a\"", 3));
    }
}

#[tokio::test]
async fn heads_of_what_is_not_stored_leave_gets_their_cache() {
    let stage = Stage::new("", async |request, _| {
        let mut response = with("max-age=600", "it");
        if request.method() == Method::HEAD {
            *response.body_mut() = Body::empty();
        }
        response
    });
    for _ in 0..3 {
        stage.edge.serve(request(Method::HEAD, "/", &[])).await;
    }
    assert_eq!(stage.get("/", &[]).await.body, "it");
    assert_eq!(stage.get("/", &[]).await.told, "lhr; hit");
    assert_eq!(
        stage.edge.serve(request(Method::HEAD, "/", &[])).await.headers()["cache-status"].as_bytes()[..8],
        *b"lhr; hit"
    );
    assert_eq!(stage.asked(), 4);
}
