//! What the origin answers to one request.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http::{Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, server::Interim};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Config, service_time::ServiceTime, sleeper::Sleeper, zeros::Zeros};
use crate::clock::Clock;

/// Answers requests on all connections.
pub(crate) struct Responder {
    service_time: ServiceTime,
    body: u64,
    early_hints: bool,
    rng: Mutex<Xoshiro256PlusPlus>,
    pub(crate) sleeper: Sleeper,
    clock: Clock,
    pub(crate) requests: AtomicU64,
}

impl Responder {
    pub(crate) fn new(config: &Config, clock: Clock) -> Self {
        Self {
            service_time: config.service_time,
            body: config.body.0,
            early_hints: config.early_hints,
            rng: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(config.seed)),
            sleeper: Sleeper::new(clock),
            clock,
            requests: AtomicU64::new(0),
        }
    }

    /// Takes a request's body, works on it as long as the distribution prescribes, and answers.
    pub(crate) async fn respond(&self, request: Request<Body>) -> Response<Body> {
        self.requests.fetch_add(1, Relaxed);
        let (head, body) = request.into_parts();
        if ![Method::GET, Method::HEAD, Method::POST, Method::PUT].contains(&head.method) {
            let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED);
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST, PUT"));
            return refusal;
        }
        if self.early_hints
            && let Some(interim) = head.extensions.get::<Interim>()
        {
            interim.send(StatusCode::EARLY_HINTS, hints());
        }
        if !swallow(body).await {
            return plain(StatusCode::REQUEST_TIMEOUT);
        }
        let began = self.clock.now();
        self.sleeper.sleep(self.draw()).await;
        let took = Duration::from_nanos(self.clock.now().saturating_sub(began));

        let mut response = plain(StatusCode::OK);
        // The time that it took, not the one that was drawn: the timer may have been late.
        let timing = format!("app;dur={:.3}", took.as_secs_f64() * 1e3);
        if let Ok(timing) = HeaderValue::try_from(timing) {
            response.headers_mut().insert("server-timing", timing);
        }
        response.headers_mut().insert(header::CONTENT_LENGTH, self.body.into());
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        if head.method != Method::HEAD {
            *response.body_mut() = Body::stream(Zeros::new(self.body));
        }
        response
    }

    fn draw(&self) -> Duration {
        self.service_time.draw(&mut *self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a page needs besides itself, as an origin of a page would say it (RFC 8297).
fn hints() -> HeaderMap {
    let mut hints = HeaderMap::new();
    hints.insert(header::LINK, HeaderValue::from_static("</style.css>; rel=preload; as=style"));
    hints
}

fn plain(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Reads a body to its end; whether it got there.
async fn swallow(mut body: Body) -> bool {
    while let Some(frame) = body.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}
