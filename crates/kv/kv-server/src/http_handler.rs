//! The request handler. Its fast path serves a read from memory without a task and without a header
//! map.

use std::{io::Write as _, net::SocketAddr, sync::Arc, time::Duration};

use http_stack::{
    Body, CompleteBody, Failure, Request, Response, Scheme, StatusCode,
    clock::http_date,
    server::{Handler, RequestView},
};
use kv::{Key, Tier};

use crate::{
    access::{NAMESPACE, Use},
    bulk_read::cache_ttl,
    query::Parameters,
    rest,
    service::Service,
    successor_proxy,
    value::{MemoryValue, cache_status},
    workerd_binding,
};

/// Handles a store's requests; each server has its own.
#[derive(Debug, Clone)]
pub struct KvHandler {
    service: Arc<Service>,
    /// Of the process that replaces this one.
    successor: Option<(Scheme, SocketAddr)>,
}

impl KvHandler {
    /// Creates the handler of this store.
    pub fn of(service: &Arc<Service>) -> Self {
        Self { service: Arc::clone(service), successor: None }
    }

    /// Also forwards requests to the process that replaces this one, while that process has the
    /// file.
    #[must_use]
    pub fn on(self, scheme: Scheme, address: Option<SocketAddr>) -> Self {
        Self { successor: address.map(|address| (scheme, address)), ..self }
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        // Boxed to keep this future small.
        if request.uri().path().starts_with(rest::PREFIX) {
            Box::pin(rest::answer(&self.service, request)).await
        } else {
            Box::pin(workerd_binding::answer(&self.service, request)).await
        }
    }

    fn copy(&self, request: &RequestView<'_>) -> Option<(Arc<MemoryValue>, Duration)> {
        let (path, query) = request.target.split_once('?').unwrap_or((request.target, ""));
        let path = path.strip_prefix('/').filter(|path| !path.is_empty())?;
        if request.is_head || request.target.starts_with(rest::PREFIX) {
            return None;
        }
        let (mut authorization, mut named) = (None, None);
        for (name, value) in request.fields() {
            if name.eq_ignore_ascii_case("authorization") {
                authorization = Some(value);
            } else if name.eq_ignore_ascii_case(NAMESPACE.as_str()) {
                named = Some(value);
            }
        }
        let access = self.service.access();
        let namespace = access.of_binding(authorization, named, Use::Reading).ok()?;
        let (key, ttl) = if query == "urlencoded=true" {
            (Key::from_path(path).ok()?, None)
        } else {
            let parameters = Parameters::of(Some(query)).ok()?;
            (workerd_binding::key(path, &parameters).ok()?, cache_ttl(parameters.get("cache_ttl")).ok()?)
        };
        self.service.copy(&namespace.id, key.as_str(), ttl)
    }
}

impl Handler for KvHandler {
    const HAS_FAST_PATH: bool = true;

    type Observer = ();

    fn try_respond_h1(
        &self,
        request: &RequestView<'_>,
        head: &mut Vec<u8>,
    ) -> Option<(CompleteBody, Option<()>)> {
        let (held, age) = self.copy(request)?;
        write_head(head, &held, age);
        Some((held.value.clone().into(), None))
    }

    async fn handle(&self, mut request: Request<Body>) -> Result<Response<Body>, Failure> {
        let Self { service, successor } = self;
        if successor_proxy::is_probe(&request) {
            return Ok(successor_proxy::probe_response(service));
        }
        let response = loop {
            // A handover that begins now waits for this request.
            let store = service.store_for_request();
            request = match successor {
                Some(successor) if store.is_none() && service.has_store() => {
                    match Box::pin(successor_proxy::forward(service, *successor, request)).await {
                        Ok(response) => break response,
                        Err(request) => request,
                    }
                }
                _ => break self.answer(request).await,
            };
        };
        let status = response.status();
        if status != StatusCode::NOT_FOUND && !status.is_success() {
            service.counts.refused.add(1);
        }
        Ok(response)
    }
}

fn write_head(head: &mut Vec<u8>, held: &MemoryValue, age: Duration) {
    let MemoryValue { value, about, version } = held;
    // Writing to a `Vec` cannot fail.
    let _ = write!(
        head,
        "HTTP/1.1 200 OK\r\nkv-age: {}\r\nkv-source: {}\r\ncf-cache-status: {}\r\nkv-version: {version}\r\n\
         content-length: {}\r\ncontent-type: application/octet-stream\r\n",
        age.as_secs(),
        Tier::Lower.name(),
        cache_status(Tier::Lower),
        value.len(),
    );
    if let Some(expiration) = about.expiration {
        let _ = write!(head, "cf-expiration: {}\r\n", expiration.0);
    }
    if let Some(metadata) = &about.metadata {
        let _ = write!(head, "cf-kv-metadata: {}\r\n", metadata.as_str());
    }
    head.extend_from_slice(b"date: ");
    head.extend_from_slice(http_date().as_bytes());
    head.extend_from_slice(b"\r\n");
}
