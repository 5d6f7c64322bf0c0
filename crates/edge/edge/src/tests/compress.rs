//! Compression of text: responses, stored objects, and aborted compression.

use std::sync::Arc;

use http_cache::{
    Coding,
    purge::{Depth, Purge},
};
use http_stack::{Body, Bytes, HeaderMap, Method, Request, Response, StatusCode};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{Fixture, request, with};
use crate::{
    config::Disk,
    response::encoder::tests::{decoded, text},
};

const ZONE: &str = "compress = [\"zstd\", \"br\", \"gzip\"]\n";

fn document(length: usize) -> Response<Body> {
    let mut response = with("max-age=60", text(length));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("etag", "\"v1\""),
        ("cache-tag", "page"),
        ("content-md5", "x"),
    ] {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

async fn get(
    fixture: &Fixture,
    accepted: &str,
    fields: &[(&'static str, &str)],
) -> (StatusCode, HeaderMap, Bytes) {
    let fields: Vec<_> = fields.iter().copied().chain([("accept-encoding", accepted)]).collect();
    plain(fixture.node.serve(request(Method::GET, "/", &fields)).await).await
}

async fn plain(response: Response<Body>) -> (StatusCode, HeaderMap, Bytes) {
    let (parts, body) = response.into_parts();
    let body = body.collect(1 << 24).await.unwrap();
    if let Some(length) = parts.headers.get("content-length").filter(|_| parts.status == StatusCode::OK) {
        assert_eq!(length.to_str().unwrap(), body.len().to_string());
    }
    let body = match parts.headers.get("content-encoding") {
        Some(token) => {
            let coding = Coding::ALL.into_iter().find(|coding| token == coding.token()).unwrap();
            assert!(parts.status != StatusCode::OK || body.len() < 100_000, "smaller: {}", body.len());
            Bytes::from(decoded(coding, &body))
        }
        None => body,
    };
    (parts.status, parts.headers, body)
}

fn field<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn each_coding_is_encoded_once() {
    for first in ["gzip", "br", "zstd", "identity"] {
        let fixture = Fixture::new(ZONE, async |_, _| document(100_000));
        let (_, headers, body) = get(&fixture, first, &[]).await;
        assert_eq!(body, text(100_000));
        assert!(field(&headers, "cache-status").starts_with("lhr; fwd=uri-miss; fwd-status=200; stored"));
        let mut made = Vec::new();
        for round in 0..2 {
            for (accepted, token, etag) in [
                ("gzip", "gzip", "W/\"v1\""),
                ("gzip, br", "br", "W/\"v1\""),
                ("*", "zstd", "W/\"v1\""),
                ("", "", "\"v1\""),
            ] {
                let (_, headers, body) = get(&fixture, accepted, &[]).await;
                assert_eq!(body, text(100_000), "{accepted}");
                assert!(field(&headers, "cache-status").starts_with("lhr; hit"), "{headers:?}");
                assert_eq!(field(&headers, "content-encoding"), token);
                assert_eq!(field(&headers, "etag"), etag);
                assert_eq!(field(&headers, "vary"), "accept-encoding");
                assert_eq!(headers.contains_key("content-md5"), token.is_empty());
                assert_eq!(headers.contains_key("accept-ranges"), token.is_empty());
            }
            made.push(fixture.node.store.usage());
            assert_eq!(made[0], made[round]);
        }
        assert_eq!((made[0].objects, fixture.request_count()), (1, 1));
    }
}

#[tokio::test]
async fn encoded_bytes_are_accounted_and_evicted() {
    let fixture = Fixture::new(ZONE, async |_, _| document(100_000));
    let mut bytes = 0;
    for accepted in ["", "gzip", "br", "zstd"] {
        let (_, headers, _) = get(&fixture, accepted, &[]).await;
        let (_, hit, _) = get(&fixture, accepted, &[]).await;
        assert!(fixture.node.store.usage().bytes > bytes, "{headers:?}");
        let added = fixture.node.store.usage().bytes - bytes;
        let length: u64 = field(&hit, "content-length").parse().unwrap();
        assert!(if bytes == 0 { added > length } else { added == length }, "{added} for {length}");
        bytes += added;
    }
    let (_, found) = fixture.node.purge("z", vec![Purge::Tag("page".into())], Depth::Hard).unwrap();
    assert_eq!((found, fixture.node.store.usage().bytes), (1, 0));
    for accepted in ["gzip", "br"] {
        let (_, headers, _) = get(&fixture, accepted, &[]).await;
        assert_eq!(field(&headers, "cache-status").contains("uri-miss"), accepted == "gzip");
    }
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn non_text_and_no_transform_are_not_encoded() {
    for (zone, name, value) in [
        (ZONE, "content-type", "image/png"),
        (ZONE, "cache-control", "max-age=60, no-transform"),
        (ZONE, "content-encoding", "x-own"),
        ("", "a", "b"),
    ] {
        let fixture = Fixture::new(zone, move |_, _| async move {
            let mut response = document(2000);
            response.headers_mut().insert(name, value.parse().unwrap());
            response
        });
        for _ in 0..3 {
            let response =
                fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await;
            assert!(!response.headers().contains_key("vary"), "{value}");
            assert_eq!(field(response.headers(), "etag"), "\"v1\"");
            assert_eq!(response.into_body().collect(1 << 20).await.unwrap(), text(2000), "{value}");
        }
    }
}

#[tokio::test]
async fn conditional_request_matches_either_form() {
    let fixture = Fixture::new(ZONE, async |_, _| document(2000));
    get(&fixture, "gzip", &[]).await;
    for (accepted, tag) in [("gzip", "W/\"v1\""), ("gzip", "\"v1\""), ("", "\"v1\""), ("", "W/\"v1\"")] {
        let (status, headers, _) = get(&fixture, accepted, &[("if-none-match", tag)]).await;
        assert_eq!((status, field(&headers, "vary")), (StatusCode::NOT_MODIFIED, "accept-encoding"));
    }
    assert_eq!(get(&fixture, "gzip", &[("if-none-match", "\"v2\"")]).await.0, StatusCode::OK);
}

#[tokio::test]
async fn origin_revalidates_all_forms_at_once() {
    let fixture = Fixture::new(ZONE, async |request: Request<Body>, number| {
        assert_eq!(field(request.headers(), "if-none-match"), if number == 0 { "" } else { "\"v1\"" });
        let mut response = document(100_000);
        if number > 0 {
            response = with("max-age=60", "");
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().insert("x-number", number.into());
        }
        response
    });
    for accepted in ["gzip", "br"] {
        get(&fixture, accepted, &[]).await;
    }
    let before = fixture.node.store.usage().bytes;
    fixture.node.purge("z", vec![Purge::Everything], Depth::Soft);
    let (_, headers, body) = get(&fixture, "br", &[]).await;
    assert!(
        field(&headers, "cache-status").starts_with("lhr; fwd=stale; fwd-status=304; stored"),
        "{headers:?}"
    );
    assert_eq!(
        (field(&headers, "content-encoding"), field(&headers, "x-number"), body),
        ("br", "1", text(100_000).into())
    );
    for (accepted, token) in [("gzip", "gzip"), ("br", "br"), ("", "")] {
        let (_, headers, body) = get(&fixture, accepted, &[]).await;
        assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "x-number")), (token, "1"));
        assert_eq!(body, text(100_000));
    }
    let after = before + "x-number1".len() as u64;
    assert_eq!((fixture.node.store.usage().bytes, fixture.request_count()), (after, 2));
}

#[tokio::test]
async fn ranges_are_of_the_identity_form() {
    let fixture = Fixture::new(ZONE, async |_, _| document(2000));
    get(&fixture, "gzip", &[]).await;
    let range = ("range", "bytes=10-19");
    for fields in [&[range][..], &[range, ("if-range", "\"v1\"")]] {
        let (status, headers, body) = get(&fixture, "gzip", fields).await;
        assert_eq!((status, field(&headers, "etag")), (StatusCode::PARTIAL_CONTENT, "\"v1\""));
        assert!(!headers.contains_key("content-encoding"));
        assert_eq!(body, text(2000)[10..20]);
    }
    // The tag of a compressed body does not permit combining parts.
    let (status, _, body) = get(&fixture, "gzip", &[range, ("if-range", "W/\"v1\"")]).await;
    assert_eq!((status, body), (StatusCode::OK, text(2000).into()));
    let (status, headers, body) = get(&fixture, "gzip, identity;q=0", &[range]).await;
    assert_eq!(
        (status, field(&headers, "content-encoding"), body),
        (StatusCode::OK, "gzip", text(2000).into())
    );
}

#[tokio::test]
async fn uncacheable_responses_are_encoded() {
    for (zone, cache_control, method) in [
        (ZONE.to_owned(), "private", Method::GET),
        (format!("{ZONE}[[zone.rule]]\nbypass = true\n"), "max-age=60", Method::GET),
        (ZONE.to_owned(), "max-age=60", Method::POST),
    ] {
        let fixture = Fixture::new(&zone, move |_, _| async move {
            let mut response = document(100_000);
            response.headers_mut().insert("cache-control", cache_control.parse().unwrap());
            response
        });
        for _ in 0..2 {
            let asked = request(method.clone(), "/", &[("accept-encoding", "br")]);
            let (_, headers, body) = plain(fixture.node.serve(asked).await).await;
            assert_eq!((field(&headers, "content-encoding"), field(&headers, "etag")), ("br", "W/\"v1\""));
            assert_eq!(body, text(100_000));
        }
        assert_eq!((fixture.request_count(), fixture.node.store.usage().bytes), (2, 0));
    }
}

#[tokio::test]
async fn uncacheable_304_has_the_weak_etag() {
    let fixture = Fixture::new(ZONE, async |_, number| {
        let mut response = document(10_000);
        response.headers_mut().insert("cache-control", "private".parse().unwrap());
        if number > 0 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
        }
        response
    });
    assert_eq!(field(&get(&fixture, "br", &[]).await.1, "etag"), "W/\"v1\"");
    for (known, named) in
        [("W/\"v1\"", "W/\"v1\""), ("\"v0\", W/\"v1\"", "W/\"v1\""), ("\"v1\"", "\"v1\""), ("*", "\"v1\"")]
    {
        let (status, headers, _) = get(&fixture, "br", &[("if-none-match", known)]).await;
        assert_eq!((status.as_u16(), field(&headers, "etag")), (304, named), "{known}");
    }
}

