//! What was purged in a network, as one of its data centres has heard of it, and how far the others are.
//!
//! Each data centre has a log of its own purges (`tiers::Ledger`), and tells the others what they lack. Here is what is known; purges are done in
//! `purging.rs`, and told in `exchange.rs`. Two things make it sure that no visitor sees what was there before a purge that its data centre has
//! acknowledged:
//!
//! - A purge gets its place in a log and is done in the store under one lock. So a position that is read after the epoch at which a fetch
//!   began has all purges that the store had done then, and whoever is found to cover a position has done all that it has.
//! - What others are told to have been done is on the disk as well, where there is one.

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

/// The logs of all data centres, as one of them has them.
pub(crate) struct Bus {
    clock: Clock,
    /// Held by whoever does purges, from their place in a log to the disk: what is noted there of a log has no gaps.
    order: Mutex<()>,
    state: Mutex<State>,
    /// Since when too few others are heard of, ns; 0 if that is not so.
    cut_off: AtomicU64,
    has_begun: watch::Sender<Begun>,
    /// More is done here than before.
    moved: Notify,
    /// Another data centre has said how far it is.
    heard: watch::Sender<()>,
}

/// Who was asked once what was purged before this process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Begun {
    /// Each of the others.
    others: bool,
    /// The stream, if there is one.
    stream: bool,
}

struct State {
    ledger: Ledger<Order>,
    /// How far the store is, as requests say it; `None` if that is too long to be said.
    reached: Option<HeaderValue>,
    /// How far the store and the disk are.
    done: Position,
    /// The same, as responses say it.
    done_said: Option<HeaderValue>,
    others: BTreeMap<String, Known>,
    /// Those that were asked once.
    asked: BTreeSet<String>,
    stream: stream::Known,
}

/// What is known of another data centre.
#[derive(Debug, Clone, Default)]
struct Known {
    /// Its own log.
    log: Option<LogId>,
    /// How far it is, also in logs that are over for it and not here.
    position: Position,
    /// How far it said to be last.
    said: Position,
    /// When all that it had purged was here, as far as is known.
    heard: Option<Duration>,
}

/// What follows from a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Heard {
    /// Logs that are over.
    pub(crate) over: Vec<LogId>,
    /// Whether logs go on that were taken to be over.
    pub(crate) goes_on: bool,
}

impl Bus {
    /// One that has heard of nothing.
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

    /// Goes on where the run before ended.
    pub(crate) fn resume(&self, before: &Before) {
        let mut state = self.state();
        let entries = before.noted.iter().filter_map(crate::note::Noted::entry);
        entries.for_each(|entry| state.ledger.resume(entry));
        state.ledger.resume_at(&before.reached);
        state.has_moved();
        state.is_done();
    }

    /// To be held by whoever does purges.
    pub(crate) fn in_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives purges their places, and has them done; returns the place of the last one.
    pub(crate) fn append<T>(&self, orders: Vec<Order>, then: impl FnOnce() -> T) -> ((LogId, u64), T) {
        let mut state = self.state();
        let last = state.ledger.append(orders);
        state.has_moved();
        ((state.ledger.own(), last), then())
    }

    /// Takes what another data centre tells, and has it done.
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

    /// All that has a place is on the disk as well, if there is one. Returns how far that is.
    pub(crate) fn is_done(&self) -> Position {
        let mut state = self.state();
        state.is_done();
        self.moved.notify_one();
        state.done.clone()
    }

    /// How far this data centre is, for a request to another one; to be read after the epoch at which a fetch began. `None` if it is too
    /// long to be said.
    pub(crate) fn reached(&self) -> Option<HeaderValue> {
        self.state().reached.clone()
    }

    /// The same, of what is on the disk too.
    pub(crate) fn done(&self) -> Option<HeaderValue> {
        self.state().done_said.clone()
    }

    /// Whether somebody who says that it is so far is exactly as far as this data centre.
    pub(crate) fn is_at(&self, told: &[u8]) -> bool {
        self.state().reached.as_ref().is_some_and(|reached| reached.as_bytes() == told)
    }

    /// Whether all is done here that somebody has done who says that it is so far.
    pub(crate) fn covers(&self, told: &HeaderValue) -> Result<bool, NoPosition> {
        let state = self.state();
        if state.reached.as_ref() == Some(told) {
            return Ok(true);
        }
        let told = told.to_str().map_err(|_| NoPosition)?;
        Ok(state.ledger.covers(&told.parse()?))
    }

    /// What another data centre is to be told; without purges, as long as nobody knows which it lacks.
    pub(crate) fn message_to(&self, name: &str, network: &str) -> Message {
        let state = self.state();
        match state.others.get(name) {
            Some(known) if known.log.is_some() => self.message(&state, network, &known.position, &known.said),
            _ => self.message(&state, network, &state.ledger.position(), &Position::default()),
        }
    }

