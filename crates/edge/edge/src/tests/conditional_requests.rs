//! Conditional and range requests: validators beyond ASCII, dates that several forms share,
//! unsolicited responses, and impossible lengths.

use std::sync::{Arc, Mutex};

use http_cache::ranges::{Wanted, wanted};
use http_stack::{Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

use super::{Fixture, receive, request, with};

const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn with_bytes(fields: &[(&'static str, &[u8])]) -> Request<Body> {
    let mut request = request(Method::GET, "/", &[]);
    for (name, value) in fields {
        request.headers_mut().append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    request
}

type Fields<'f> = &'f [(&'static str, &'f [u8])];

#[tokio::test]
async fn non_ascii_etags_are_compared_bytewise() {
    let fixture = Fixture::new("", async |_, _| {
        let mut response = with("max-age=600", "0123456789");
        response.headers_mut().insert("etag", HeaderValue::from_bytes(b"\"caf\xe9\"").unwrap());
        response
    });
    fixture.get("/", &[]).await;
    let range: (&'static str, &[u8]) = ("range", b"bytes=0-1");
    let cases: [(Fields<'_>, u16); 8] = [
        (&[("if-none-match", b"\"caf\xe9\"")], 304),
        (&[("if-none-match", b"W/\"caf\xe9\"")], 304),
        (&[("if-none-match", b"\"x\", \"caf\xe9\"")], 304),
        (&[("if-none-match", b"*")], 304),
        (&[("if-none-match", b"\"caf\xe8\"")], 200),
        (&[range, ("if-range", b"\"caf\xe9\"")], 206),
        (&[range, ("if-range", b"\"caf\xe8\"")], 200),
        (&[range, ("if-range", b"W/\"caf\xe9\"")], 200),
    ];
    for (fields, status) in cases {
        let received = receive(fixture.node.serve(with_bytes(fields)).await).await;
        assert_eq!((received.status, received.told.as_str()), (status, "lhr; hit"), "{fields:?}");
    }
    assert_eq!(fixture.request_count(), 1);
}

fn text(request: &Request<Body>, mut response: Response<Body>) -> Response<Body> {
    let text: Vec<_> = (0..600).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
    let headers = response.headers_mut();
    headers.insert("content-type", "text/plain".parse().unwrap());
    headers.insert("last-modified", MODIFIED.parse().unwrap());
    let mut dated = headers.clone();
    dated.insert("date", "Sun, 06 Nov 2022 08:49:37 GMT".parse().unwrap());
    let of_whole = (StatusCode::OK, &dated);
    match wanted(request.method(), request.headers(), of_whole, text.len() as u64) {
        Wanted::Parts(parts) => {
            let (first, last) =
                (usize::try_from(parts[0].first).unwrap(), usize::try_from(parts[0].last).unwrap());
            headers.insert("content-range", parts[0].label(text.len() as u64).parse().unwrap());
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            response.map(|_| Body::whole(text[first..=last].to_vec()))
        }
        _ => response.map(|_| Body::whole(text)),
    }
}

#[tokio::test]
async fn if_range_date_is_ignored_when_forms_differ() {
    for cache_control in ["max-age=600, public", "no-store", "no-cache"] {
        for zone in
            ["compress = [\"gzip\"]\n", "compress = [\"gzip\"]\n[[zone.rule]]\npath = \"*\"\nbypass = true\n"]
        {
            let fixture = Fixture::new(zone, move |request: Request<Body>, _: usize| async move {
                text(&request, with(cache_control, ""))
            });
            for _ in 0..3 {
                let encoded =
                    fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await;
                assert_eq!(
                    (&encoded.headers()["content-encoding"], &encoded.headers()["last-modified"]),
                    (&HeaderValue::from_static("gzip"), &HeaderValue::from_static(MODIFIED))
                );
            }
            for (accepted, coding) in [("gzip", Some("gzip")), ("identity", None), ("gzip;q=0", None)] {
                let fields = [("range", "bytes=20-"), ("if-range", MODIFIED), ("accept-encoding", accepted)];
                let got = fixture.node.serve(request(Method::GET, "/", &fields)).await;
                let told = got.headers().get("content-encoding").map(|coding| coding.to_str().unwrap());
                assert_eq!((got.status().as_u16(), told), (200, coding), "{cache_control} {zone} {accepted}");
            }
            let got = fixture.node.serve(request(Method::GET, "/", &[("range", "bytes=20-29")])).await;
            assert_eq!(got.status(), 206, "{cache_control} {zone}");
        }
    }
}

#[tokio::test]
async fn if_range_date_counts_without_compression() {
    for cache_control in ["max-age=600", "no-store"] {
        let fixture = Fixture::new("", move |request: Request<Body>, _: usize| async move {
            text(&request, with(cache_control, ""))
        });
        fixture.get("/", &[]).await;
        let fields = [("range", "bytes=20-29"), ("if-range", MODIFIED), ("accept-encoding", "gzip")];
        let got = fixture.node.serve(request(Method::GET, "/", &fields)).await;
        assert_eq!(got.status(), 206, "{cache_control}");
    }
}

#[tokio::test]
async fn unsolicited_304_is_an_origin_error() {
    for cache_control in ["max-age=600", "no-store"] {
        for method in [Method::GET, Method::HEAD, Method::POST] {
            let fixture = Fixture::new("", move |_, _| async move {
                let mut response = with(cache_control, "");
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response
            });
            for _ in 0..2 {
                let received = fixture.send(request(method.clone(), "/", &[])).await;
                assert_eq!(received.status, 502, "{cache_control} {method}");
                assert_eq!(received.told, "lhr; fwd=bypass; detail=unsolicited-304");
            }
        }
    }
}

#[tokio::test]
async fn stale_object_replaces_an_unsolicited_304() {
    let fixture = Fixture::new("stale_if_error = \"1h\"\n", async |_, number| {
        let mut response = with("max-age=0", if number == 0 { "it" } else { "" });
        if number > 0 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response.headers_mut().insert("etag", if number == 0 { "\"a\"" } else { "\"b\"" }.parse().unwrap());
        response
    });
    fixture.get("/", &[]).await;
    let received = fixture.get("/", &[]).await;
    assert_eq!(
        (received.status, &received.body[..], fixture.request_count()),
        (200, &b"it"[..], 3),
        "{}",
        received.told
    );
}

#[tokio::test]
async fn unsolicited_206_is_not_stored_as_whole() {
    let fixture = Fixture::new("", async |_, _| {
        let mut response = with("max-age=600", "0123");
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        response.headers_mut().insert("content-range", "bytes 0-3/10".parse().unwrap());
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        response
    });
    for number in 1..4 {
        let received = fixture.get("/", &[]).await;
        assert_eq!(
            (received.status, &received.body[..], fixture.request_count()),
            (206, &b"0123"[..], number)
        );
    }
    assert_eq!(fixture.node.store.usage().objects, 0);
}

#[tokio::test]
async fn oversized_range_is_forwarded_and_not_stored() {
    for (total, is_kept) in [
        ("1000", true),
        ("9223372036854775807", true),
        ("9223372036854775808", false),
        ("18446744073709551615", false),
        ("18446744073709551616", false),
        ("340282366920938463463374607431768211456", false),
    ] {
        let fixture =
            Fixture::new("largest = \"10KB\"\n", move |request: Request<Body>, _: usize| async move {
                let mut response = with("max-age=600", vec![b'x'; 100]);
                response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
                if request.headers().contains_key("range") {
                    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                    let range = format!("bytes 0-99/{total}").parse().unwrap();
                    response.headers_mut().insert("content-range", range);
                    return response;
                }
                response.map(|_| Body::whole(vec![b'x'; 20_000]))
            });
        let part = |range| request(Method::GET, "/", &[("range", range)]);
        for _ in 0..2 {
            fixture.node.serve(part("bytes=0-99")).await.into_body().collect(1 << 20).await.unwrap();
        }
        let asked = fixture.request_count();
        let got = fixture.node.serve(part("bytes=10-19")).await;
        let range = got.headers()["content-range"].to_str().unwrap().to_owned();
        assert!(range.ends_with(&format!("/{total}")), "{range}");
        assert_eq!(fixture.request_count() == asked, is_kept, "{total}");
    }
}

#[tokio::test]
async fn content_range_on_200_is_ignored() {
    let fixture = Fixture::new("", async |_, _| {
        let mut response = with("max-age=600", "0123456789");
        response.headers_mut().insert("content-range", "bytes 2-3/4".parse().unwrap());
        response
    });
    for _ in 0..2 {
        let received = fixture.get("/", &[]).await;
        assert_eq!((received.status, &received.body[..]), (200, &b"0123456789"[..]));
    }
    let part = fixture.node.serve(request(Method::GET, "/", &[("range", "bytes=8-9")])).await;
    assert_eq!(part.headers()["content-range"], "bytes 8-9/10");
    assert_eq!(part.into_body().collect(100).await.unwrap(), "89");
}

#[tokio::test]
async fn multipart_boundary_differs_per_response() {
    let fixture = Fixture::new("", async |_, _| with("max-age=600", vec![b'x'; 1000]));
    fixture.get("/", &[]).await;
    let boundaries = Mutex::new(Vec::new());
    for _ in 0..3 {
        let fields = [("range", "bytes=0-9, 20-29")];
        let got = fixture.node.serve(request(Method::GET, "/", &fields)).await;
        let kind = got.headers()["content-type"].to_str().unwrap().to_owned();
        let boundary = kind.strip_prefix("multipart/byteranges; boundary=").unwrap().to_owned();
        let body = got.into_body().collect(10_000).await.unwrap();
        let text = str::from_utf8(&body).unwrap();
        assert_eq!(text.matches(&format!("--{boundary}\r\n")).count(), 2, "{text}");
        assert!(text.ends_with(&format!("--{boundary}--\r\n")));
        boundaries.lock().unwrap().push(boundary);
    }
    let mut boundaries = boundaries.into_inner().unwrap();
    boundaries.sort();
    boundaries.dedup();
    assert_eq!(boundaries.len(), 3);
}

#[tokio::test]
async fn identity_is_no_coding() {
    for (coding, expected) in [("identity", "gzip"), ("", "gzip"), ("Identity", "gzip"), ("br", "br")] {
        let fixture =
            Fixture::new("compress = [\"gzip\"]\n", move |request: Request<Body>, _: usize| async move {
                let mut response = text(&request, with("max-age=600", ""));
                response.headers_mut().insert("content-encoding", coding.parse().unwrap());
                response
            });
        for _ in 0..2 {
            let got = fixture.node.serve(request(Method::GET, "/", &[("accept-encoding", "gzip")])).await;
            let lines: Vec<_> = got.headers().get_all("content-encoding").iter().collect();
            assert_eq!(lines, [expected], "{coding:?}");
        }
    }
}

#[tokio::test]
async fn explicit_identity_ranges_combine() {
    let asked: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let log = Arc::clone(&asked);
    let fixture = Fixture::new("largest = \"4KB\"\n", move |request: Request<Body>, number| {
        log.lock().unwrap().push(request.headers().clone());
        let mut response = with("max-age=600", vec![b'x'; 5000]);
        response.headers_mut().insert("etag", "\"a\"".parse().unwrap());
        let of_whole = (StatusCode::OK, response.headers());
        if let Wanted::Parts(parts) = wanted(request.method(), request.headers(), of_whole, 5000) {
            let length = usize::try_from(parts[0].length()).unwrap();
            response.headers_mut().insert("content-range", parts[0].label(5000).parse().unwrap());
            if number % 2 == 0 {
                response.headers_mut().insert("content-encoding", "identity".parse().unwrap());
            }
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            response = response.map(|_| Body::whole(vec![b'x'; length]));
        }
        std::future::ready(response)
    });
    let part = async |range| {
        let got = fixture.node.serve(request(Method::GET, "/", &[("range", range)])).await;
        let status = got.status().as_u16();
        (status, got.into_body().collect(10_000).await.unwrap().len())
    };
    for range in ["bytes=0-499", "bytes=500-999", "bytes=1000-1499", "bytes=1500-1999"] {
        assert_eq!(part(range).await, (206, 500), "{range}");
    }
    let before = fixture.request_count();
    assert_eq!(part("bytes=100-1899").await, (206, 1800));
    assert_eq!(fixture.request_count(), before, "{:?}", asked.lock().unwrap());
}