#[tokio::test]
async fn head_response_equals_get() {
    let fixture = Fixture::new(ZONE, async |request: Request<Body>, _| {
        let mut response = document(2000);
        if request.method() == Method::HEAD {
            response.headers_mut().insert("content-length", 2000.into());
            *response.body_mut() = Body::empty();
        }
        response
    });
    let head = async || {
        let response = fixture.node.serve(request(Method::HEAD, "/", &[("accept-encoding", "br")])).await;
        let headers = response.headers().clone();
        assert_eq!(response.into_body().collect(10).await.unwrap(), "");
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "etag")), ("br", "W/\"v1\""));
        field(&headers, "content-length").to_owned()
    };
    assert_eq!(head().await, "");
    get(&fixture, "identity", &[]).await;
    assert_eq!(head().await, "");
    get(&fixture, "br", &[]).await;
    let (_, headers, _) = get(&fixture, "br", &[]).await;
    assert_eq!(head().await, field(&headers, "content-length"));
    assert_eq!(fixture.request_count(), 2);
}

#[tokio::test]
async fn encoded_body_streams_while_filling() {
    for cache_control in ["max-age=60", "private"] {
        let seen = Arc::new(Notify::new());
        let told = Arc::clone(&seen);
        let fixture = Fixture::new(ZONE, move |_, _| {
            let (seen, (sender, body)) = (Arc::clone(&told), Body::channel(1));
            tokio::spawn(async move {
                sender.send("first ").await.unwrap();
                seen.notified().await;
                sender.send("second").await.unwrap();
                sender.finish().await.unwrap();
            });
            async move {
                let mut response = with(cache_control, "");
                response.headers_mut().insert("content-type", "text/plain".parse().unwrap());
                response.map(|_| body)
            }
        });
        let mut body =
            fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await.into_body();
        let mut received = Vec::new();
        while decoded(Coding::Gzip, &received) != b"first " {
            received.extend_from_slice(&body.data().await.unwrap().unwrap());
        }
        seen.notify_one();
        while let Some(data) = body.data().await.unwrap() {
            received.extend_from_slice(&data);
        }
        assert_eq!(decoded(Coding::Gzip, &received), b"first second");
    }
}

