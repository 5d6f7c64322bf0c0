//! How long requests were in the kernel before the server read them.

use http_stack::{
    Body, Request, Response, StatusCode, TimeInKernel,
    client::{Limits, Protocol},
    server,
};

use crate::support::{Security, client, get, serve};

async fn is_told(security: Security, protocol: Protocol, tells_waits: bool, requests: usize) -> bool {
    let config = server::Config { tells_waits, ..server::Config::default() };
    let server = serve(security, config, async |request: Request<Body>| {
        let told = request.extensions().get::<TimeInKernel>().is_some();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = if told { StatusCode::OK } else { StatusCode::NO_CONTENT };
        Ok(response)
    });
    let client = client(protocol, Limits::default());
    for _ in 0..requests {
        let (_, response) = get(&client, &server.origin).await;
        if response.unwrap().status() == StatusCode::OK {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "current_thread")]
async fn a_request_says_how_long_it_waited_only_if_that_is_wanted() {
    for security in [Security::Clear, Security::Tls] {
        for protocol in [Protocol::Http1, Protocol::Http2] {
            assert!(!is_told(security, protocol, false, 3).await, "{security:?} {protocol:?}");
            assert!(is_told(security, protocol, true, 10_000).await, "{security:?} {protocol:?}");
        }
    }
}
