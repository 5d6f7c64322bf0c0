//! The outcome of an exchange in a test: phase durations, and the result.

use hyper::{Request, Response};

use super::{
    Loss, Trace, http1::Http1, http2::Http2, multiplexed::Multiplexed, on_lease, on_shared, pool::Lease,
};
use crate::{Body, Failure, HeaderMap, Origin, StatusCode, clock::Clock};

/// Times are nanoseconds from the start of the request.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Option<u16>,
    pub(crate) headers: HeaderMap,
    pub(crate) body_bytes: u64,
    pub(crate) failure: Option<Failure>,
    pub(crate) send: Option<u64>,
    pub(crate) wait: Option<u64>,
    pub(crate) load: Option<u64>,
    pub(crate) first_interim: Option<u64>,
    pub(crate) final_headers: Option<u64>,
    pub(crate) first_body_byte: Option<u64>,
    pub(crate) last_byte: Option<u64>,
    pub(crate) trace: Trace,
}

pub(crate) fn request(method: &str, body: impl Into<crate::Bytes>) -> Request<Body> {
    Request::builder().method(method).uri("/").body(Body::whole(body)).unwrap()
}

pub(crate) fn origin() -> Origin {
    "http://origin".parse().unwrap()
}

pub(crate) async fn on_http1(connection: Box<Http1>, request: Request<Body>, clock: Clock) -> Outcome {
    let mut trace = Trace::start(clock.now());
    let outcome = on_lease(Lease::once(connection), &origin(), request, &mut trace).await;
    read(outcome, trace).await
}

pub(crate) async fn on_http2(connection: &Http2, request: Request<Body>, clock: Clock) -> Outcome {
    let mut trace = Trace::start(clock.now());
    let outcome = on_shared(&Multiplexed::Http2(connection.clone()), &origin(), request, &mut trace).await;
    read(outcome, trace).await
}

async fn read(outcome: Result<Response<Body>, Loss>, trace: Trace) -> Outcome {
    match outcome {
        Err(loss) => Outcome::of(trace, None, HeaderMap::new(), Some(loss.refusal.failure)),
        Ok(response) => {
            let (head, mut body) = response.into_parts();
            let failure = loop {
                match body.frame().await {
                    Some(Ok(_)) => {}
                    Some(Err(failure)) => break Some(failure),
                    None => break None,
                }
            };
            Outcome::of(trace, Some(head.status), head.headers, failure)
        }
    }
}

impl Outcome {
    fn of(trace: Trace, status: Option<StatusCode>, headers: HeaderMap, failure: Option<Failure>) -> Self {
        let since = |at: Option<u64>| Some(at?.checked_sub(trace.started).unwrap());
        let span = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        Self {
            status: status.map(|status| status.as_u16()),
            headers,
            body_bytes: trace.body_bytes(),
            failure,
            send: span(trace.first_write(), trace.last_write()),
            wait: span(trace.last_write(), trace.final_headers),
            load: span(trace.first_body_byte(), trace.last_byte()),
            first_interim: since(trace.first_interim()),
            final_headers: since(trace.final_headers),
            first_body_byte: since(trace.first_body_byte()),
            last_byte: since(trace.last_byte()),
            trace,
        }
    }
}
