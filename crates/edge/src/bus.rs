//! The replicated log of purges: the entries that this data centre has, and the positions of its peers.
//!
//! Each data centre appends its own purges to its own log (`tiers::Ledger`) and sends entries to peers that
//! lack them. This module holds the state; `purging.rs` applies purges, and `exchange.rs` sends them. Two
//! rules ensure that no user receives an object that was stored before a purge which the user's data centre
//! has acknowledged:
//!
//! - A purge is appended to a log and applied to the store under one lock. A position that is read after the
//!   epoch at which a fetch began therefore includes all purges that were in the store then, and a data
//!   centre that covers a position has applied all purges in it.
//! - The position that is reported to peers includes only purges that are also on disk, if there is a disk
//!   store.

mod message;
mod report;
mod stream;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::tiers::{Ledger, LogId, MOST_LOGS, News, NoPosition, Piece, Position};
use http::{
    HeaderValue,
    clock::{Clock, nanos, wall_ns},
};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::{Notify, watch};

#[doc(hidden)]
pub use self::message::is_message_read_as_written;
pub(crate) use self::{
    message::{LONGEST_NAME, MOST_ENTRIES, Message, digits, log_of},
    stream::Whose,
};
use crate::{
    network::CutOff,
    note::{Before, Order},
};

pub(crate) struct Bus {
    clock: Clock,
    /// Held while purges are applied, from the append until the write to disk, so that the log on disk has no
    /// gaps.
    order: Mutex<()>,
    state: Mutex<State>,
    /// When the data centre was cut off from the majority, ns; 0 if it is not cut off.
    cut_off: AtomicU64,
    has_begun: watch::Sender<Begun>,
    /// Notified when further purges have been applied.
    moved: Notify,
    /// Notified when the position of a peer was received.
    heard: watch::Sender<()>,
}

/// Whether the initial synchronisation has ended: purges from before this process started were requested
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Begun {
    others: bool,
    stream: bool,
}

struct State {
    ledger: Ledger<Order>,
    /// The position of the store, as sent in requests; `None` if it is too long for a header field.
    reached: Option<HeaderValue>,
    done: Position,
    done_said: Option<HeaderValue>,
    others: BTreeMap<String, Known>,
    /// Peers from which purges were requested at least once.
    asked: BTreeSet<String>,
    stream: stream::Known,
}

#[derive(Debug, Clone, Default)]
struct Known {
    log: Option<LogId>,
    /// The position of the peer, including logs that it has settled and this data centre has not.
    position: Position,
    said: Position,
    /// The last time at which this data centre had all purges of the peer.
    heard: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Heard {
    pub(crate) over: Vec<LogId>,
    pub(crate) goes_on: bool,
}

impl Bus {
    pub(crate) fn new() -> Self {
        let state = State {
            ledger: Ledger::new(LogId(random())),
            reached: Some(HeaderValue::from_static("")),
            done: Position::default(),
            done_said: Some(HeaderValue::from_static("")),
            others: BTreeMap::new(),
            asked: BTreeSet::new(),
            stream: stream::Known::default(),
        };
        Self {
            clock: Clock::start(),
            order: Mutex::default(),
            state: Mutex::new(state),
            cut_off: AtomicU64::new(0),
            has_begun: watch::channel(Begun { others: false, stream: true }).0,
            moved: Notify::new(),
            heard: watch::channel(()).0,
        }
    }

    pub(crate) fn resume(&self, before: &Before) {
        let mut state = self.state();
        let entries = before.noted.iter().filter_map(crate::note::Noted::entry);
        entries.for_each(|entry| state.ledger.resume(entry));
        state.ledger.resume_at(&before.reached);
        state.has_moved();
        state.is_done();
    }

    /// Locks the order of purges. The lock must be held while purges are applied.
    pub(crate) fn in_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends purges to the own log and calls `then`, which applies them, under the same lock. Returns the
    /// place of the last one.
    pub(crate) fn append<T>(&self, orders: Vec<Order>, then: impl FnOnce() -> T) -> ((LogId, u64), T) {
        let mut state = self.state();
        let last = state.ledger.append(orders);
        state.has_moved();
        ((state.ledger.own(), last), then())
    }

    /// Receives purges from a peer and calls `then`, which applies them, under the same lock.
    pub(crate) fn take<T>(
        &self,
        pieces: Vec<Piece<Order>>,
        then: impl FnOnce(&News<Order>) -> T,
    ) -> (News<Order>, T) {
        let mut state = self.state();
        let news = state.ledger.take(pieces);
        state.has_moved();
        let done = then(&news);
        (news, done)
    }

    /// Records that all entries are on disk, if there is a disk store. Returns the new position.
    pub(crate) fn is_done(&self) -> Position {
        let mut state = self.state();
        state.is_done();
        self.moved.notify_one();
        state.done.clone()
    }

