//! Replication between two stores: a write is sent to the other store immediately, or when that
//! store is available again.
//!
//! Keys to be replicated are marked in the store, atomically with the write. The mark is removed
//! when the other store has confirmed this version or a newer one.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Bytes, Method, Request, Response, StatusCode, Uri, header};
use kv::{ApplyOutcome, KeyVersion};
use tier_routing::DataCentreId;
use tokio::time::{sleep, timeout};

use super::{
    Replication,
    record_stream::{
        ApplySummary, LONGEST_BODY, LONGEST_LIST, MOST_BYTES, MOST_KEYS, MissingKeys, hand, handed,
    },
    wire,
};
use crate::{
    api_error::{ApiError, ended},
    service::{Service, now},
    store::{
        Store,
        paired::{Noted, Reached},
    },
    value::set,
    value_cache::Name,
};

struct Batch {
    body: Vec<u8>,
    known: Vec<KeyVersion>,
    /// `None` at the end.
    last: Option<Reached>,
}

impl Service {
    /// Never returns.
    pub(crate) async fn replay_hints(self: &Arc<Self>) {
        let Some(linked) = &self.linked else { return std::future::pending().await };
        let mut wait = Duration::ZERO;
        loop {
            if wait.is_zero() {
                let _ = timeout(BETWEEN_LOOKS, linked.noted.notified()).await;
            } else {
                sleep(wait).await;
            }
            wait = match self.replay_recorded_hints(linked).await {
                Ok(()) => Duration::ZERO,
                Err(why) => {
                    tracing::debug!(why, "replication to the other store failed");
                    (wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT)
                }
            };
        }
    }

    async fn replay_recorded_hints(&self, linked: &Replication) -> Result<(), String> {
        let Some(other) = linked.other_store() else { return Ok(()) };
        if !linked.links.is_up(other) {
            return Err("it is gone".to_owned());
        }
        let mut after = Reached::default();
        loop {
            let Some(store) = self.store_here() else { return Ok(()) };
            let batch = batch(&store, after).await.map_err(|problem| problem.message)?;
            // Release the store: closing it waits for all holders.
            drop(store);
            let Some(last) = batch.last else { return Ok(()) };
            after = last;
            if !batch.known.is_empty() {
                let taken = send_hints(linked, other, batch.body).await?;
                self.counts.given.add(usize::try_from(taken.new).unwrap_or(usize::MAX));
                let Some(store) = self.store_here() else { return Ok(()) };
                store.unnote(batch.known).await.map_err(|problem| problem.message)?;
            }
        }
    }

    pub(super) async fn apply_hints(
        self: &Arc<Self>,
        linked: &Replication,
        body: Body,
    ) -> Result<Response<Body>, ApiError> {
        let body = body.collect(LONGEST_BODY).await;
        let body =
            body.map_err(|why| ApiError::bad(format!("the replicated records were truncated: {why}")))?;
        let store = self.one_of_two(linked)?;
        let all = handed(&body).ok_or_else(|| ApiError::bad("invalid replicated records"))?;
        let service = Arc::clone(self);
        // Otherwise copies here could outlive a write that is in the file.
        let taking = async move {
            let keys: Vec<_> =
                all.iter().map(|(key, record, _)| (key.clone(), record.version.clone())).collect();
            let given = store.take(all).await?;
            for ((key, version), given) in keys.into_iter().zip(&given) {
                if *given != Some(ApplyOutcome::New) {
                    continue;
                }
                let Some((namespace, key)) = key.split_once('\0') else { continue };
                service.copies.forget_older(&Name::of(namespace, key), &version.to_string());
                service.counts.taken.add(1);
                // A tier may have read the old value from this store.
                if now().0.saturating_sub(version.made().0) > LATE {
                    service.counts.repaired.add(1);
                    service.tell(namespace, [(key, version.to_string())]);
                }
            }
            Ok::<_, ApiError>(ApplySummary::of(&given))
        };
        let taken = tokio::spawn(taking).await.map_err(|error| ended(&error))??;
        if taken.older > 0 {
            linked.noted.notify_one();
        }
        Ok(json(&taken))
    }

