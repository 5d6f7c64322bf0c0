//! Handlers for requests of other data centres: reads, writes, lists and notifications.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, HeaderValue, Method, Request, Response, StatusCode};
use kv::{CopyUse, Key, ReadOptions, Tier, Version};

use super::{
    LEFT, ReadQuery, Replication,
    hinted_handoff::filling,
    local_copy::is_over,
    wire::{self, Said, Told},
};
use crate::{
    access::{CATALOGUE, NAMESPACE},
    api_error::{ApiError, MaybeApplied},
    query::Parameters,
    rest,
    service::Service,
    value::{Content, Found, NotFound, VERSION, set},
    value_cache::{CachedState, Name},
    workerd_binding,
};

impl Service {
    /// Handles a request of another data centre of the network, which the caller has authenticated.
    pub async fn answer_other(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        match Box::pin(self.answered(request)).await {
            Ok(response) => response,
            Err(problem) => {
                let is_left = !self.is_here();
                let mut response = problem.plain();
                if is_left {
                    response.headers_mut().insert(wire::AGAIN, HeaderValue::from_static("1"));
                }
                response
            }
        }
    }

    async fn answered(self: &Arc<Self>, request: Request<Body>) -> Result<Response<Body>, ApiError> {
        let Some(linked) = &self.linked else {
            return Err(ApiError::bad("there are no links to this store"));
        };
        // A handover that begins now waits for this request.
        let store = self.store_for_request();
        if store.is_none() && !self.is_here() {
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, LEFT));
        }
        let (parts, body) = request.into_parts();
        let word = parts.headers.get(wire::ASKED_AS).and_then(|word| word.to_str().ok()).unwrap_or_default();
        if word == wire::TELL {
            return self.hear(linked, body).await;
        }
        match word {
            wire::GIVE => return self.apply_hints(linked, body).await,
            wire::COMPARE => return self.compared(linked, body).await,
            wire::NOTE => return self.record_hints(linked, body).await,
            _ => {}
        }
        let id = parts.headers.get(NAMESPACE).map(HeaderValue::as_bytes).unwrap_or_default();
        let mut access = self.access();
        if access.of_id(id).is_none() {
            access = self.access_after_look().await;
        }
        let namespace = access.of_id(id).ok_or_else(|| no_namespace(id))?;
        if word == wire::WRITE {
            if linked.links.store().is_some() {
                return Err(no_store());
            }
            self.check_store()?;
            if parts.method == Method::GET && self.is_short() {
                // The list would be incomplete. Forwarding it to the other store could cause a
                // loop.
                return Err(filling());
            }
            let version = wire::read_proposed(&parts.headers);
            let version = version.ok_or_else(|| ApiError::bad("invalid version"))?;
            self.counts.of_others.add(1);
            let mut response = if parts.uri.path().starts_with(rest::PREFIX) {
                rest::of_link(self, namespace, &parts, body, version).await
            } else {
                workerd_binding::of_link(self, namespace, &parts, body, version).await
            };
            if namespace.id == CATALOGUE.id && parts.method != Method::GET {
                // The lookup makes this data centre refuse removed namespaces.
                let _ = self.look_for_namespaces().await;
            }
            if let Some(known) = response.extensions_mut().remove::<Version>() {
                set(response.headers_mut(), VERSION, &known.to_string());
            }
            if response.extensions_mut().remove::<MaybeApplied>().is_some() {
                response.headers_mut().insert(wire::UNSURE, HeaderValue::from_static("1"));
            }
            return Ok(response);
        }
        let path = parts.uri.path().strip_prefix('/').unwrap_or_default();
        let key = workerd_binding::key(path, &Parameters::of(parts.uri.query())?)?;
        if word == wire::LOOK {
            let said = self.look(&namespace.id, &key).await;
            let said = said.map_err(|why| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why))?;
            return Ok(respond(&said, Body::empty()));
        }
        let asked_as = Tier::named(word).filter(|&tier| tier > Tier::Lower);
        let (Some(asked_as), Some(wanted)) = (asked_as, wire::read_wanted(&parts.headers)) else {
            return Err(ApiError::bad("invalid request"));
        };
        // Prevents a loop between two data centres whose network files differ.
        if asked_as == Tier::Store && linked.links.store().is_some() {
            return Err(no_store());
        }
        self.counts.of_others.add(1);
        let found = if linked.links.store().is_none() {
            self.read_for_other(&namespace.id, &key).await?
        } else {
            let (namespace, key) = (namespace.id.clone(), key.as_str().to_owned());
            self.read_far(linked, ReadQuery::new(namespace, key, asked_as, wanted)).await?
        };
        let mut said = said_of(&found);
        said.is_unsure = said.version.is_none() && self.is_filling();
        said.is_had = said.about.is_some() && wire::is_had(&parts.headers, said.version.as_deref());
        let body = match found {
            Ok(found) if parts.method != Method::HEAD && !said.is_had => found.into_body(),
            _ => Body::empty(),
        };
        Ok(respond(&said, body))
    }

    /// No fallback to the other store, which could cause a loop.
    fn check_store(&self) -> Result<(), ApiError> {
        self.store().map_or(Ok(()), |store| store.check())
    }

    /// All writes pass through here, so a copy is as new as the store.
    async fn read_for_other(
        self: &Arc<Self>,
        namespace: &str,
        key: &Key,
    ) -> Result<Result<Found, NotFound>, ApiError> {
        if self.linked.as_ref().is_some_and(|linked| linked.other_store().is_some()) {
            // While this store is unavailable, writes go to the other store.
            self.check_store()?;
        }
        let seen =
            self.copies.find(&Name::of(namespace, key.as_str()), ReadOptions::default(), self.elapsed());
        if let Some(seen) = seen
            && !is_over(&seen.known)
            && let CachedState::Value(held) = &seen.known
        {
            if seen.usage == CopyUse::AtOnceAndRefresh {
                self.read_beside(namespace, key.as_str());
            }
            let (about, version) = (held.about.clone(), held.version.clone());
            let (age, content) = (Duration::ZERO, Content::Whole(held.value.clone()));
            return Ok(Ok(Found { about, version, age, source: Tier::Store, content }));
        }
        self.read(namespace, key.as_str()).await
    }

    async fn hear(&self, linked: &Replication, body: Body) -> Result<Response<Body>, ApiError> {
        let text = body.collect(Told::LONGEST).await;
        let told = text.ok().and_then(|text| Told::read(&text));
        let Some(told) = told else { return Err(ApiError::bad("invalid message")) };
        if told.everything {
            self.copies.forget_all();
            linked.flights.close_all();
        }
        for (namespace, key, version) in &told.written {
            let name = Name::of(namespace, key);
            self.copies.wrote(&name, version);
            linked.flights.close(&name);
        }
        self.counts.heard.add(told.written.len());
        Ok(Response::new(Body::empty()))
    }
}

fn no_store() -> ApiError {
    let message = "this data centre has no store: send SIGHUP when the network's file is the same everywhere";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

fn no_namespace(id: &[u8]) -> ApiError {
    let message = format!(
        "this data centre has no namespace with the id \"{}\": send SIGHUP when the network's file is the same everywhere",
        String::from_utf8_lossy(id)
    );
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(super) fn said_of(found: &Result<Found, NotFound>) -> Said {
    match found {
        Ok(found) => Said {
            about: Some(found.about.clone()),
            version: Some(found.version.clone()),
            age: found.age,
            source: found.source,
            is_unsure: false,
            is_had: false,
        },
        Err(absent) => {
            let NotFound { version, age, source } = absent.clone();
            Said { about: None, version, age, source, is_unsure: false, is_had: false }
        }
    }
}

fn respond(said: &Said, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    if said.about.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if said.is_had {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    said.write(response.headers_mut());
    response
}
