//! Writes and lists are forwarded to the data centre with the store, and its response is returned.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, HeaderName, Request, Response, body::Frames as _, header, request::Parts};
use kv::Key;
use tier_routing::DataCentreId;
use tokio::{sync::OwnedSemaphorePermit, time::timeout};

use super::{
    PeerError, Replication,
    failover_write::{SHORT, StoreRequest},
    upstream_read::unreached,
    wire,
};
use crate::{
    access::NAMESPACE,
    api_error::{ApiError, ended},
    service::Service,
    value::{CACHE_STATUS, METADATA, VERSION, set},
    value_cache::Name,
};

impl Service {
    /// If there is no store here.
    pub(crate) fn store_elsewhere(&self) -> Option<(&Arc<Replication>, DataCentreId)> {
        let linked = self.linked.as_ref()?;
        Some((linked, linked.links.store()?))
    }

    /// There is no store here, or it is unavailable and the other store is available.
    pub(crate) fn far_store(&self) -> Option<(&Arc<Replication>, DataCentreId)> {
        self.store_elsewhere().or_else(|| {
            self.trouble_here()?;
            self.other_that_answers()
        })
    }

    /// A list would be incomplete in a store that lacks acknowledged keys.
    pub(crate) fn far_store_for_list(&self) -> Option<(&Arc<Replication>, DataCentreId)> {
        self.far_store().or_else(|| self.other_that_answers().filter(|_| self.is_short()))
    }

    /// If it is available.
    fn other_that_answers(&self) -> Option<(&Arc<Replication>, DataCentreId)> {
        let linked = self.linked.as_ref()?;
        let other = linked.other_store().filter(|&other| linked.links.is_up(other))?;
        Some((linked, other))
    }

    /// Why the store here is unavailable, if there is one.
    pub(super) fn trouble_here(&self) -> Option<String> {
        self.store().ok()?.trouble()
    }

    /// Continues if the client disconnects: otherwise copies here could outlive the write.
    pub(crate) async fn pass_on(
        self: &Arc<Self>,
        (linked, store): (&Arc<Replication>, DataCentreId),
        namespace: &str,
        parts: &Parts,
        (body, place): (Body, Option<OwnedSemaphorePermit>),
        keys: Vec<Key>,
    ) -> Result<Response<Body>, ApiError> {
        let length = parts.headers.get(header::CONTENT_LENGTH);
        let length: Option<usize> = length.and_then(|length| length.to_str().ok()?.parse().ok());
        // The body may be in memory even if there is no Content-Length.
        let in_memory = body.size_hint().exact();
        let body = match length {
            Some(length) if length <= SHORT => {
                let whole = body.collect(length).await;
                Body::whole(whole.map_err(|why| ApiError::bad(format!("the request was truncated: {why}")))?)
            }
            _ => body,
        };
        let mut request = Request::new(());
        *request.method_mut() = parts.method.clone();
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        *request.uri_mut() =
            target.parse().map_err(|_| ApiError::bad("the request's target cannot be forwarded"))?;
        let headers = request.headers_mut();
        for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, METADATA] {
            if let Some(value) = parts.headers.get(&name) {
                headers.insert(name, value.clone());
            }
        }
        if let Some(length) = in_memory.filter(|&length| length > 0) {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        set(headers, wire::ASKED_AS, wire::WRITE);
        set(headers, NAMESPACE, namespace);
        self.counts.passed_on.add(1);
        let (service, linked, namespace) = (Arc::clone(self), Arc::clone(linked), namespace.to_owned());
        let passing = async move {
            let _place = place;
            let pair = linked.pair().filter(|_| linked.other_store().is_none());
            let (store, done) = match pair {
                None => (store, done(&linked, store, request, body).await),
                Some(stores) => {
                    let errand = StoreRequest { head: request, body, keys: keys.len() };
                    let (store, done) = service.done_by_either(&linked, stores, errand, LONGEST).await;
                    (store, done.map(shown))
                }
            };
            service.follow_up(&linked, &namespace, &keys, &done);
            done.map_err(|why| {
                let mut problem = unreached(&linked, Some((store, why.to_string())));
                if let PeerError::NotHeard(_) = why {
                    problem.message.push_str("; the request may have been done");
                }
                problem
            })
        };
        tokio::spawn(passing).await.map_err(|error| ended(&error))?
    }

    /// Discards copies that are older than the write.
    fn follow_up(
        &self,
        linked: &Replication,
        namespace: &str,
        keys: &[Key],
        done: &Result<Response<Body>, PeerError>,
    ) {
        let version = match done {
            Ok(response) if response.status().is_success() => {
                self.counts.writes.add(keys.len());
                response.headers().get(VERSION).and_then(|version| version.to_str().ok())
            }
            Ok(response) if response.status().is_client_error() => return,
            Err(PeerError::NotAsked(_)) => return,
            Ok(_) | Err(PeerError::NotHeard(_)) => None,
        };
        for key in keys {
            let name = Name::of(namespace, key.as_str());
            match version {
                Some(version) => self.copies.wrote(&name, version),
                None => self.copies.doubt(&name),
            }
            linked.flights.close(&name);
        }
    }
}

async fn done(
    linked: &Replication,
    store: DataCentreId,
    head: Request<()>,
    body: Body,
) -> Result<Response<Body>, PeerError> {
    let answered = timeout(LONGEST, linked.send_with(store, head, body)).await;
    answered.unwrap_or_else(|_| Err(PeerError::NotHeard("it does not respond in time".to_owned()))).map(shown)
}

fn shown(response: Response<Body>) -> Response<Body> {
    let (parts, body) = response.into_parts();
    let mut response = Response::new(body);
    *response.status_mut() = parts.status;
    for name in SHOWN {
        if let Some(value) = parts.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// A Worker reads the reason phrase, which HTTP/2 does not have.
pub(crate) async fn in_binding(response: Response<Body>) -> Result<Response<Body>, ApiError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let text = response.into_body().collect(LONGEST_REFUSAL).await.unwrap_or_default();
    Err(ApiError::new(status, String::from_utf8_lossy(&text).into_owned()))
}

/// Fields that are returned to clients.
const SHOWN: [HeaderName; 4] = [header::CONTENT_TYPE, header::CONTENT_LENGTH, VERSION, CACHE_STATUS];
/// Longer than the time to receive a bulk request.
const LONGEST: Duration = Duration::from_secs(120);
const LONGEST_REFUSAL: usize = 4096;