#[tokio::test]
async fn aborted_body_is_incomplete_in_every_form() {
    let fixture = Fixture::new(ZONE, async |_, number| {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            let _ = sender.send(text(3000)).await;
            if number > 0 {
                let _ = sender.finish().await;
            }
        });
        document(0).map(|_| body)
    });
    let asked = || request(Method::GET, "/", &[("accept-encoding", "gzip")]);
    let broken = fixture.node.serve(asked()).await;
    let status = broken.status();
    assert!(broken.into_body().collect(1 << 20).await.is_err() || status == StatusCode::BAD_GATEWAY);
    let (_, headers, body) = plain(fixture.node.serve(asked()).await).await;
    assert!(field(&headers, "cache-status").contains("uri-miss"), "{headers:?}");
    assert_eq!(body, text(3000));
}

#[tokio::test]
async fn oversized_body_is_encoded_in_passing() {
    let seen = Arc::new(Notify::new());
    let told = Arc::clone(&seen);
    let fixture = Fixture::new(&format!("{ZONE}largest = \"50KB\"\n"), move |_, _| {
        let (seen, (sender, body)) = (Arc::clone(&told), Body::channel(1));
        tokio::spawn(async move {
            seen.notified().await;
            for piece in text(400_000).chunks(10_000) {
                sender.send(Bytes::copy_from_slice(piece)).await.unwrap();
            }
            sender.finish().await.unwrap();
        });
        async move { document(0).map(|_| body) }
    });
    let response = fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "zstd")])).await;
    seen.notify_one();
    assert_eq!(field(response.headers(), "content-encoding"), "zstd");
    let body = response.into_body().collect(1 << 20).await.unwrap();
    assert_eq!(decoded(Coding::Zstd, &body), text(400_000));
    assert_eq!(fixture.node.store.usage().objects, 0);
}