    /// The position of the store, for a request to a peer. Must be read after the epoch at which the fetch
    /// began. `None` if it is too long for a header field.
    pub(crate) fn reached(&self) -> Option<HeaderValue> {
        self.state().reached.clone()
    }

    pub(crate) fn done(&self) -> Option<HeaderValue> {
        self.state().done_said.clone()
    }

    /// Whether the position of a peer is identical to the position of this data centre.
    pub(crate) fn is_at(&self, told: &[u8]) -> bool {
        self.state().reached.as_ref().is_some_and(|reached| reached.as_bytes() == told)
    }

    /// Whether this data centre has applied all purges in the position of a peer.
    pub(crate) fn covers(&self, told: &HeaderValue) -> Result<bool, NoPosition> {
        let state = self.state();
        if state.reached.as_ref() == Some(told) {
            return Ok(true);
        }
        let told = told.to_str().map_err(|_| NoPosition)?;
        Ok(state.ledger.covers(&told.parse()?))
    }

    /// The next message to a peer. It contains no purges until the position of the peer is known.
    pub(crate) fn message_to(&self, name: &str, network: &str) -> Message {
        let state = self.state();
        match state.others.get(name) {
            Some(known) if known.log.is_some() => self.message(&state, network, &known.position, &known.said),
            _ => self.message(&state, network, &state.ledger.position(), &Position::default()),
        }
    }

    /// The response to a peer at `position`, for which the logs `over` have ended.
    pub(crate) fn message_after(&self, (position, over): (&Position, &Position), network: &str) -> Message {
        let (state, mut reached) = (self.state(), position.clone());
        reached.join(over);
        self.message(&state, network, &reached, position)
    }

    /// A message to a peer at `position` that last reported `said`. `said` is smaller if the peer has settled
    /// logs.
    fn message(&self, state: &State, network: &str, position: &Position, said: &Position) -> Message {
        let now = self.now();
        let age = |(name, known): (&String, &Known)| {
            Some((name.clone(), u64::try_from(now.saturating_sub(known.heard?).as_millis()).ok()?))
        };
        let mut pieces: Vec<_> = state.ledger.short_of(said).collect();
        pieces.extend(state.ledger.after(position, MOST_ENTRIES));
        pieces.truncate(MOST_LOGS);
        Message {
            network: network.to_owned(),
            log: state.ledger.own(),
            position: state.done.clone(),
            over: state.ledger.over(said),
            heard: state.others.iter().filter_map(age).take(message::MOST_HEARD).collect(),
            pieces: message::within_bounds(pieces),
        }
    }

    /// Records the state that a peer reports, after its purges were applied.
    pub(crate) fn hear(&self, name: &str, message: &Message) -> Heard {
        let (now, mut state) = (self.now(), self.state());
        let known = state.others.entry(name.to_owned()).or_default();
        if known.log == Some(message.log) {
            // Messages may be reordered: keep the larger position.
            known.position.join(&message.position);
        } else {
            (known.log, known.position) = (Some(message.log), message.position.clone());
        }
        known.position.join(&message.over);
        known.said.clone_from(&message.position);
        let goes_on = state.ledger.hear(message.log, &message.position);
        if goes_on {
            state.has_moved();
        }
        // The peer may not have settled these logs yet.
        let ended = state.ledger.over(&message.position);
        if let Some(known) = state.others.get_mut(name) {
            ended.logs().for_each(|(log, _)| known.position.leave(log));
        }
        let over = message.over.logs().filter(|&(log, number)| state.take_end(log, number));
        let over: Vec<_> = over.map(|(log, _)| log).collect();
        self.heard.send_replace(());
        if state.ledger.covers(&message.position) {
            state.heard(name, now);
            for (name, age_ms) in &message.heard {
                // Peers outside the network are removed by the next `look`.
                if state.others.len() < message::MOST_HEARD || state.others.contains_key(name) {
                    state.heard(name, now.saturating_sub(Duration::from_millis(*age_ms)));
                }
            }
        }
        Heard { over, goes_on }
    }

    /// Whether a peer and this data centre have the same entries, according to the last message.
    pub(crate) fn is_even_with(&self, name: &str) -> bool {
        let state = self.state();
        state.others.get(name).is_some_and(|known| {
            state.ledger.covers(&known.position) && state.ledger.after(&known.position, 1).is_empty()
        })
    }

    /// The positions of both data centres. An exchange that does not change them was useless. A first message
    /// that reports an empty position counts as a change.
    pub(crate) fn progress(&self, name: &str) -> (Position, Option<(LogId, Position)>) {
        let state = self.state();
        let there = state.others.get(name).and_then(|known| Some((known.log?, known.position.clone())));
        (state.done.clone(), there)
    }

    pub(crate) fn last_own(&self) -> (LogId, u64) {
        let state = self.state();
        let own = state.ledger.own();
        (own, state.ledger.position().reached(own))
    }

    pub(crate) fn has(&self, name: &str, (log, number): (LogId, u64)) -> bool {
        let state = self.state();
        state.others.get(name).is_some_and(|known| known.position.reached(log) >= number)
    }

