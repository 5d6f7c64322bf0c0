//! Interim responses that the server sends ahead of the final one.

use http::{Body, HeaderMap, HeaderValue, Request, Response, StatusCode, client::Protocol, server::Interim};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{VERSIONS, client, fetch, serve_as};

/// Sends hints, and answers at once.
async fn hinting(request: Request<Body>) -> Result<Response<Body>, http::Failure> {
    if let Some(interim) = request.extensions().get::<Interim>() {
        let mut hints = HeaderMap::new();
        hints.insert("link", HeaderValue::from_static("</style.css>; rel=preload"));
        interim.send(StatusCode::EARLY_HINTS, hints);
        interim.send(StatusCode::OK, HeaderMap::new());
    }
    Ok(Response::new(Body::whole("done")))
}

#[tokio::test]
async fn hints_go_before_the_response() {
    for protocol in VERSIONS {
        let serving = serve_as(protocol, hinting);
        let client = client(protocol, Default::default());
        for _ in 0..3 {
            let trace = fetch(&client, &serving.origin, "GET").await;
            assert!(trace.first_interim().is_some(), "{protocol:?}");
            assert_eq!(trace.body_bytes(), 4);
            assert!(trace.first_interim() <= trace.final_headers);
        }
    }
}

/// What a server sends for these bytes until it closes the connection.
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
    assert_eq!(heads, ["HTTP/1.1 103", "HTTP/1.1 200"].repeat(3), "{said}");
    assert!(
        said.starts_with("HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 200")
    );
    assert_eq!(said.matches("\r\n\r\ndone").count(), 3, "{said}");
}

#[tokio::test]
async fn http_1_0_has_none() {
    let said = said("GET / HTTP/1.0\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.0 200") && said.ends_with("done"), "{said}");
}