#[tokio::test]
async fn encoder_limit_falls_back_to_identity() {
    let fixture = Fixture::new(ZONE, async |_, _| document(2000));
    let all = u32::try_from(fixture.node.encoder_permits.available_permits()).unwrap();
    let permits = Arc::clone(&fixture.node.encoder_permits).acquire_many_owned(all).await.unwrap();
    for _ in 0..3 {
        let (_, headers, body) = get(&fixture, "br", &[]).await;
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "vary")), ("", "accept-encoding"));
        assert_eq!(body, text(2000));
    }
    drop(permits);
    for _ in 0..2 {
        assert_eq!(field(&get(&fixture, "br", &[]).await.1, "content-encoding"), "br");
    }
    assert_eq!(fixture.node.encoder_permits.available_permits(), all as usize);
}

fn on_disk(fixture: &Fixture, coding: Coding) -> usize {
    let key = format!("{}\nhttp://shop.example/", coding.token());
    fixture.node.disk.as_ref().unwrap().store().find(key.as_bytes()).unwrap().len()
}

/// Compresses to half its size at best, because each byte has 4 random bits.
fn digits(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut digit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"0123456789abcdef"[(state >> 28) as usize]
    };
    std::iter::repeat_with(&mut digit).take(length).collect()
}

#[tokio::test]
async fn encoded_form_survives_a_restart() {
    for (length, is_short) in [(20_000, true), (150_000, false)] {
        let directory = TempDir::new().unwrap();
        let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
        let mut fixture = Fixture::with_disk(Some(&disk), ZONE, move |_, _| async move {
            document(0).map(|_| Body::whole(digits(length)))
        });
        get(&fixture, "br", &[]).await;
        get(&fixture, "gzip", &[]).await;
        fixture.restart(&disk).await;
        assert_eq!(Coding::ALL.map(|coding| on_disk(&fixture, coding)).iter().sum::<usize>(), 2);
        let coders = Arc::clone(&fixture.node.encoder_permits);
        let all = u32::try_from(coders.available_permits()).unwrap();
        let _all = coders.acquire_many(all).await.unwrap();
        for (accepted, token) in [("br", "br"), ("gzip", "gzip"), ("br", "br"), ("zstd", ""), ("", "")] {
            let (_, headers, body) = get(&fixture, accepted, &[]).await;
            assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
            assert_eq!(field(&headers, "content-encoding"), token, "{accepted}");
            assert!(body == digits(length) && headers.contains_key("content-length"));
        }
        let object = fixture.stored("/").unwrap();
        let encoded = object.body.encoded(Coding::Brotli).unwrap();
        assert_eq!(encoded.bytes() <= 64 << 10, is_short, "{}", encoded.bytes());
        assert_eq!(fixture.request_count(), 1);
    }
}

#[tokio::test]
async fn replaced_body_drops_its_encoded_forms() {
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    let mut fixture =
        Fixture::with_disk(Some(&disk), ZONE, async |_, number| document(50_000 + 1000 * number));
    get(&fixture, "br", &[]).await;
    fixture.restart(&disk).await;
    fixture.node.purge("z", vec![Purge::Everything], Depth::Hard);
    assert_eq!(get(&fixture, "br", &[]).await.2, text(51_000));
    fixture.restart(&disk).await;
    assert_eq!((on_disk(&fixture, Coding::Brotli), fixture.request_count()), (1, 2));
    let (_, headers, body) = get(&fixture, "br", &[]).await;
    assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
    assert_eq!((body, fixture.request_count()), (text(51_000).into(), 2));
}

#[tokio::test]
async fn damaged_encoded_form_is_rebuilt() {
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    let mut fixture = Fixture::with_disk(Some(&disk), ZONE, async |_, _| document(20_000));
    get(&fixture, "", &[]).await;
    get(&fixture, "br", &[]).await;
    fixture.node.disk.as_ref().unwrap().close();
    let segment = disk.path.join("segment-00000001.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[22_000] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    fixture.restart(&disk).await;
    for _ in 0..2 {
        let (_, headers, body) = get(&fixture, "br", &[]).await;
        assert_eq!((field(&headers, "content-encoding"), body), ("br", text(20_000).into()));
    }
    assert_eq!(fixture.request_count(), 1);
}
