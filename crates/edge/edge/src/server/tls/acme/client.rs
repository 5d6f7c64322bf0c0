//! The HTTP client of the ACME library: this project's client, with trust for the ACME server only.

use std::{
    future::poll_fn,
    pin::Pin,
    str::FromStr as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http_cache::Time;
use http_stack::{
    Body, Bytes, Client, Origin, Request, Response, StatusCode,
    body::Frames as _,
    client::{Config, Trace, Trust},
    header::RETRY_AFTER,
};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

use crate::{config::Acme, util::clock};

#[derive(Clone)]
pub(super) struct AcmeClient {
    client: Client,
    retry_after: Arc<Mutex<Option<Duration>>>,
}

impl AcmeClient {
    pub(super) fn new(acme: &Acme) -> Result<Self, http_stack::Error> {
        let trust = acme.ca.clone().map_or(Trust::System, Trust::File);
        let client = Client::new(&Config { trust, ..Config::default() })?;
        client.prepare()?;
        Ok(Self { client, retry_after: Arc::default() })
    }

    /// How long the server asked to wait, in a response that refused a request.
    pub(super) fn take_retry_after(&self) -> Option<Duration> {
        self.retry_after.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn send(self, request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Failed> {
        let (parts, body) = request.into_parts();
        let body = collect(body).await;
        let origin = Origin::of(&parts.uri)?;
        let body = if body.is_empty() { Body::empty() } else { Body::whole(body) };
        let mut trace = Trace::start(self.client.clock().now());
        let response = self.client.send(&origin, Request::from_parts(parts, body), &mut trace).await?;
        self.note_retry_after(&response);
        let (parts, body) = response.into_parts();
        let body = body.collect(MAX_RESPONSE_BYTES).await?;
        Ok(BytesResponse { parts, body: Box::new(body) })
    }

    fn note_retry_after<B>(&self, response: &Response<B>) {
        let is_refusal =
            matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let value = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        if let Some(value) = value.filter(|_| is_refusal) {
            *self.retry_after.lock().unwrap_or_else(PoisonError::into_inner) = delay(value, clock::now());
        }
    }
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// The library makes bodies of one frame.
async fn collect(mut body: BodyWrapper<Bytes>) -> Bytes {
    let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
    frame.and_then(|frame| frame.ok()?.into_data().ok()).unwrap_or_default()
}

/// Retry-After is a number of seconds or a date (RFC 9110 section 10.2.3).
fn delay(value: &str, now: Time) -> Option<Duration> {
    match u64::from_str(value.trim()) {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(Time::parse(value.trim())?.since(now)),
    }
}

impl HttpClient for AcmeClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let sent = self.clone().send(request);
        Box::pin(async move { sent.await.map_err(Error::Other) })
    }
}

/// A certificate chain has some kilobytes.
const MAX_RESPONSE_BYTES: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = Time::parse("Fri, 31 Dec 1999 23:59:00 GMT").unwrap();
        assert_eq!(delay("120", now), Some(Duration::from_secs(120)));
        assert_eq!(delay("Fri, 31 Dec 1999 23:59:59 GMT", now), Some(Duration::from_secs(59)));
        assert_eq!(delay("Fri, 31 Dec 1999 23:58:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(delay("soon", now), None);
    }
}
