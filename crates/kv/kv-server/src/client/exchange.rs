//! HTTP requests of the client.

use std::time::Duration;

use http_stack::{
    Body, Bytes, Client, Failure, HeaderMap, HeaderValue, Method, Origin, Request, Scheme, StatusCode,
    client::{Config, Trust},
    header,
};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::runtime::{Builder, Runtime};

use crate::{Error, access::NAMESPACE};

pub(super) struct Exchange {
    runtime: Runtime,
    client: Client,
    place: Origin,
    headers: HeaderMap,
}

#[derive(Deserialize)]
pub(super) struct Envelope<T> {
    pub(super) result: T,
    pub(super) messages: Vec<Said>,
}

#[derive(Deserialize)]
pub(super) struct Said {
    pub(super) message: String,
}

impl Exchange {
    pub(super) fn with(
        place: Origin,
        trust: Trust,
        namespace: Option<&str>,
        token: &str,
    ) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let client = Client::new(&Config { trust, ..Config::default() })?;
        if place.scheme == Scheme::Https {
            client.prepare()?;
        }
        let field = |text: &str, what: &str| {
            let why = format!("the {what} has characters that cannot be sent");
            HeaderValue::from_bytes(text.as_bytes())
                .map_err(|_| Error::Refused { address: place.to_string(), why })
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, field(&format!("Bearer {token}"), "token")?);
        if let Some(namespace) = namespace {
            headers.insert(NAMESPACE, field(namespace, "namespace")?);
        }
        Ok(Self { runtime, client, place, headers })
    }

    pub(super) fn ask(
        &self,
        method: Method,
        target: &str,
        more: HeaderMap,
        body: Body,
    ) -> Result<(StatusCode, HeaderMap, Bytes), Error> {
        let asking =
            async { tokio::time::timeout(PATIENCE, self.exchange(method, target, more, body)).await };
        let asked = self.runtime.block_on(asking).unwrap_or(Err(Failure::Timeout));
        asked.map_err(|failure| Error::Unreachable { address: self.place.to_string(), failure })
    }

    async fn exchange(
        &self,
        method: Method,
        target: &str,
        more: HeaderMap,
        body: Body,
    ) -> Result<(StatusCode, HeaderMap, Bytes), Failure> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().map_err(|_| Failure::Source)?;
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().extend(more);
        let mut trace = http_stack::client::Trace::start(self.client.clock().now());
        let response = self.client.send(&self.place, request, &mut trace).await?;
        let (parts, body) = response.into_parts();
        Ok((parts.status, parts.headers, body.collect(LARGEST_ANSWER).await?))
    }

    pub(super) fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        below: &str,
        body: Body,
    ) -> Result<Envelope<T>, Error> {
        let target = format!("/client/v4/accounts/any/storage/kv/namespaces{below}");
        let (status, _, text) = self.ask(method, &target, HeaderMap::new(), body)?;
        self.checked(status, &text)?;
        serde_json::from_slice(&text).map_err(|error| self.refused(&format!("invalid response: {error}")))
    }

    /// The error contains the store's message.
    pub(super) fn checked(&self, status: StatusCode, text: &[u8]) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Refusal {
            errors: Vec<Said>,
        }
        if status.is_success() {
            return Ok(());
        }
        let refusal: Option<Refusal> = serde_json::from_slice(text).ok();
        let fault = refusal.and_then(|refusal| refusal.errors.into_iter().next());
        let said = fault.map_or_else(|| String::from_utf8_lossy(text).into_owned(), |fault| fault.message);
        Err(self.refused(if said.is_empty() { status.as_str() } else { &said }))
    }

    pub(super) fn refused(&self, why: &str) -> Error {
        Error::Refused { address: self.place.to_string(), why: why.to_owned() }
    }
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exchange with {}", self.place)
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
/// More than the largest value.
const LARGEST_ANSWER: usize = 32 << 20;
