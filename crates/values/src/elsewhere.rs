//! While another process takes this one's place, that one has the file: requests that still come here are passed on to it.
//!
//! Both listen on the same socket, so that a connection made here may be answered by either. A question finds out by which: who has the
//! file says so, and its connection is used for the request.

use std::{net::SocketAddr, time::Duration};

use http::{
    Body, Client, HeaderName, HeaderValue, Method, Origin, Request, Response, Scheme, StatusCode,
    client::{Config, Trace, Trust},
    header,
};
use tokio::time::sleep;

use crate::{problem::Problem, service::Service};

/// Whether a request asks who has the file.
pub(crate) fn is_question(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(QUESTION)
}

/// Answers that.
pub(crate) fn answer(service: &Service) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    if service.is_here() {
        *response.status_mut() = StatusCode::NO_CONTENT;
    } else {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        // Nobody shall ask this process for more.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Has a request answered by the process that has the file. Gives it back if that is this one again.
pub(crate) async fn ask(
    service: &Service,
    (scheme, address): (Scheme, SocketAddr),
    request: Request<Body>,
) -> Result<Response<Body>, Request<Body>> {
    let origin = Origin { scheme, host: host(address), port: address.port() };
    let refused = || Problem::from(vault::Error::Released).plain();
    // It is this machine's own socket, whatever names its certificate is for.
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

/// Where an address that is listened on is reached from here.
fn host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => "127.0.0.1".to_owned(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => "::1".to_owned(),
        address => address.ip().to_string(),
    }
}

const QUESTION: HeaderName = HeaderName::from_static("kv-here");
/// For another process to open the file.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20);