    pub(super) async fn record_hints(
        &self,
        linked: &Replication,
        body: Body,
    ) -> Result<Response<Body>, ApiError> {
        let text = body.collect(LONGEST_LIST).await;
        let told: Option<MissingKeys> = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        let told = told.ok_or_else(|| ApiError::bad("invalid message"))?;
        self.one_of_two(linked)?.note(told.keys).await?;
        linked.noted.notify_one();
        Ok(Response::new(Body::empty()))
    }

    /// If it is available.
    pub(super) fn store_here(&self) -> Option<Store> {
        self.store().ok().filter(|store| store.trouble().is_none())
    }

    /// For a request of the data centre with the other store.
    pub(super) fn one_of_two(&self, linked: &Replication) -> Result<Store, ApiError> {
        self.store().ok().filter(|_| linked.other_store().is_some()).ok_or_else(no_pair)
    }

    /// Lacks acknowledged keys that the other store may have.
    pub(crate) fn is_short(&self) -> bool {
        self.store().is_ok_and(|store| store.is_short())
    }

    /// May lack old keys of the other store.
    pub(crate) fn is_filling(&self) -> bool {
        self.store().is_ok_and(|store| store.is_filling())
    }
}

pub(super) async fn request_hints(
    linked: &Replication,
    store: DataCentreId,
    keys: Vec<String>,
) -> Result<(), String> {
    ask(linked, store, wire::NOTE, serde_json::to_vec(&MissingKeys { keys }).unwrap_or_default())
        .await
        .map(drop)
}

pub(super) async fn ask(
    linked: &Replication,
    store: DataCentreId,
    word: &'static str,
    body: impl Into<Bytes>,
) -> Result<Bytes, String> {
    let body: Bytes = body.into();
    let request = || {
        let mut request = Request::new(Body::whole(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static("/");
        set(request.headers_mut(), wire::ASKED_AS, word);
        // The length determines which connection is used.
        request.headers_mut().insert(header::CONTENT_LENGTH, body.len().into());
        Some(request)
    };
    let patience = PATIENCE + Duration::from_millis(body.len() as u64 / SLOWEST_BYTES_PER_MS);
    let answered = async {
        let response = linked.send(store, request).await.map_err(|unreached| unreached.to_string())?;
        let status = response.status();
        let text = response.into_body().collect(LONGEST_LIST).await;
        let text = text.map_err(|failure| format!("its response was truncated: {failure}"))?;
        if status.is_success() { Ok(text) } else { Err(String::from_utf8_lossy(&text).into_owned()) }
    };
    timeout(patience, answered).await.unwrap_or_else(|_| Err("it does not respond in time".to_owned()))
}

async fn send_hints(
    linked: &Replication,
    other: DataCentreId,
    body: Vec<u8>,
) -> Result<ApplySummary, String> {
    let text = ask(linked, other, wire::GIVE, body).await?;
    serde_json::from_slice(&text).map_err(|_| super::upstream_read::NOT_AGREED.to_owned())
}

/// Many short values, or a long one.
async fn batch(store: &Store, after: Reached) -> Result<Batch, ApiError> {
    let mut batch = Batch { body: Vec::new(), known: Vec::new(), last: None };
    for Noted { key, found, reached } in store.notes(after, (MOST_KEYS, MOST_BYTES as u64 * 16)).await? {
        if let Some((record, value)) = found {
            batch.known.push((key.clone(), record.version.clone()));
            hand(&mut batch.body, &(key, record, value));
        }
        batch.last = Some(reached);
    }
    Ok(batch)
}

/// The store cannot confirm the absence of a value or list the keys.
pub(crate) fn filling() -> ApiError {
    let message = "this store is being filled from the other store, which does not respond: try again";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(super) fn no_pair() -> ApiError {
    let message = "this data centre does not have one of two stores: send SIGHUP when the network's file is the same everywhere";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(super) fn json(value: &impl serde::Serialize) -> Response<Body> {
    Response::new(Body::whole(serde_json::to_vec(value).unwrap_or_default()))
}

/// Age in milliseconds from which a record counts as repaired, and the key's tiers are notified
/// again.
const LATE: u64 = 2000;
const PATIENCE: Duration = Duration::from_secs(5);
/// 4 Mbit/s.
const SLOWEST_BYTES_PER_MS: u64 = 500;
/// For marks from before the start; others trigger replication immediately.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
