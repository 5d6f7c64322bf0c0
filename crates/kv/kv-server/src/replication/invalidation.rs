//! Notifies the tiers of a key of each write, immediately, and retries for as long as their copies
//! could be fresh.
//!
//! There is at most one message in flight to each data centre, in which several writes of a key are
//! one entry. After the refresh period, copies from before the write have expired, and the
//! notification is abandoned.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_stack::{Body, Method, Request, Uri};
use kv::{FreshnessPolicy, Placement};
use tokio::time::{sleep, timeout};

use super::{
    Replication,
    wire::{self, Told},
};
use crate::{service::Service, value::set};

/// By the name of the data centre, because its id may change when the network's file is reloaded.
#[derive(Debug, Default)]
pub(super) struct Invalidation {
    to: Mutex<HashMap<String, Pending>>,
}

/// If it is cancelled, the next write starts another one.
struct Invalidator<'t> {
    telling: &'t Invalidation,
    name: &'t str,
    is_done: bool,
}

impl Drop for Invalidator<'_> {
    fn drop(&mut self) {
        if !self.is_done
            && let Some(pending) = self.telling.to().get_mut(self.name)
        {
            pending.is_under_way = false;
        }
    }
}

#[derive(Debug, Default)]
struct Pending {
    /// The version and the time of the write, by namespace and key.
    keys: BTreeMap<(String, String), (String, Duration)>,
    /// Of the last write after the limit of pending keys was exceeded.
    more: Option<Duration>,
    is_under_way: bool,
}

impl Pending {
    fn add(&mut self, name: (String, String), version: &str, at: Duration) {
        if self.keys.len() >= MOST_PENDING && !self.keys.contains_key(&name) {
            self.keys.clear();
            self.more = Some(at);
        }
        if self.more.is_some() {
            self.more = self.more.max(Some(at));
            return;
        }
        let known = self.keys.entry(name).or_insert_with(|| (version.to_owned(), at));
        if known.0.as_str() < version {
            *known = (version.to_owned(), at);
        }
    }

    fn take(&mut self) -> Option<Batch> {
        if let Some(at) = self.more.take() {
            self.keys.clear();
            return Some(Batch { keys: Vec::new(), more: Some(at) });
        }
        let (mut keys, mut bytes) = (Vec::new(), 0);
        while keys.len() < MOST_KEYS && bytes < MOST_BYTES {
            let Some((name, (version, at))) = self.keys.pop_first() else { break };
            bytes += name.1.len();
            keys.push((name, version, at));
        }
        (!keys.is_empty()).then_some(Batch { keys, more: None })
    }

    /// Drops expired keys and returns their number.
    fn put_back(&mut self, batch: Batch, now: Duration) -> usize {
        let is_due = |at: Duration| now.saturating_sub(at) < FreshnessPolicy::default().refresh;
        if batch.more.is_some_and(is_due) {
            self.more = self.more.max(batch.more);
        }
        let mut over = 0;
        for (name, version, at) in batch.keys {
            if is_due(at) {
                self.add(name, &version, at);
            } else {
                over += 1;
            }
        }
        over
    }
}

struct Batch {
    keys: Vec<((String, String), String, Duration)>,
    more: Option<Duration>,
}

impl Batch {
    fn message(&self) -> Told {
        let written = self
            .keys
            .iter()
            .map(|((namespace, key), version, _)| (namespace.clone(), key.clone(), version.clone()));
        Told { written: written.collect(), everything: self.more.is_some() }
    }
}

impl Service {
    /// To be called in a runtime.
    pub(crate) fn tell<'k>(
        self: &Arc<Self>,
        namespace: &str,
        written: impl IntoIterator<Item = (&'k str, String)>,
    ) {
        let Some(linked) = &self.linked else { return };
        let (now, mut to_begin) = (self.elapsed(), Vec::new());
        let mut to = linked.telling.to();
        for (key, version) in written {
            for centre in linked.links.subscribers(Placement::hash(namespace, key)) {
                if centre == linked.links.local() {
                    continue;
                }
                self.counts.to_tell.add(1);
                let name = linked.links.name(centre);
                let pending = to.entry(name.clone()).or_default();
                pending.add((namespace.to_owned(), key.to_owned()), &version, now);
                if !std::mem::replace(&mut pending.is_under_way, true) {
                    to_begin.push(name);
                }
            }
        }
        drop(to);
        for name in to_begin {
            let (service, linked) = (Arc::clone(self), Arc::clone(linked));
            tokio::spawn(async move { service.tell_all(&linked, &name).await });
        }
    }

