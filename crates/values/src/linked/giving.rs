//! What one of two stores has and the other may not is given to it: what is written at once, and what it could not be given while it was gone
//! when it is there again.
//!
//! Which keys those are is noted in the store, in the same step as what is written, and the note goes when the other one has said that it
//! knows as much. So nothing that was acknowledged is forgotten, whatever is killed between any two steps; and what is given twice is taken once,
//! as it has a version.

use std::{sync::Arc, time::Duration};

use http::{Body, Bytes, Method, Request, Response, StatusCode, Uri, header};
use kv::{Given, Known};
use tiers::CentreId;
use tokio::time::{sleep, timeout};

use super::{
    Linked,
    handed::{LONGEST_BODY, LONGEST_LIST, MOST_BYTES, MOST_KEYS, Taken, ToGive, hand, handed},
    wire,
};
use crate::{
    copies::Name,
    problem::{Problem, ended},
    service::{Service, now},
    store::{
        Store,
        paired::{Noted, Reached},
    },
    value::set,
};

/// What goes at once.
struct Batch {
    body: Vec<u8>,
    known: Vec<Known>,
    /// The last key that was looked at; `None` if there was none.
    last: Option<Reached>,
}

impl Service {
    /// Gives the other store what is noted for it. Never returns.
    pub(crate) async fn give_all(self: &Arc<Self>) {
        let Some(linked) = &self.linked else { return std::future::pending().await };
        let mut wait = Duration::ZERO;
        loop {
            if wait.is_zero() {
                let _ = timeout(BETWEEN_LOOKS, linked.noted.notified()).await;
            } else {
                sleep(wait).await;
            }
            wait = match self.give_noted(linked).await {
                Ok(()) => Duration::ZERO,
                Err(why) => {
                    tracing::debug!(why, "the other store was not given what it lacks");
                    (wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT)
                }
            };
        }
    }

    /// Gives it all that is noted now.
    async fn give_noted(&self, linked: &Linked) -> Result<(), String> {
        let Some(other) = linked.other_store() else { return Ok(()) };
        if !linked.links.answers(other) {
            return Err("it is gone".to_owned());
        }
        let mut after = Reached::default();
        loop {
            let Some(store) = self.store_here() else { return Ok(()) };
            let batch = batch(&store, after).await.map_err(|problem| problem.message)?;
            // Whoever leaves the store waits for those who have it.
            drop(store);
            let Some(last) = batch.last else { return Ok(()) };
            after = last;
            if !batch.known.is_empty() {
                let taken = give(linked, other, batch.body).await?;
                self.counts.given.add(usize::try_from(taken.new).unwrap_or(usize::MAX));
                let Some(store) = self.store_here() else { return Ok(()) };
                store.unnote(batch.known).await.map_err(|problem| problem.message)?;
            }
        }
    }

    /// Takes what the other store gives.
    pub(super) async fn taken(
        self: &Arc<Self>,
        linked: &Linked,
        body: Body,
    ) -> Result<Response<Body>, Problem> {
        let body = body.collect(LONGEST_BODY).await;
        let body = body.map_err(|why| Problem::bad(format!("what was given broke off: {why}")))?;
        let store = self.one_of_two(linked)?;
        let all = handed(&body).ok_or_else(|| Problem::bad("what was given is not as agreed on"))?;
        let service = Arc::clone(self);
        // To its end, as copies here must not outlive what the file has.
        let taking = async move {
            let keys: Vec<_> =
                all.iter().map(|(key, record, _)| (key.clone(), record.version.clone())).collect();
            let given = store.take(all).await?;
            for ((key, version), given) in keys.into_iter().zip(&given) {
                if *given != Some(Given::New) {
                    continue;
                }
                let Some((namespace, key)) = key.split_once('\0') else { continue };
                service.copies.forget_older(&Name::of(namespace, key), &version.to_string());
                service.counts.taken.add(1);
                // Places of the key may have a copy that they had here since.
                if now().0.saturating_sub(version.made().0) > LATE {
                    service.counts.repaired.add(1);
                    service.tell(namespace, [(key, version.to_string())]);
                }
            }
            Ok::<_, Problem>(Taken::of(&given))
        };
        let taken = tokio::spawn(taking).await.map_err(|error| ended(&error))??;
        if taken.older > 0 {
            linked.noted.notify_one();
        }
        Ok(json(&taken))
    }

