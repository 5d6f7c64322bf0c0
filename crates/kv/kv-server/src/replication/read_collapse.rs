//! Collapsed forwarding: concurrent requests for a key share one request to other data centres,
//! which continues if the first client disconnects.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::value_cache::Name;

pub(super) struct Flights<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    under_way: HashMap<Box<[u8]>, Flight<T>>,
    next: u64,
}

struct Flight<T> {
    number: u64,
    answer: watch::Receiver<Option<T>>,
}

pub(super) enum Turn<T> {
    Lead(Lead<T>),
    Follow(watch::Receiver<Option<T>>),
}

/// Must be completed with the response. If it is dropped, the followers retry.
pub(super) struct Lead<T> {
    flights: Arc<Mutex<State<T>>>,
    name: Box<[u8]>,
    number: u64,
    answer: watch::Sender<Option<T>>,
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { under_way: HashMap::new(), next: 0 })))
    }
}

impl<T> Flights<T> {
    pub(super) fn join(&self, name: &Name) -> Turn<T> {
        let mut state = lock(&self.0);
        if let Some(flight) = state.under_way.get(name.as_bytes()) {
            return Turn::Follow(flight.answer.clone());
        }
        state.next += 1;
        let (number, (answer, receiver)) = (state.next, watch::channel(None));
        state.under_way.insert(name.as_bytes().into(), Flight { number, answer: receiver });
        Turn::Lead(Lead { flights: Arc::clone(&self.0), name: name.as_bytes().into(), number, answer })
    }

    pub(super) fn has(&self, name: &Name) -> bool {
        lock(&self.0).under_way.contains_key(name.as_bytes())
    }

    /// Later callers do not join the request.
    pub(super) fn close(&self, name: &Name) {
        lock(&self.0).under_way.remove(name.as_bytes());
    }

    pub(super) fn close_all(&self) {
        lock(&self.0).under_way.clear();
    }
}

impl<T> Lead<T> {
    pub(super) fn land(self, came: T) {
        self.answer.send_replace(Some(came));
    }
}

impl<T> Drop for Lead<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.flights);
        if state.under_way.get(&self.name).is_some_and(|flight| flight.number == self.number) {
            state.under_way.remove(&self.name);
        }
    }
}

fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_comes_later_gets_the_answer_of_who_came_first() {
        let (flights, name) = (Flights::<u8>::default(), Name::of("ns", "a"));
        let Turn::Lead(lead) = flights.join(&name) else { panic!("nobody asks") };
        let Turn::Follow(mut answer) = flights.join(&name) else { panic!("somebody asks") };
        assert!(flights.has(&name) && !flights.has(&Name::of("ns", "b")));
        lead.land(7);
        assert_eq!(*answer.wait_for(Option::is_some).await.unwrap(), Some(7));
        assert!(!flights.has(&name));
    }

    #[tokio::test]
    async fn who_comes_after_a_write_asks_itself() {
        let (flights, name) = (Flights::<u8>::default(), Name::of("ns", "a"));
        let Turn::Lead(first) = flights.join(&name) else { panic!("nobody asks") };
        flights.close(&name);
        let Turn::Lead(second) = flights.join(&name) else { panic!("the first one is closed") };
        first.land(1);
        let Turn::Follow(mut answer) = flights.join(&name) else { panic!("somebody asks") };
        drop(second);
        assert!(answer.wait_for(Option::is_some).await.is_err());
    }
}
