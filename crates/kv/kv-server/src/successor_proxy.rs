//! Handover: while another process replaces this one, it has the file, and requests that arrive
//! here are forwarded to it.
//!
//! Both processes listen on the same socket. A probe finds a connection to the process that has the
//! file.

use std::{net::SocketAddr, time::Duration};

use http_stack::{
    Body, Client, HeaderName, HeaderValue, Method, Origin, Request, Response, Scheme, StatusCode,
    client::{Config, Trace, Trust},
    header,
};
use tokio::time::sleep;

use crate::{api_error::ApiError, service::Service};

pub(crate) fn is_probe(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(QUESTION)
}

pub(crate) fn probe_response(service: &Service) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    if service.is_here() {
        *response.status_mut() = StatusCode::NO_CONTENT;
    } else {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        // Close the connection, so that the next probe may reach the other process.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns the request if this process has the file again.
pub(crate) async fn forward(
    service: &Service,
    (scheme, address): (Scheme, SocketAddr),
    request: Request<Body>,
) -> Result<Response<Body>, Request<Body>> {
    let origin = Origin { scheme, host: host(address), port: address.port(), server_name: None };
    let refused = || ApiError::from(kv_redb::Error::Released).plain();
    // The socket is local, so the names in its certificate do not matter.
    let config = Config { trust: Trust::Anyone, ..Config::default() };
    let Ok(client) = Client::new(&config) else { return Ok(refused()) };
    let send = async |request| {
        let mut trace = Trace::start(client.clock().now());
        client.send(&origin, request, &mut trace).await
    };
    let since = service.elapsed();
    loop {
        if service.is_here() {
            return Err(request);
        }
        if let Ok(answer) = send(question()).await
            && answer.status() == StatusCode::NO_CONTENT
        {
            break;
        }
        if service.elapsed().saturating_sub(since) > PATIENCE {
            return Ok(refused());
        }
        sleep(BETWEEN_QUESTIONS).await;
    }
    let mut request = request;
    request.headers_mut().remove(header::CONNECTION);
    let Ok(mut response) = send(request).await else { return Ok(refused()) };
    response.headers_mut().remove(header::CONNECTION);
    Ok(response)
}

fn question() -> Request<Body> {
    let mut request = Request::new(Body::empty());
    *request.method_mut() = Method::OPTIONS;
    request.headers_mut().insert(QUESTION, HeaderValue::from_static("?1"));
    request
}

/// The address at which a listener is reachable from this host.
fn host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => "127.0.0.1".to_owned(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => "::1".to_owned(),
        address => address.ip().to_string(),
    }
}

const QUESTION: HeaderName = HeaderName::from_static("kv-here");
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20);
