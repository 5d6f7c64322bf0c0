//! Compression of text: responses, stored objects, and aborted compression.

use std::sync::Arc;

use cache::{
    Coding,
    purge::{Depth, Purge},
};
use http::{Body, Bytes, HeaderMap, Method, Request, Response, StatusCode};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{Stage, request, with};
use crate::{
    coder::tests::{decoded, text},
    network::Disk,
};

const ZONE: &str = "compress = [\"zstd\", \"br\", \"gzip\"]\n";

/// A text with all header fields that depend on its bytes.
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

/// Header fields that do not depend on the clock, and the decoded body.
async fn get(
    stage: &Stage,
    accepted: &str,
    fields: &[(&'static str, &str)],
) -> (StatusCode, HeaderMap, Bytes) {
    let fields: Vec<_> = fields.iter().copied().chain([("accept-encoding", accepted)]).collect();
    plain(stage.edge.serve(request(Method::GET, "/", &fields)).await).await
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
async fn each_coding_is_made_once_of_what_the_origin_was_asked_for_once() {
    for first in ["gzip", "br", "zstd", "identity"] {
        let stage = Stage::new(ZONE, async |_, _| document(100_000));
        let (_, headers, body) = get(&stage, first, &[]).await;
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
                let (_, headers, body) = get(&stage, accepted, &[]).await;
                assert_eq!(body, text(100_000), "{accepted}");
                assert!(field(&headers, "cache-status").starts_with("lhr; hit"), "{headers:?}");
                assert_eq!(field(&headers, "content-encoding"), token);
                assert_eq!(field(&headers, "etag"), etag);
                assert_eq!(field(&headers, "vary"), "accept-encoding");
                assert_eq!(headers.contains_key("content-md5"), token.is_empty());
                assert_eq!(headers.contains_key("accept-ranges"), token.is_empty());
            }
            made.push(stage.edge.store.usage());
            // The second round is served from the store.
            assert_eq!(made[0], made[round]);
        }
        assert_eq!((made[0].objects, stage.asked()), (1, 1));
    }
}

#[tokio::test]
async fn what_is_stored_in_a_coding_is_counted_and_goes_with_its_object() {
    let stage = Stage::new(ZONE, async |_, _| document(100_000));
    let mut bytes = 0;
    for accepted in ["", "gzip", "br", "zstd"] {
        let (_, headers, _) = get(&stage, accepted, &[]).await;
        // A hit includes the length of the compressed body.
        let (_, hit, _) = get(&stage, accepted, &[]).await;
        assert!(stage.edge.store.usage().bytes > bytes, "{headers:?}");
        let added = stage.edge.store.usage().bytes - bytes;
        let length: u64 = field(&hit, "content-length").parse().unwrap();
        assert!(if bytes == 0 { added > length } else { added == length }, "{added} for {length}");
        bytes += added;
    }
    let (_, found) = stage.edge.purge("z", vec![Purge::Tag("page".into())], Depth::Hard).unwrap();
    assert_eq!((found, stage.edge.store.usage().bytes), (1, 0));
    for accepted in ["gzip", "br"] {
        let (_, headers, _) = get(&stage, accepted, &[]).await;
        assert_eq!(field(&headers, "cache-status").contains("uri-miss"), accepted == "gzip");
    }
    assert_eq!(stage.asked(), 2);
}

#[tokio::test]
async fn what_is_no_text_or_may_not_be_changed_comes_as_it_was() {
    for (zone, name, value) in [
        (ZONE, "content-type", "image/png"),
        (ZONE, "cache-control", "max-age=60, no-transform"),
        (ZONE, "content-encoding", "x-own"),
        ("", "a", "b"),
    ] {
        let stage = Stage::new(zone, move |_, _| async move {
            let mut response = document(2000);
            response.headers_mut().insert(name, value.parse().unwrap());
            response
        });
        for _ in 0..3 {
            let response = stage.edge.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await;
            assert!(!response.headers().contains_key("vary"), "{value}");
            assert_eq!(field(response.headers(), "etag"), "\"v1\"");
            assert_eq!(response.into_body().collect(1 << 20).await.unwrap(), text(2000), "{value}");
        }
    }
}

#[tokio::test]
async fn a_visitor_who_has_it_is_told_so_in_either_form() {
    let stage = Stage::new(ZONE, async |_, _| document(2000));
    get(&stage, "gzip", &[]).await;
    for (accepted, tag) in [("gzip", "W/\"v1\""), ("gzip", "\"v1\""), ("", "\"v1\""), ("", "W/\"v1\"")] {
        let (status, headers, _) = get(&stage, accepted, &[("if-none-match", tag)]).await;
        assert_eq!((status, field(&headers, "vary")), (StatusCode::NOT_MODIFIED, "accept-encoding"));
    }
    assert_eq!(get(&stage, "gzip", &[("if-none-match", "\"v2\"")]).await.0, StatusCode::OK);
}

#[tokio::test]
async fn its_origin_is_asked_by_its_own_validator_and_confirms_all_forms() {
    let stage = Stage::new(ZONE, async |request: Request<Body>, number| {
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
        get(&stage, accepted, &[]).await;
    }
    let before = stage.edge.store.usage().bytes;
    stage.edge.purge("z", vec![Purge::Everything], Depth::Soft);
    let (_, headers, body) = get(&stage, "br", &[]).await;
    assert!(
        field(&headers, "cache-status").starts_with("lhr; fwd=stale; fwd-status=304; stored"),
        "{headers:?}"
    );
    assert_eq!(
        (field(&headers, "content-encoding"), field(&headers, "x-number"), body),
        ("br", "1", text(100_000).into())
    );
    for (accepted, token) in [("gzip", "gzip"), ("br", "br"), ("", "")] {
        let (_, headers, body) = get(&stage, accepted, &[]).await;
        assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "x-number")), (token, "1"));
        assert_eq!(body, text(100_000));
    }
    // The bodies are unchanged. The header has one more field.
    let after = before + "x-number1".len() as u64;
    assert_eq!((stage.edge.store.usage().bytes, stage.asked()), (after, 2));
}

