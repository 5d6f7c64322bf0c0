//! Interim responses of the server before the final one, in each HTTP version.

use std::sync::{Arc, Mutex};

use http_stack::{
    Body, Bytes, Client, Failure, HeaderMap, HeaderValue, Method, Origin, Request, Response, StatusCode,
    client::{OnInterim, Protocol, Trace},
    server::Interim,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
};

use crate::support::{VERSIONS, client, request, serve_as};

fn link(target: &str) -> HeaderMap {
    let value = HeaderValue::try_from(format!("<{target}>; rel=preload")).unwrap();
    HeaderMap::from_iter([("link".parse().unwrap(), value)])
}

async fn hinting(request: Request<Body>) -> Result<Response<Body>, Failure> {
    if let Some(interim) = request.extensions().get::<Interim>() {
        interim.send(StatusCode::EARLY_HINTS, link("/style.css"));
        interim.send(StatusCode::OK, HeaderMap::new());
        interim.send(StatusCode::EARLY_HINTS, link("/script.js"));
    }
    Ok(Response::new(Body::whole("done")))
}

struct Came {
    interim: Vec<(u16, String)>,
    body: Bytes,
    trace: Trace,
}

async fn ask(
    client: &Client,
    origin: &Origin,
    mut request: Request<Body>,
    tell: impl Fn() + Send + Sync + 'static,
) -> Came {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    request.extensions_mut().insert(OnInterim::new(move |status, headers| {
        let link = headers.get("link").map_or("", |link| link.to_str().unwrap());
        noted.lock().unwrap().push((status.as_u16(), link.to_owned()));
        tell();
    }));
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(origin, request, &mut trace).await.unwrap();
    let body = response.into_body().collect(100).await.unwrap();
    let interim = seen.lock().unwrap().clone();
    Came { interim, body, trace }
}

#[tokio::test]
async fn hints_go_before_the_response() {
    let expected = ["/style.css", "/script.js"].map(|target| (103, format!("<{target}>; rel=preload")));
    for protocol in VERSIONS {
        let serving = serve_as(protocol, hinting);
        let client = client(protocol, Default::default());
        for _ in 0..3 {
            let came = ask(&client, &serving.origin, request("GET", Body::empty()), || {}).await;
            assert_eq!(came.interim, expected, "{protocol:?}");
            assert_eq!((&came.body[..], came.trace.body_bytes()), (&b"done"[..], 4));
            let interim = came.trace.first_interim();
            assert!(interim.is_some() && interim <= came.trace.final_headers, "{protocol:?}");
        }
    }
}

#[tokio::test]
async fn hints_arrive_while_the_response_is_worked_on() {
    for protocol in VERSIONS {
        let seen = Arc::new(Notify::new());
        let waited = Arc::clone(&seen);
        let serving = serve_as(protocol, move |request: Request<Body>| {
            let seen = Arc::clone(&waited);
            async move {
                let interim: &Interim = request.extensions().get().unwrap();
                for target in ["/a", "/b"] {
                    interim.send(StatusCode::EARLY_HINTS, link(target));
                    seen.notified().await;
                }
                Ok(Response::new(Body::whole("done")))
            }
        });
        let client = client(protocol, Default::default());
        let tell = move || seen.notify_one();
        let came = ask(&client, &serving.origin, request("GET", Body::empty()), tell).await;
        assert_eq!((came.interim.len(), &came.body[..]), (2, &b"done"[..]), "{protocol:?}");
    }
}

#[tokio::test]
async fn what_comes_after_the_response_is_not_sent() {
    for protocol in VERSIONS {
        let serving = serve_as(protocol, async |request: Request<Body>| {
            let interim: Interim = request.extensions().get().cloned().unwrap();
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("some ").await.unwrap();
                interim.send(StatusCode::EARLY_HINTS, link("/late"));
                sender.send("more").await.unwrap();
                sender.finish().await.unwrap();
            });
            Ok(Response::new(body))
        });
        let client = client(protocol, Default::default());
        for _ in 0..2 {
            let came = ask(&client, &serving.origin, request("GET", Body::empty()), || {}).await;
            assert_eq!((came.interim.len(), &came.body[..]), (0, &b"some more"[..]), "{protocol:?}");
        }
    }
}

#[tokio::test]
async fn who_asks_whether_to_go_on_is_told_when_its_body_is_wanted() {
    for protocol in VERSIONS {
        let serving = serve_as(protocol, async |request: Request<Body>| {
            let is_wanted = request.method() == Method::PUT;
            let body = if is_wanted { request.into_body().collect(100).await? } else { "no".into() };
            Ok(Response::new(Body::whole(body)))
        });
        let client = client(protocol, Default::default());
        for (method, expected, answer) in [("PUT", &[100][..], "sent"), ("POST", &[], "no")] {
            let told = Arc::new(Notify::new());
            let (sender, body) = Body::channel(1);
            let go = Arc::clone(&told);
            let sending = tokio::spawn(async move {
                go.notified().await;
                sender.send("sent").await.unwrap();
                sender.finish().await.unwrap();
            });
            let mut upload = request(method, body);
            upload.headers_mut().insert("expect", HeaderValue::from_static("100-continue"));
            let came = ask(&client, &serving.origin, upload, move || told.notify_one()).await;
            let statuses: Vec<_> = came.interim.iter().map(|(status, _)| *status).collect();
            assert_eq!((&statuses[..], &came.body[..]), (expected, answer.as_bytes()), "{protocol:?}");
            sending.abort();
        }
    }
}

async fn said(request: &str) -> String {
    let serving = serve_as(Protocol::Http1, hinting);
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    said
}

#[tokio::test]
async fn requests_in_a_row_have_their_hints_in_order() {
    let said = said(
        "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\nGET /3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    )
    .await;
    let heads: Vec<_> = said.match_indices("HTTP/1.1 ").map(|(at, _)| &said[at..at + 12]).collect();
    assert_eq!(heads, ["HTTP/1.1 103", "HTTP/1.1 103", "HTTP/1.1 200"].repeat(3), "{said}");
    assert!(
        said.starts_with("HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 103")
    );
    assert_eq!(said.matches("\r\n\r\ndone").count(), 3, "{said}");
}

#[tokio::test]
async fn http_1_0_has_none() {
    let said = said("GET / HTTP/1.0\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.0 200") && said.ends_with("done"), "{said}");
}
