//! Upstream requests in flight, so that no response replaces the response to a later request (RFC
//! 9111 section 4).

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use http_cache::{Key, Time, U64Hasher, VaryKey};
use http_stack::HeaderMap;

#[derive(Debug, Default)]
pub(crate) struct InFlightRequests {
    keys: Mutex<HashMap<Key, KeyRequests, U64Hasher>>,
    latest: AtomicU64,
    answered: AtomicU64,
}

#[derive(Debug, Default)]
struct KeyRequests {
    count: usize,
    answered: Vec<AnsweredRequest>,
    /// All variants are superseded for requests before this number.
    answered_all_variants: u64,
}

#[derive(Debug)]
struct AnsweredRequest {
    number: u64,
    headers: HeaderMap,
}

#[derive(Debug, Clone)]
pub(crate) struct SentRequest {
    pub(crate) time: Time,
    /// The epoch of the newest purge when the request was sent.
    pub(crate) epoch: u64,
    number: u64,
    in_flight: Arc<InFlightRequests>,
    listed: Option<Arc<ListedRequest>>,
}

/// The entry of a key stays in the table until the last request for the key ends.
#[derive(Debug)]
struct ListedRequest {
    key: Key,
    in_flight: Arc<InFlightRequests>,
}

impl InFlightRequests {
    pub(crate) fn send(self: &Arc<Self>, key: &Key, time: Time, epoch: u64) -> SentRequest {
        let mut keys = self.lock();
        keys.entry(key.clone()).or_default().count += 1;
        let number = self.next();
        drop(keys);
        let listed = Arc::new(ListedRequest { key: key.clone(), in_flight: Arc::clone(self) });
        SentRequest { time, epoch, number, in_flight: Arc::clone(self), listed: Some(listed) }
    }

    /// For responses that are rarely stored. The response to a later request for any key supersedes
    /// it.
    pub(crate) fn send_unlisted(self: &Arc<Self>, time: Time, epoch: u64) -> SentRequest {
        SentRequest { time, epoch, number: self.next(), in_flight: Arc::clone(self), listed: None }
    }

    fn next(&self) -> u64 {
        self.latest.fetch_add(1, Relaxed) + 1
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, KeyRequests, U64Hasher>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SentRequest {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn resumed(&self, time: Time) -> Self {
        Self { time, ..self.clone() }
    }

    /// The response is complete, and supersedes responses to earlier requests for the same variant.
    pub(crate) fn mark_answered(&self, key: &Key, headers: &HeaderMap) {
        let mut keys = self.in_flight.lock();
        self.in_flight.answered.fetch_max(self.number, Relaxed);
        let Some(of_key) = keys.get_mut(key) else { return };
        let is_own = self.listed.as_ref().is_some_and(|listed| listed.key == *key);
        if of_key.count <= usize::from(is_own) {
            return;
        }
        if of_key.answered.len() >= MAX_ANSWERED {
            let numbers = of_key.answered.drain(..).map(|answered| answered.number);
            of_key.answered_all_variants = numbers.fold(of_key.answered_all_variants, u64::max);
        }
        of_key.answered.push(AnsweredRequest { number: self.number, headers: headers.clone() });
    }

    pub(crate) fn is_superseded(&self, selection: &VaryKey) -> bool {
        let Some(listed) = &self.listed else {
            return self.in_flight.answered.load(Relaxed) > self.number;
        };
        let keys = self.in_flight.lock();
        keys.get(&listed.key).is_some_and(|of_key| {
            of_key.answered_all_variants > self.number
                || of_key
                    .answered
                    .iter()
                    .any(|answered| answered.number > self.number && selection.matches(&answered.headers))
        })
    }
}

impl Drop for ListedRequest {
    fn drop(&mut self) {
        let mut keys = self.in_flight.lock();
        if let Some(of_key) = keys.get_mut(&self.key) {
            of_key.count -= 1;
            if of_key.count == 0 {
                keys.remove(&self.key);
            }
        }
    }
}

const MAX_ANSWERED: usize = 64;

#[cfg(test)]
mod tests {
    use http_cache::KeyRule;

    use super::*;

    const NOW: Time = Time::from_millis(0);

    fn key(path: &str) -> Key {
        let url = format!("http://a{path}").parse().unwrap();
        Key::of(&url, &HeaderMap::new(), &KeyRule::default())
    }

    fn language(language: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(http_stack::header::ACCEPT_LANGUAGE, language.parse().unwrap())])
    }

    fn variant(language_of_request: &'static str) -> VaryKey {
        let vary = HeaderMap::from_iter([(http_stack::header::VARY, "accept-language".parse().unwrap())]);
        VaryKey::of(&language(language_of_request), &vary).unwrap()
    }

    #[test]
    fn later_response_supersedes_only_its_own_variant() {
        let in_flight = Arc::<InFlightRequests>::default();
        let (earlier, later) = (in_flight.send(&key("/"), NOW, 0), in_flight.send(&key("/"), NOW, 0));
        let other = in_flight.send(&key("/other"), NOW, 0);
        assert!(!earlier.is_superseded(&variant("de")));
        later.mark_answered(&key("/"), &language("de"));
        assert!(earlier.is_superseded(&variant("de")));
        assert!(!earlier.is_superseded(&variant("en")));
        assert!(!later.is_superseded(&variant("de")) && !other.is_superseded(&variant("de")));
        earlier.mark_answered(&key("/"), &language("en"));
        assert!(!later.is_superseded(&variant("en")));
    }

    #[test]
    fn too_many_responses_supersede_all_variants() {
        let in_flight = Arc::<InFlightRequests>::default();
        let earlier = in_flight.send(&key("/"), NOW, 0);
        for _ in 0..=MAX_ANSWERED {
            in_flight.send(&key("/"), NOW, 0).mark_answered(&key("/"), &language("de"));
        }
        assert!(earlier.is_superseded(&variant("en")));
        assert_eq!(in_flight.lock()[&key("/")].answered.len(), 1);
    }

    #[test]
    fn finished_requests_leave_no_entries() {
        let in_flight = Arc::<InFlightRequests>::default();
        let sent = in_flight.send(&key("/"), NOW, 0);
        let continued = sent.resumed(NOW);
        sent.mark_answered(&key("/"), &language("de"));
        assert_eq!(in_flight.lock()[&key("/")].answered.len(), 0);
        drop(sent);
        assert_eq!(in_flight.lock().len(), 1);
        drop(continued);
        assert_eq!(in_flight.lock().len(), 0);
    }

    #[test]
    fn unlisted_request_is_superseded_by_any_later_response() {
        let in_flight = Arc::<InFlightRequests>::default();
        let unlisted = in_flight.send_unlisted(NOW, 0);
        assert!(!unlisted.is_superseded(&variant("de")));
        in_flight.send(&key("/other"), NOW, 0).mark_answered(&key("/other"), &HeaderMap::new());
        assert!(unlisted.is_superseded(&variant("de")));
    }
}