#[tokio::test]
async fn parts_are_those_of_the_body_as_it_came() {
    let stage = Stage::new(ZONE, async |_, _| document(2000));
    get(&stage, "gzip", &[]).await;
    let range = ("range", "bytes=10-19");
    for fields in [&[range][..], &[range, ("if-range", "\"v1\"")]] {
        let (status, headers, body) = get(&stage, "gzip", fields).await;
        assert_eq!((status, field(&headers, "etag")), (StatusCode::PARTIAL_CONTENT, "\"v1\""));
        assert!(!headers.contains_key("content-encoding"));
        assert_eq!(body, text(2000)[10..20]);
    }
    // The tag of a compressed body does not permit combining parts.
    let (status, _, body) = get(&stage, "gzip", &[range, ("if-range", "W/\"v1\"")]).await;
    assert_eq!((status, body), (StatusCode::OK, text(2000).into()));
    // A client that accepts only the coding receives the complete body.
    let (status, headers, body) = get(&stage, "gzip, identity;q=0", &[range]).await;
    assert_eq!(
        (status, field(&headers, "content-encoding"), body),
        (StatusCode::OK, "gzip", text(2000).into())
    );
}

#[tokio::test]
async fn what_is_not_stored_is_compressed_too() {
    for (zone, cache_control, method) in [
        (ZONE.to_owned(), "private", Method::GET),
        (format!("{ZONE}[[zone.rule]]\nbypass = true\n"), "max-age=60", Method::GET),
        (ZONE.to_owned(), "max-age=60", Method::POST),
    ] {
        let stage = Stage::new(&zone, move |_, _| async move {
            let mut response = document(100_000);
            response.headers_mut().insert("cache-control", cache_control.parse().unwrap());
            response
        });
        for _ in 0..2 {
            let asked = request(method.clone(), "/", &[("accept-encoding", "br")]);
            let (_, headers, body) = plain(stage.edge.serve(asked).await).await;
            assert_eq!((field(&headers, "content-encoding"), field(&headers, "etag")), ("br", "W/\"v1\""));
            assert_eq!(body, text(100_000));
        }
        assert_eq!((stage.asked(), stage.edge.store.usage().bytes), (2, 0));
    }
}

