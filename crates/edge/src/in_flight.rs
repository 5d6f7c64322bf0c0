//! Upstream requests in flight. They prevent that a response replaces the response to a later request (RFC
//! 9111 section 4).

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use cache::{Key, Selection, Spread, Time};
use http::HeaderMap;

#[derive(Debug, Default)]
pub(crate) struct InFlight {
    keys: Mutex<HashMap<Key, OfKey, Spread>>,
    latest: AtomicU64,
    /// The greatest number of a request with a response.
    answered: AtomicU64,
}

#[derive(Debug, Default)]
struct OfKey {
    count: usize,
    answered: Vec<Answered>,
    /// All variants are superseded for requests before this number.
    of_all_variants: u64,
}

/// A request that received its response while another request for its key was in flight.
#[derive(Debug)]
struct Answered {
    number: u64,
    headers: HeaderMap,
}

/// An upstream request, from the time it is sent until its response is stored completely.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) time: Time,
    /// The epoch of the newest purge at the time it was sent.
    pub(crate) epoch: u64,
    number: u64,
    in_flight: Arc<InFlight>,
    listed: Option<Arc<Listed>>,
}

/// Holds the entry of a key in the table until the last request for the key ends.
#[derive(Debug)]
struct Listed {
    key: Key,
    in_flight: Arc<InFlight>,
}

impl InFlight {
    pub(crate) fn send(self: &Arc<Self>, key: &Key, time: Time, epoch: u64) -> Sent {
        let mut keys = self.lock();
        keys.entry(key.clone()).or_default().count += 1;
        let number = self.next();
        drop(keys);
        let listed = Arc::new(Listed { key: key.clone(), in_flight: Arc::clone(self) });
        Sent { time, epoch, number, in_flight: Arc::clone(self), listed: Some(listed) }
    }

    /// A request whose response is rarely stored. The response to a later request for any key supersedes it.
    pub(crate) fn send_unlisted(self: &Arc<Self>, time: Time, epoch: u64) -> Sent {
        Sent { time, epoch, number: self.next(), in_flight: Arc::clone(self), listed: None }
    }

    fn next(&self) -> u64 {
        self.latest.fetch_add(1, Relaxed) + 1
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, OfKey, Spread>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sent {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The same request, continued by a range request at this time.
    pub(crate) fn resumed(&self, time: Time) -> Self {
        Self { time, ..self.clone() }
    }

    /// Records the complete response to this request: it supersedes responses to earlier requests for the
    /// same variant.
    pub(crate) fn is_answered(&self, key: &Key, headers: &HeaderMap) {
        let mut keys = self.in_flight.lock();
        self.in_flight.answered.fetch_max(self.number, Relaxed);
        let Some(of_key) = keys.get_mut(key) else { return };
        let is_own = self.listed.as_ref().is_some_and(|listed| listed.key == *key);
        if of_key.count <= usize::from(is_own) {
            return;
        }
        if of_key.answered.len() >= MOST_ANSWERED {
            let numbers = of_key.answered.drain(..).map(|answered| answered.number);
            of_key.of_all_variants = numbers.fold(of_key.of_all_variants, u64::max);
        }
        of_key.answered.push(Answered { number: self.number, headers: headers.clone() });
    }

    /// Whether a later request for a variant has received its response.
    pub(crate) fn is_superseded(&self, selection: &Selection) -> bool {
        let Some(listed) = &self.listed else {
            return self.in_flight.answered.load(Relaxed) > self.number;
        };
        let keys = self.in_flight.lock();
        keys.get(&listed.key).is_some_and(|of_key| {
            of_key.of_all_variants > self.number
                || of_key
                    .answered
                    .iter()
                    .any(|answered| answered.number > self.number && selection.matches(&answered.headers))
        })
    }
}

impl Drop for Listed {
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

/// Responses per key that are recorded with their variants.
const MOST_ANSWERED: usize = 64;

#[cfg(test)]
mod tests {
    use cache::KeyRule;

    use super::*;

    const NOW: Time = Time::from_millis(0);

    fn key(path: &str) -> Key {
        let url = format!("http://a{path}").parse().unwrap();
        Key::of(&url, &HeaderMap::new(), &KeyRule::default())
    }

    fn language(language: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(http::header::ACCEPT_LANGUAGE, language.parse().unwrap())])
    }

    fn variant(language_of_request: &'static str) -> Selection {
        let vary = HeaderMap::from_iter([(http::header::VARY, "accept-language".parse().unwrap())]);
        Selection::of(&language(language_of_request), &vary).unwrap()
    }

    #[test]
    fn the_answer_to_a_later_request_supersedes_the_same_variant_alone() {
        let in_flight = Arc::<InFlight>::default();
        let (earlier, later) = (in_flight.send(&key("/"), NOW, 0), in_flight.send(&key("/"), NOW, 0));
        let other = in_flight.send(&key("/other"), NOW, 0);
        assert!(!earlier.is_superseded(&variant("de")));
        later.is_answered(&key("/"), &language("de"));
        assert!(earlier.is_superseded(&variant("de")));
        assert!(!earlier.is_superseded(&variant("en")));
        assert!(!later.is_superseded(&variant("de")) && !other.is_superseded(&variant("de")));
        // The response to an earlier request supersedes nothing.
        earlier.is_answered(&key("/"), &language("en"));
        assert!(!later.is_superseded(&variant("en")));
    }

    #[test]
    fn of_more_answers_than_are_kept_all_variants_are_superseded() {
        let in_flight = Arc::<InFlight>::default();
        let earlier = in_flight.send(&key("/"), NOW, 0);
        for _ in 0..=MOST_ANSWERED {
            in_flight.send(&key("/"), NOW, 0).is_answered(&key("/"), &language("de"));
        }
        assert!(earlier.is_superseded(&variant("en")));
        assert_eq!(in_flight.lock()[&key("/")].answered.len(), 1);
    }

    #[test]
    fn nothing_is_kept_of_requests_that_have_ended() {
        let in_flight = Arc::<InFlight>::default();
        let sent = in_flight.send(&key("/"), NOW, 0);
        let continued = sent.resumed(NOW);
        // No other request is in flight that it could supersede.
        sent.is_answered(&key("/"), &language("de"));
        assert_eq!(in_flight.lock()[&key("/")].answered.len(), 0);
        drop(sent);
        assert_eq!(in_flight.lock().len(), 1);
        drop(continued);
        assert_eq!(in_flight.lock().len(), 0);
    }

    #[test]
    fn any_later_answer_supersedes_an_unlisted_request() {
        let in_flight = Arc::<InFlight>::default();
        let unlisted = in_flight.send_unlisted(NOW, 0);
        assert!(!unlisted.is_superseded(&variant("de")));
        in_flight.send(&key("/other"), NOW, 0).is_answered(&key("/other"), &HeaderMap::new());
        assert!(unlisted.is_superseded(&variant("de")));
    }
}