    async fn tell_all(&self, linked: &Replication, name: &str) {
        let mut teller = Invalidator { telling: &linked.telling, name, is_done: false };
        let mut wait = FIRST_WAIT;
        loop {
            let batch = {
                let mut to = linked.telling.to();
                let Some(pending) = to.get_mut(name) else { return };
                let Some(batch) = pending.take() else {
                    (pending.is_under_way, teller.is_done) = (false, true);
                    return;
                };
                batch
            };
            let told = timeout(PATIENCE, tell_one(linked, name, &batch.message())).await;
            let why = match told {
                Ok(Ok(())) => {
                    self.counts.told.add(batch.keys.len());
                    self.counts.messages.add(1);
                    wait = FIRST_WAIT;
                    continue;
                }
                Ok(Err(why)) => why,
                Err(_) => "it does not respond in time".to_owned(),
            };
            tracing::debug!(data_centre = name, why, "a data centre was not notified of writes");
            let over =
                linked.telling.to().entry(name.to_owned()).or_default().put_back(batch, self.elapsed());
            self.counts.untold.add(over);
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl Invalidation {
    fn to(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn tell_one(linked: &Replication, name: &str, told: &Told) -> Result<(), String> {
    let links = &linked.links;
    let centre = links.all().into_iter().find(|&centre| links.name(centre) == name);
    let centre = centre.ok_or("the network no longer has a data centre of that name")?;
    let text = told.write();
    let request = || {
        let mut request = Request::new(Body::whole(text.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static("/");
        set(request.headers_mut(), wire::ASKED_AS, wire::TELL);
        Some(request)
    };
    let response = linked.send(centre, request).await.map_err(|unreached| unreached.to_string())?;
    let status = response.status();
    if status.is_success() { Ok(()) } else { Err(format!("it refuses with {status}")) }
}

/// Per data centre. Beyond that, the data centre is notified to discard all copies.
const MOST_PENDING: usize = 32_768;
/// Keys of a message, and bytes of their names: JSON may escape each byte as six.
const MOST_KEYS: usize = 1000;
const MOST_BYTES: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: usize) -> (String, String) {
        ("ns".to_owned(), key.to_string())
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_key_that_is_written_again_and_again_is_told_once() {
        let mut pending = Pending::default();
        for version in ["1", "3", "2"] {
            pending.add(name(7), version, SECOND);
        }
        let message = pending.take().unwrap().message();
        assert_eq!(message.written, [("ns".to_owned(), "7".to_owned(), "3".to_owned())]);
        assert!(!message.everything && pending.take().is_none());
    }

    #[test]
    fn what_was_not_told_is_told_again_until_no_copy_is_old_enough() {
        let mut pending = Pending::default();
        pending.add(name(1), "1", SECOND);
        pending.add(name(2), "1", 30 * SECOND);
        let batch = pending.take().unwrap();
        pending.add(name(2), "2", 40 * SECOND);
        assert_eq!(pending.put_back(batch, 61 * SECOND), 1);
        let message = pending.take().unwrap().message();
        assert_eq!(message.written, [("ns".to_owned(), "2".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn too_many_are_told_as_all() {
        let mut pending = Pending::default();
        for key in 0..=MOST_PENDING {
            pending.add(name(key), "1", SECOND);
        }
        let message = pending.take().unwrap().message();
        assert!(message.everything && message.written.is_empty() && pending.take().is_none());
        pending.add(name(1), "1", SECOND);
        assert_eq!(pending.take().unwrap().keys.len(), 1);
    }

    #[test]
    fn what_is_put_back_does_not_make_all_of_them_older() {
        let mut pending = Pending::default();
        pending.add(name(1), "1", SECOND);
        let batch = pending.take().unwrap();
        for key in 0..=MOST_PENDING {
            pending.add(name(key), "2", 40 * SECOND);
        }
        pending.put_back(batch, 41 * SECOND);
        assert_eq!(pending.take().unwrap().more, Some(40 * SECOND));
    }

    #[test]
    fn a_message_is_not_longer_than_one_may_be() {
        let mut pending = Pending::default();
        for key in 0..500 {
            let key = format!("{}{key:03}", "\u{1}".repeat(509));
            pending.add(("n".repeat(32), key), "0199a3f0c2b1-0000-lhr", SECOND);
        }
        let mut keys = 0;
        while let Some(batch) = pending.take() {
            assert!(batch.message().write().len() <= Told::LONGEST);
            keys += batch.keys.len();
        }
        assert_eq!(keys, 500);
    }
}