#[tokio::test]
async fn a_visitor_is_told_of_what_is_not_stored_by_the_tag_that_it_knows() {
    let stage = Stage::new(ZONE, async |_, number| {
        let mut response = document(10_000);
        response.headers_mut().insert("cache-control", "private".parse().unwrap());
        if number > 0 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
        }
        response
    });
    assert_eq!(field(&get(&stage, "br", &[]).await.1, "etag"), "W/\"v1\"");
    for (known, named) in
        [("W/\"v1\"", "W/\"v1\""), ("\"v0\", W/\"v1\"", "W/\"v1\""), ("\"v1\"", "\"v1\""), ("*", "\"v1\"")]
    {
        let (status, headers, _) = get(&stage, "br", &[("if-none-match", known)]).await;
        assert_eq!((status.as_u16(), field(&headers, "etag")), (304, named), "{known}");
    }
}

#[tokio::test]
async fn a_head_says_what_a_get_would() {
    let stage = Stage::new(ZONE, async |request: Request<Body>, _| {
        let mut response = document(2000);
        if request.method() == Method::HEAD {
            response.headers_mut().insert("content-length", 2000.into());
            *response.body_mut() = Body::empty();
        }
        response
    });
    let head = async || {
        let response = stage.edge.serve(request(Method::HEAD, "/", &[("accept-encoding", "br")])).await;
        let headers = response.headers().clone();
        assert_eq!(response.into_body().collect(10).await.unwrap(), "");
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "etag")), ("br", "W/\"v1\""));
        field(&headers, "content-length").to_owned()
    };
    assert_eq!(head().await, "");
    get(&stage, "identity", &[]).await;
    // It is stored but not compressed yet.
    assert_eq!(head().await, "");
    get(&stage, "br", &[]).await;
    let (_, headers, _) = get(&stage, "br", &[]).await;
    assert_eq!(head().await, field(&headers, "content-length"));
    assert_eq!(stage.asked(), 2);
}