    /// The answer to somebody who is so far, and for whom logs have ended.
    pub(crate) fn message_after(&self, (position, over): (&Position, &Position), network: &str) -> Message {
        let (state, mut reached) = (self.state(), position.clone());
        reached.join(over);
        self.message(&state, network, &reached, position)
    }

    /// What is told to somebody who is at a position, and who said last that it is so far: less, if it has settled logs.
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

    /// Remembers what another data centre says of itself and of others, after its purges were taken.
    pub(crate) fn hear(&self, name: &str, message: &Message) -> Heard {
        let (now, mut state) = (self.now(), self.state());
        let known = state.others.entry(name.to_owned()).or_default();
        if known.log == Some(message.log) {
            // Of two messages the older one may come later.
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
        // Those that have ended here may still be there.
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
                // Those who are not of this network are left out when the network is looked at.
                if state.others.len() < message::MOST_HEARD || state.others.contains_key(name) {
                    state.heard(name, now.saturating_sub(Duration::from_millis(*age_ms)));
                }
            }
        }
        Heard { over, goes_on }
    }

    /// Whether another data centre and this one have the same, as far as is known.
    pub(crate) fn is_even_with(&self, name: &str) -> bool {
        let state = self.state();
        state.others.get(name).is_some_and(|known| {
            state.ledger.covers(&known.position) && state.ledger.after(&known.position, 1).is_empty()
        })
    }

    /// How far both are, as far as is known: if that does not change, telling is of no use. Of somebody who has said nothing yet, to know that
    /// it has nothing is a change.
    pub(crate) fn progress(&self, name: &str) -> (Position, Option<(LogId, Position)>) {
        let state = self.state();
        let there = state.others.get(name).and_then(|known| Some((known.log?, known.position.clone())));
        (state.done.clone(), there)
    }

    /// The place of the last purge that this data centre was told by its own operator.
    pub(crate) fn last_own(&self) -> (LogId, u64) {
        let state = self.state();
        let own = state.ledger.own();
        (own, state.ledger.position().reached(own))
    }

    /// Whether another data centre has done what has this place.
    pub(crate) fn has(&self, name: &str, (log, number): (LogId, u64)) -> bool {
        let state = self.state();
        state.others.get(name).is_some_and(|known| known.position.reached(log) >= number)
    }

    /// One of so many others was asked what was purged, whether it answered or not.
    pub(crate) fn asked(&self, name: &str, others: usize) {
        let mut state = self.state();
        state.asked.insert(name.to_owned());
        if state.asked.len() >= others {
            self.has_begun.send_modify(|begun| begun.others = true);
        }
    }

    /// Waits until all others, and the stream if there is one, were asked what was purged before this process began.
    pub(crate) async fn begun(&self) {
        let has_begun = |begun: &Begun| begun.others && begun.stream;
        if !has_begun(&self.has_begun.borrow()) {
            // The sender is this bus's.
            let _ = self.has_begun.subscribe().wait_for(has_begun).await;
        }
    }

    /// Looks at all that is known of these others, who are all that there are: what all have is forgotten, and whoever does not hear of
    /// enough of them is cut off. Returns logs that are over.
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
        // More than half of all, this one among them, can do without the rest; two halves could each do without the other.
        let is_cut_off = (heard.count() + 1) * 2 <= names.len() + 1;
        let since = self.cut_off.load(Relaxed);
        if is_cut_off != (since > 0) {
            self.cut_off.store(if is_cut_off { nanos(now).max(1) } else { 0 }, Relaxed);
            if is_cut_off {
                tracing::warn!("this data centre is cut off: it may not hear of purges");
            } else {
                tracing::info!("this data centre hears of purges again");
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

    /// Whether too few others are heard of, so that something may have been purged that is not known here.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Relaxed) > 0
    }

    /// Whether nothing stored is to be used without asking its origin first, in a zone that wants this.
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

    /// Forgets a log that another data centre says to have ended with this number, unless this one knows better: it may not know all of the
    /// network that this one knows, while a new file goes round.
    fn take_end(&mut self, log: LogId, number: u64) -> bool {
        let is_known_better =
            self.others.values().any(|known| known.log == Some(log) || known.position.reached(log) > number);
        let is_over = !is_known_better && self.ledger.end(log, number);
        if is_over {
            self.forget(log);
        }
        is_over
    }

    /// A log is over.
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

/// A position as it stands in a field; `None` if that is too long.
fn said(position: &Position) -> Option<HeaderValue> {
    let text = position.to_string();
    Some(text).filter(|text| text.len() <= LONGEST_FIELD)?.parse().ok()
}

/// A number that no other run has.
fn random() -> u64 {
    let mut bytes = [0; 8];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => wall_ns().unsigned_abs(),
    }
}

/// As much as a position of some 600 logs: a data centre that has more in its position asks origins.
const LONGEST_FIELD: usize = 16 << 10;

/// Another data centre that nobody has heard of for so long may have purged something: five times as long as what is between two
/// exchanges.
pub(crate) const HEARD_WITHIN: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests;