    /// Records that purges were requested from one of `others` peers, with or without success.
    pub(crate) fn asked(&self, name: &str, others: usize) {
        let mut state = self.state();
        state.asked.insert(name.to_owned());
        if state.asked.len() >= others {
            self.has_begun.send_modify(|begun| begun.others = true);
        }
    }

    /// Waits until purges from before this process started were requested once from all peers and from the
    /// stream, if there is one.
    pub(crate) async fn begun(&self) {
        let has_begun = |begun: &Begun| begun.others && begun.stream;
        if !has_begun(&self.has_begun.borrow()) {
            // Cannot fail: `self` holds the sender.
            let _ = self.has_begun.subscribe().wait_for(has_begun).await;
        }
    }

    /// Drops entries that all peers have, settles ended logs, and checks whether this data centre is cut off.
    /// `names` must contain all peers. Returns the settled logs.
    pub(crate) fn look(&self, names: &BTreeSet<&str>) -> Vec<LogId> {
        self.look_at(self.now(), names)
    }

    fn look_at(&self, now: Duration, names: &BTreeSet<&str>) -> Vec<LogId> {
        let mut state = self.state();
        state.others.retain(|name, _| names.contains(name.as_str()));
        let is_heard = |known: &Known| known.heard.unwrap_or_default() + HEARD_WITHIN >= now;
        let heard = names.iter().filter(|name| match state.others.get(**name) {
            Some(known) => is_heard(known),
            None => is_heard(&Known::default()),
        });
        // A strict majority, including this data centre: two halves of a network must not both count as
        // connected.
        let is_cut_off = (heard.count() + 1) * 2 <= names.len() + 1;
        let since = self.cut_off.load(Relaxed);
        if is_cut_off != (since > 0) {
            self.cut_off.store(if is_cut_off { nanos(now).max(1) } else { 0 }, Relaxed);
            if is_cut_off {
                tracing::warn!("this data centre is cut off: it may miss purges");
            } else {
                tracing::info!("this data centre receives purges again");
            }
        }
        let known: Vec<_> =
            names.iter().filter_map(|name| state.others.get(*name)?.log.map(|log| (*name, log))).collect();
        if known.len() < names.len() {
            return Vec::new();
        }
        let mut alive: BTreeSet<_> = known.iter().map(|(_, log)| *log).collect();
        alive.insert(state.ledger.own());
        let positions: Vec<_> = state.others.values().map(|known| known.position.clone()).collect();
        state.ledger.forget(&positions);
        let over = state.ledger.settle(&alive, &positions);
        over.iter().for_each(|&log| state.forget(log));
        over
    }

    /// Whether this data centre lacks current data from too many peers and may have missed purges.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Relaxed) > 0
    }

    /// Whether stored objects must be revalidated before use because this data centre is cut off.
    pub(crate) fn asks_first(&self, choice: CutOff, limit: Duration) -> bool {
        self.is_cut_off() && self.asks_first_at(self.now(), choice, limit)
    }

    fn asks_first_at(&self, now: Duration, choice: CutOff, limit: Duration) -> bool {
        let since = Duration::from_nanos(self.cut_off.load(Relaxed));
        self.is_cut_off() && (choice == CutOff::Revalidate || now.saturating_sub(since) >= limit)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_moved(&mut self) {
        self.reached = said(&self.ledger.position());
    }

    fn is_done(&mut self) {
        self.done = self.ledger.position();
        self.done_said = said(&self.done);
    }

    /// Settles a log that a peer reports as settled at this number, unless a known peer still writes it or
    /// has a later entry: the sender may have an older network file than this data centre.
    fn take_end(&mut self, log: LogId, number: u64) -> bool {
        let is_known_better =
            self.others.values().any(|known| known.log == Some(log) || known.position.reached(log) > number);
        let is_over = !is_known_better && self.ledger.end(log, number);
        if is_over {
            self.forget(log);
        }
        is_over
    }

    fn forget(&mut self, log: LogId) {
        self.done.leave(log);
        self.done_said = said(&self.done);
        self.others.values_mut().for_each(|known| known.position.leave(log));
        self.has_moved();
    }

    fn heard(&mut self, name: &str, at: Duration) {
        let known = self.others.entry(name.to_owned()).or_default();
        known.heard = known.heard.max(Some(at));
    }
}

/// A position as a header field; `None` if it is too long.
fn said(position: &Position) -> Option<HeaderValue> {
    let text = position.to_string();
    Some(text).filter(|text| text.len() <= LONGEST_FIELD)?.parse().ok()
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => wall_ns().unsigned_abs(),
    }
}

/// The position of about 600 logs. A data centre with a longer position fetches from origins.
const LONGEST_FIELD: usize = 16 << 10;

/// A peer whose state is older than this may have unknown purges. Five times the base interval between
/// exchanges.
pub(crate) const HEARD_WITHIN: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests;