#[tokio::test]
async fn the_first_visitor_gets_what_there_is_before_the_rest_comes() {
    for cache_control in ["max-age=60", "private"] {
        let seen = Arc::new(Notify::new());
        let told = Arc::clone(&seen);
        let stage = Stage::new(ZONE, move |_, _| {
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
            stage.edge.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await.into_body();
        let mut came = Vec::new();
        while decoded(Coding::Gzip, &came) != b"first " {
            came.extend_from_slice(&body.data().await.unwrap().unwrap());
        }
        seen.notify_one();
        while let Some(data) = body.data().await.unwrap() {
            came.extend_from_slice(&data);
        }
        assert_eq!(decoded(Coding::Gzip, &came), b"first second");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_whole_in_no_form() {
    let stage = Stage::new(ZONE, async |_, number| {
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
    let broken = stage.edge.serve(asked()).await;
    let status = broken.status();
    assert!(broken.into_body().collect(1 << 20).await.is_err() || status == StatusCode::BAD_GATEWAY);
    let (_, headers, body) = plain(stage.edge.serve(asked()).await).await;
    assert!(field(&headers, "cache-status").contains("uri-miss"), "{headers:?}");
    assert_eq!(body, text(3000));
}

#[tokio::test]
async fn what_is_too_large_to_be_stored_is_compressed_as_it_passes() {
    let seen = Arc::new(Notify::new());
    let told = Arc::clone(&seen);
    let stage = Stage::new(&format!("{ZONE}largest = \"50KB\"\n"), move |_, _| {
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
    let response = stage.edge.serve(request(Method::GET, "/", &[("accept-encoding", "zstd")])).await;
    seen.notify_one();
    assert_eq!(field(response.headers(), "content-encoding"), "zstd");
    let body = response.into_body().collect(1 << 20).await.unwrap();
    assert_eq!(decoded(Coding::Zstd, &body), text(400_000));
    assert_eq!(stage.edge.store.usage().objects, 0);
}

#[tokio::test]
async fn who_comes_when_too_many_bodies_are_coded_gets_it_as_it_came() {
    let stage = Stage::new(ZONE, async |_, _| document(2000));
    let all = u32::try_from(stage.edge.coders.available_permits()).unwrap();
    let permits = Arc::clone(&stage.edge.coders).acquire_many_owned(all).await.unwrap();
    for _ in 0..3 {
        let (_, headers, body) = get(&stage, "br", &[]).await;
        assert_eq!((field(&headers, "content-encoding"), field(&headers, "vary")), ("", "accept-encoding"));
        assert_eq!(body, text(2000));
    }
    drop(permits);
    for _ in 0..2 {
        assert_eq!(field(&get(&stage, "br", &[]).await.1, "content-encoding"), "br");
    }
    // Finished coders are available again.
    assert_eq!(stage.edge.coders.available_permits(), all as usize);
}

/// Number of compressed bodies on disk with one key.
fn on_disk(stage: &Stage, coding: Coding) -> usize {
    let key = format!("{}\nhttp://shop.example/", coding.token());
    stage.edge.on_disk.as_ref().unwrap().store().find(key.as_bytes()).unwrap().len()
}

/// A text that compresses to half its size at best, because each byte has 4 random bits.
fn digits(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut digit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"0123456789abcdef"[(state >> 28) as usize]
    };
    std::iter::repeat_with(&mut digit).take(length).collect()
}

#[tokio::test]
async fn what_was_compressed_survives_a_restart() {
    // One block on disk, and several.
    for (length, is_short) in [(20_000, true), (150_000, false)] {
        let directory = TempDir::new().unwrap();
        let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
        let mut stage = Stage::with_disk(Some(&disk), ZONE, move |_, _| async move {
            document(0).map(|_| Body::whole(digits(length)))
        });
        get(&stage, "br", &[]).await;
        get(&stage, "gzip", &[]).await;
        stage.restart(&disk).await;
        assert_eq!(Coding::ALL.map(|coding| on_disk(&stage, coding)).iter().sum::<usize>(), 2);
        // All coders are in use.
        let coders = Arc::clone(&stage.edge.coders);
        let all = u32::try_from(coders.available_permits()).unwrap();
        let _all = coders.acquire_many(all).await.unwrap();
        for (accepted, token) in [("br", "br"), ("gzip", "gzip"), ("br", "br"), ("zstd", ""), ("", "")] {
            let (_, headers, body) = get(&stage, accepted, &[]).await;
            assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
            assert_eq!(field(&headers, "content-encoding"), token, "{accepted}");
            assert!(body == digits(length) && headers.contains_key("content-length"));
        }
        let object = stage.stored("/").unwrap();
        let coded = object.body.coded(Coding::Brotli).unwrap();
        assert_eq!(coded.bytes() <= 64 << 10, is_short, "{}", coded.bytes());
        assert_eq!(stage.asked(), 1);
    }
}

#[tokio::test]
async fn what_was_compressed_of_another_body_goes_with_that() {
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    let mut stage = Stage::with_disk(Some(&disk), ZONE, async |_, number| document(50_000 + 1000 * number));
    get(&stage, "br", &[]).await;
    stage.restart(&disk).await;
    stage.edge.purge("z", vec![Purge::Everything], Depth::Hard);
    assert_eq!(get(&stage, "br", &[]).await.2, text(51_000));
    stage.restart(&disk).await;
    assert_eq!((on_disk(&stage, Coding::Brotli), stage.asked()), (1, 2));
    let (_, headers, body) = get(&stage, "br", &[]).await;
    assert!(field(&headers, "cache-status").starts_with("lhr; hit"));
    assert_eq!((body, stage.asked()), (text(51_000).into(), 2));
}

#[tokio::test]
async fn a_coded_body_that_is_damaged_on_disk_is_made_again() {
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    let mut stage = Stage::with_disk(Some(&disk), ZONE, async |_, _| document(20_000));
    get(&stage, "", &[]).await;
    get(&stage, "br", &[]).await;
    stage.edge.on_disk.as_ref().unwrap().close();
    let segment = disk.path.join("segment-00000001.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    // The uncompressed body precedes it.
    bytes[22_000] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    stage.restart(&disk).await;
    for _ in 0..2 {
        let (_, headers, body) = get(&stage, "br", &[]).await;
        assert_eq!((field(&headers, "content-encoding"), body), ("br", text(20_000).into()));
    }
    assert_eq!(stage.asked(), 1);
}
