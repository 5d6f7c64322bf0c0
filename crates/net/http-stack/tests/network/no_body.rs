//! Responses that must not have a body, whatever the handler returns: the client would misinterpret it.

use http_stack::{
    Body, Failure, Request, Response, StatusCode,
    client::{Limits, Protocol, Trace},
};

use crate::support::{VERSIONS, client, request, serve_as};

async fn talkative(request: Request<Body>) -> Result<Response<Body>, Failure> {
    let mut response = Response::new(Body::whole("body"));
    *response.status_mut() = request.uri().path()[1..].parse().unwrap();
    Ok(response)
}

#[tokio::test]
async fn a_head_and_statuses_without_a_body_have_none() {
    for protocol in VERSIONS {
        let server = serve_as(protocol, talkative);
        let client = client(protocol, Limits::default());
        for (method, status, length, body) in [
            ("HEAD", 200, Some("4"), ""),
            ("GET", 204, None, ""),
            ("GET", 304, None, ""),
            ("GET", 200, Some("4"), "body"),
        ] {
            let mut request = request(method, Body::empty());
            *request.uri_mut() = format!("/{status}").parse().unwrap();
            let mut trace = Trace::start(client.clock().now());
            let response = client.send(&server.origin, request, &mut trace).await.unwrap();
            assert_eq!(response.status(), status);
            let told = response.headers().get("content-length").map(|length| length.to_str().unwrap());
            assert_eq!(told, length, "{protocol:?} {method} {status}");
            assert_eq!(
                response.into_body().collect(10).await.unwrap(),
                body,
                "{protocol:?} {method} {status}"
            );
        }
    }
}

#[tokio::test]
async fn an_interim_status_is_no_answer() {
    for protocol in [Protocol::Http2, Protocol::Http3] {
        let server = serve_as(protocol, talkative);
        let client = client(protocol, Limits::default());
        for status in [StatusCode::SWITCHING_PROTOCOLS, StatusCode::EARLY_HINTS] {
            let mut request = request("GET", Body::empty());
            *request.uri_mut() = format!("/{}", status.as_u16()).parse().unwrap();
            let mut trace = Trace::start(client.clock().now());
            let failure = client.send(&server.origin, request, &mut trace).await.unwrap_err();
            assert!(matches!(failure, Failure::Http2(_) | Failure::Http3(_)), "{failure:?}");
            assert!(trace.first_interim().is_none());
        }
    }
}