    /// Is told of which keys the other store knows less, and gives it those.
    pub(super) async fn noted(&self, linked: &Linked, body: Body) -> Result<Response<Body>, Problem> {
        let text = body.collect(LONGEST_LIST).await;
        let told: Option<ToGive> = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
        let told = told.ok_or_else(|| Problem::bad("the message is not as agreed on"))?;
        self.one_of_two(linked)?.note(told.keys).await?;
        linked.noted.notify_one();
        Ok(Response::new(Body::empty()))
    }

    /// The store here, if it can be used.
    pub(super) fn store_here(&self) -> Option<Store> {
        self.store().ok().filter(|store| store.trouble().is_none())
    }

    /// The same for another data centre, which has the other one of two.
    pub(super) fn one_of_two(&self, linked: &Linked) -> Result<Store, Problem> {
        self.store().ok().filter(|_| linked.other_store().is_some()).ok_or_else(no_pair)
    }

    /// Whether the store here lacks acknowledged keys that the other one may have.
    pub(crate) fn is_short(&self) -> bool {
        self.store().is_ok_and(|store| store.is_short())
    }

    /// Whether the store here may lack keys that the other one has always had.
    pub(crate) fn is_filling(&self) -> bool {
        self.store().is_ok_and(|store| store.is_filling())
    }
}

/// Tells a store that the other one knows less of keys than it does.
pub(super) async fn have_given(linked: &Linked, store: CentreId, keys: Vec<String>) -> Result<(), String> {
    ask(linked, store, wire::NOTE, serde_json::to_vec(&ToGive { keys }).unwrap_or_default()).await.map(drop)
}

/// Makes a request of another data centre with a store, and returns its answer's body.
pub(super) async fn ask(
    linked: &Linked,
    store: CentreId,
    word: &'static str,
    body: impl Into<Bytes>,
) -> Result<Bytes, String> {
    let body: Bytes = body.into();
    let request = || {
        let mut request = Request::new(Body::whole(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static("/");
        set(request.headers_mut(), wire::ASKED_AS, word);
        // By which the connection is chosen.
        request.headers_mut().insert(header::CONTENT_LENGTH, body.len().into());
        Some(request)
    };
    let patience = PATIENCE + Duration::from_millis(body.len() as u64 / SLOWEST_BYTES_PER_MS);
    let answered = async {
        let response = linked.send(store, request).await.map_err(|unreached| unreached.to_string())?;
        let status = response.status();
        let text = response.into_body().collect(LONGEST_LIST).await;
        let text = text.map_err(|failure| format!("its answer broke off: {failure}"))?;
        if status.is_success() { Ok(text) } else { Err(String::from_utf8_lossy(&text).into_owned()) }
    };
    timeout(patience, answered).await.unwrap_or_else(|_| Err("it does not answer in time".to_owned()))
}

async fn give(linked: &Linked, other: CentreId, body: Vec<u8>) -> Result<Taken, String> {
    let text = ask(linked, other, wire::GIVE, body).await?;
    serde_json::from_slice(&text).map_err(|_| super::above::NOT_AGREED.to_owned())
}

/// Reads what is noted behind those: many short values, or a long one.
async fn batch(store: &Store, after: Reached) -> Result<Batch, Problem> {
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

/// A store that may lack keys cannot say alone that there is no value, or which keys there are.
pub(crate) fn filling() -> Problem {
    let message = "this store is being filled from the other one, which does not answer: ask again";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

/// Who is asked as one of two stores without being one.
pub(super) fn no_pair() -> Problem {
    let message =
        "this data centre has none of two stores: send SIGHUP when the network's file is the same everywhere";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

pub(super) fn json(value: &impl serde::Serialize) -> Response<Body> {
    // Numbers and texts are always JSON.
    Response::new(Body::whole(serde_json::to_vec(value).unwrap_or_default()))
}

/// What is given later than this, in milliseconds, counts as repaired, and the key's places are told once more: whoever could not be told, or has
/// asked the store that did not know of it.
const LATE: u64 = 2000;
/// For a request with a small body, and for the disk.
const PATIENCE: Duration = Duration::from_secs(5);
/// 4 Mbit/s.
const SLOWEST_BYTES_PER_MS: u64 = 500;
/// Whoever notes something says so; this is for what was noted before.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
