//! The origin's response to a request.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Body, HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, server::Interim,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    Config,
    content::{self, Content},
    service_time::ServiceTime,
    timer_wheel::Sleeper,
    zeros::Zeros,
};
use crate::clock::Clock;

pub(crate) struct Responder {
    service_time: ServiceTime,
    body: u64,
    early_hints: bool,
    content: Option<Content>,
    headers: HeaderMap,
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
            content: config.versions.then(Content::new),
            headers: config.headers.clone(),
            rng: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(config.seed)),
            sleeper: Sleeper::new(clock),
            clock,
            requests: AtomicU64::new(0),
        }
    }

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
        // Before the service time: the response does not contain changes during it.
        let is_reading = matches!(head.method, Method::GET | Method::HEAD);
        let tag =
            self.content.as_ref().map(|content| if is_reading { content.tag() } else { content.change() });
        let began = self.clock.now();
        self.sleeper.sleep(self.draw()).await;
        let took = Duration::from_nanos(self.clock.now().saturating_sub(began));

        let is_known = is_reading && tag.as_ref().is_some_and(|tag| content::is_known(&head.headers, tag));
        let mut response = plain(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
        response.headers_mut().extend(self.headers.clone());
        if let Some(tag) = &tag {
            content::put(response.headers_mut(), tag);
        }
        // The actual time, not the drawn one: the timer may have been late.
        let timing = format!("app;dur={:.3}", took.as_secs_f64() * 1e3);
        if let Ok(timing) = HeaderValue::try_from(timing) {
            response.headers_mut().insert("server-timing", timing);
        }
        if is_known {
            return response;
        }
        response.headers_mut().insert(header::CONTENT_LENGTH, self.body.into());
        response
            .headers_mut()
            .entry(header::CONTENT_TYPE)
            .or_insert(HeaderValue::from_static("application/octet-stream"));
        if head.method != Method::HEAD {
            *response.body_mut() = Body::stream(Zeros::new(self.body));
        }
        response
    }

    fn draw(&self) -> Duration {
        self.service_time.draw(&mut *self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// RFC 8297.
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

async fn swallow(mut body: Body) -> bool {
    while let Some(frame) = body.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}
