//! What the origin answers to one request.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Config, service_time::ServiceTime, sleeper::Sleeper};
use crate::{clock::Clock, limits};

/// Answers requests on all connections.
pub(crate) struct Responder {
    service_time: ServiceTime,
    body: u64,
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
            rng: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(config.seed)),
            sleeper: Sleeper::new(clock),
            clock,
            requests: AtomicU64::new(0),
        }
    }

    /// Takes a request's body, works on it as long as the distribution says, and answers.
    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Result<Response<Zeros>, Infallible> {
        self.requests.fetch_add(1, Relaxed);
        let (head, body) = request.into_parts();
        if ![Method::GET, Method::HEAD, Method::POST, Method::PUT].contains(&head.method) {
            let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED);
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST, PUT"));
            return Ok(refusal);
        }
        if !swallow(body).await {
            return Ok(plain(StatusCode::REQUEST_TIMEOUT));
        }
        let began = self.clock.now();
        self.sleeper.sleep(self.draw()).await;
        let took = Duration::from_nanos(self.clock.now().saturating_sub(began));

        let mut response = plain(StatusCode::OK);
        // What it took, not what was drawn: the timer may have been late.
        let timing = format!("app;dur={:.3}", took.as_secs_f64() * 1e3);
        if let Ok(timing) = HeaderValue::try_from(timing) {
            response.headers_mut().insert("server-timing", timing);
        }
        response.headers_mut().insert(header::CONTENT_LENGTH, self.body.into());
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        if head.method != Method::HEAD {
            response.body_mut().left = self.body;
        }
        Ok(response)
    }

    fn draw(&self) -> Duration {
        self.service_time.draw(&mut *self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn plain(status: StatusCode) -> Response<Zeros> {
    let mut response = Response::new(Zeros { left: 0 });
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Reads a body to its end; whether it got there.
async fn swallow(mut body: Incoming) -> bool {
    loop {
        match tokio::time::timeout(limits::READ_TIMEOUT, body.frame()).await {
            Ok(None) => return true,
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(_))) | Err(_) => return false,
        }
    }
}

/// A body of so many zeros, which is never in memory as a whole.
pub(crate) struct Zeros {
    left: u64,
}

impl Body for Zeros {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let size = usize::try_from(self.left).unwrap_or(usize::MAX).min(ZEROS.len());
        self.left -= size as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&ZEROS[..size])))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
