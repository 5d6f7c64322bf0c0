//! Settings by status, and the limit of a request's content.

use std::fs;

use http_stack::{Body, Method, Response, StatusCode};

use super::{Fixture, request, with};
use crate::config::Disk;

fn bare(status: u16, number: usize) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{number}")));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

const TTLS: &str = "cache_statuses = { 404 = \"1m\", 301 = \"1h\", 200 = \"0s\", 5xx = \"1m\" }\n";

#[tokio::test]
async fn status_sets_the_lifetime_of_responses_without_one() {
    let fixture = Fixture::new(TTLS, async |request, number| match request.uri().path() {
        "/gone" => bare(404, number),
        "/moved" => bare(301, number),
        "/failed" => bare(503, number),
        "/found" => bare(302, number),
        "/ok" => bare(200, number),
        "/private" => {
            let mut response = bare(404, number);
            response.headers_mut().insert("cache-control", "private".parse().unwrap());
            response
        }
        "/cookie" => {
            let mut response = bare(404, number);
            response.headers_mut().insert("set-cookie", "id=1".parse().unwrap());
            response
        }
        _ => {
            let mut response = bare(404, number);
            response.headers_mut().insert("cache-control", "max-age=0".parse().unwrap());
            response
        }
    });
    for (path, is_stored) in [
        ("/gone", true),
        ("/moved", true),
        ("/failed", true),
        ("/found", false),
        ("/ok", false),
        ("/private", false),
        ("/cookie", false),
        ("/own", false),
    ] {
        let first = fixture.get(path, &[]).await;
        let second = fixture.get(path, &[]).await;
        assert_eq!(second.status, first.status, "{path}");
        assert_eq!(second.body == first.body, is_stored, "{path}: {}", second.told);
    }
}

#[tokio::test]
async fn status_lifetime_survives_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk { path: folder.path().to_owned(), bytes: 1 << 24 };
    let mut fixture = Fixture::with_disk(Some(&disk), TTLS, async |_, number| bare(404, number));
    let first = fixture.get("/", &[]).await;
    fixture.restart(&disk).await;
    let again = fixture.get("/", &[]).await;
    assert_eq!((again.status, &again.body), (404, &first.body), "{}", again.told);
}

#[tokio::test]
async fn pages_replace_only_errors_of_the_edge() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("sorry.html");
    fs::write(&page, "<h1>Sorry</h1>").unwrap();
    let zone = format!("error_pages = {{ 5xx = \"{}\" }}\nfirst_byte = \"50ms\"\n", page.display());
    let fixture = Fixture::new(&zone, async |request, _| match request.uri().path() {
        "/slow" => std::future::pending().await,
        "/own" => {
            let mut response = with("no-store", "the origin's own");
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        }
        _ => with("no-store", "ok"),
    });
    let response = fixture.node.serve(request(Method::GET, "/slow", &[])).await;
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.into_body().collect(100).await.unwrap(), "<h1>Sorry</h1>");
    assert_eq!(fixture.get("/own", &[]).await.body, "the origin's own");
}

#[tokio::test]
async fn content_beyond_the_limit_of_a_zone_gets_a_413() {
    let fixture = Fixture::new("max_request_body = \"10B\"\n", async |request, _| {
        let received = request.into_body().collect(100).await;
        with("no-store", received.unwrap_or_else(|_| "truncated".into()))
    });
    for (content, is_stream, status) in [
        ("0123456789", false, 200),
        ("0123456789a", false, 413),
        ("0123456789", true, 200),
        ("0123456789a", true, 413),
    ] {
        let mut post = request(Method::POST, "/", &[]);
        *post.body_mut() = if is_stream {
            let (sender, body) = Body::channel(4);
            tokio::spawn(async move {
                for piece in content.as_bytes().chunks(4) {
                    let _ = sender.send(piece.to_vec()).await;
                }
                let _ = sender.finish().await;
            });
            body
        } else {
            Body::whole(content)
        };
        let response = fixture.send(post).await;
        assert_eq!(response.status, status, "{content} {is_stream}: {}", response.told);
    }
}
