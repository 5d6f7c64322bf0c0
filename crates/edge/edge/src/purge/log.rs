//! The replicated log of purges: the entries that this data centre has, and the positions of its
//! peers.
//!
//! No user may receive an object that was stored before a purge which the user's data centre has
//! acknowledged. A purge is therefore appended to a log and applied to the store under one lock: a
//! position that is read after the epoch at which a fetch began includes all purges in the store.
//! The position that is reported to peers includes only purges that are also on disk, if there is a
//! disk store.

mod nats_position;
mod status;
mod sync_message;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ::tier_routing::{LogDelta, LogId, LogSlice, MOST_LOGS, NoPosition, Position, ReplicatedLog};
use http_stack::{
    HeaderValue,
    clock::{Clock, nanos, wall_ns},
};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::{Notify, watch};

#[doc(hidden)]
pub use self::sync_message::sync_message_round_trips;
pub(crate) use self::{
    nats_position::PublishScope,
    sync_message::{MAX_ENTRIES, MAX_PURGE_NAME_BYTES, SyncMessage, format_log_id, parse_log_id},
};
use crate::{
    config::PartitionPolicy,
    purge::record::{RecoveredPurges, ZonePurge},
};

pub(crate) struct PurgeLog {
    clock: Clock,
    /// Held from the append until the write to disk, so that the log on disk has no gaps.
    apply_lock: Mutex<()>,
    state: Mutex<State>,
    /// The start of the partition, ns; 0 if this data centre is not cut off.
    partitioned_since: AtomicU64,
    startup_sync: watch::Sender<StartupSync>,
    advanced: Notify,
    peer_updates: watch::Sender<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct StartupSync {
    peers: bool,
    stream: bool,
}

struct State {
    ledger: ReplicatedLog<ZonePurge>,
    position_header: Option<HeaderValue>,
    applied: Position,
    applied_header: Option<HeaderValue>,
    peers: BTreeMap<String, PeerPosition>,
    synced_peers: BTreeSet<String>,
    stream: nats_position::StreamPosition,
}

#[derive(Debug, Clone, Default)]
struct PeerPosition {
    log: Option<LogId>,
    /// Includes logs that the peer has settled and this data centre has not.
    position: Position,
    reported: Position,
    current_at: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SyncDelta {
    pub(crate) ended_logs: Vec<LogId>,
    pub(crate) is_resumed: bool,
}

impl PurgeLog {
    pub(crate) fn new() -> Self {
        let state = State {
            ledger: ReplicatedLog::new(LogId(random_log_id())),
            position_header: Some(HeaderValue::from_static("")),
            applied: Position::default(),
            applied_header: Some(HeaderValue::from_static("")),
            peers: BTreeMap::new(),
            synced_peers: BTreeSet::new(),
            stream: nats_position::StreamPosition::default(),
        };
        Self {
            clock: Clock::start(),
            apply_lock: Mutex::default(),
            state: Mutex::new(state),
            partitioned_since: AtomicU64::new(0),
            startup_sync: watch::channel(StartupSync { peers: false, stream: true }).0,
            advanced: Notify::new(),
            peer_updates: watch::channel(()).0,
        }
    }

    pub(crate) fn resume(&self, recovered: &RecoveredPurges) {
        let mut state = self.state();
        let entries = recovered.records.iter().filter_map(crate::purge::record::PurgeRecord::log_entry);
        entries.for_each(|entry| state.ledger.resume(entry));
        state.ledger.resume_at(&recovered.position);
        state.update_position_header();
        state.mark_applied();
    }

    /// Must be held while purges are applied.
    pub(crate) fn lock_apply_order(&self) -> MutexGuard<'_, ()> {
        self.apply_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `then`, which applies the purges, under the same lock. Returns the place of the last
    /// one.
    pub(crate) fn append<T>(&self, orders: Vec<ZonePurge>, then: impl FnOnce() -> T) -> ((LogId, u64), T) {
        let mut state = self.state();
        let last = state.ledger.append(orders);
        state.update_position_header();
        ((state.ledger.own(), last), then())
    }

    pub(crate) fn merge<T>(
        &self,
        pieces: Vec<LogSlice<ZonePurge>>,
        then: impl FnOnce(&LogDelta<ZonePurge>) -> T,
    ) -> (LogDelta<ZonePurge>, T) {
        let mut state = self.state();
        let news = state.ledger.take(pieces);
        state.update_position_header();
        let done = then(&news);
        (news, done)
    }

    /// The entries must be on disk, if there is a disk store. Returns the new position.
    pub(crate) fn mark_applied(&self) -> Position {
        let mut state = self.state();
        state.mark_applied();
        self.advanced.notify_one();
        state.applied.clone()
    }

    /// Must be read after the epoch at which the fetch began. `None` if it is too long for a header
    /// field.
    pub(crate) fn position_header(&self) -> Option<HeaderValue> {
        self.state().position_header.clone()
    }

    pub(crate) fn applied_header(&self) -> Option<HeaderValue> {
        self.state().applied_header.clone()
    }

    pub(crate) fn is_at_position(&self, claimed: &[u8]) -> bool {
        self.state().position_header.as_ref().is_some_and(|target| target.as_bytes() == claimed)
    }

    pub(crate) fn covers(&self, claimed: &HeaderValue) -> Result<bool, NoPosition> {
        let state = self.state();
        if state.position_header.as_ref() == Some(claimed) {
            return Ok(true);
        }
        let claimed = claimed.to_str().map_err(|_| NoPosition)?;
        Ok(state.ledger.covers(&claimed.parse()?))
    }

    /// Contains no purges until the position of the peer is known.
    pub(crate) fn sync_message_for(&self, name: &str, network: &str) -> SyncMessage {
        let state = self.state();
        match state.peers.get(name) {
            Some(peer) if peer.log.is_some() => {
                self.build_message(&state, network, &peer.position, &peer.reported)
            }
            _ => self.build_message(&state, network, &state.ledger.position(), &Position::default()),
        }
    }

    pub(crate) fn sync_reply(&self, (position, ended): (&Position, &Position), network: &str) -> SyncMessage {
        let (state, mut target) = (self.state(), position.clone());
        target.join(ended);
        self.build_message(&state, network, &target, position)
    }

    /// `reported` is smaller than `position` if the peer has settled logs.
    fn build_message(
        &self,
        state: &State,
        network: &str,
        position: &Position,
        reported: &Position,
    ) -> SyncMessage {
        let now = self.now();
        let age = |(name, peer): (&String, &PeerPosition)| {
            Some((name.clone(), u64::try_from(now.saturating_sub(peer.current_at?).as_millis()).ok()?))
        };
        let mut pieces: Vec<_> = state.ledger.short_of(reported).collect();
        pieces.extend(state.ledger.after(position, MAX_ENTRIES));
        pieces.truncate(MOST_LOGS);
        SyncMessage {
            network: network.to_owned(),
            log: state.ledger.own(),
            position: state.applied.clone(),
            ended_logs: state.ledger.over(reported),
            peer_ages: state.peers.iter().filter_map(age).take(sync_message::MAX_PEERS).collect(),
            pieces: sync_message::truncate_pieces(pieces),
        }
    }

    /// To be called after the purges of the message were applied.
    pub(crate) fn receive(&self, name: &str, message: &SyncMessage) -> SyncDelta {
        let (now, mut state) = (self.now(), self.state());
        let peer = state.peers.entry(name.to_owned()).or_default();
        if peer.log == Some(message.log) {
            // Messages may be reordered: keep the larger position.
            peer.position.join(&message.position);
        } else {
            (peer.log, peer.position) = (Some(message.log), message.position.clone());
        }
        peer.position.join(&message.ended_logs);
        peer.reported.clone_from(&message.position);
        let is_resumed = state.ledger.hear(message.log, &message.position);
        if is_resumed {
            state.update_position_header();
        }
        let ended = state.ledger.over(&message.position);
        if let Some(peer) = state.peers.get_mut(name) {
            ended.logs().for_each(|(log, _)| peer.position.leave(log));
        }
        let ended = message.ended_logs.logs().filter(|&(log, number)| state.accept_log_end(log, number));
        let ended: Vec<_> = ended.map(|(log, _)| log).collect();
        self.peer_updates.send_replace(());
        if state.ledger.covers(&message.position) {
            state.mark_current(name, now);
            for (name, age_ms) in &message.peer_ages {
                if state.peers.len() < sync_message::MAX_PEERS || state.peers.contains_key(name) {
                    state.mark_current(name, now.saturating_sub(Duration::from_millis(*age_ms)));
                }
            }
        }
        SyncDelta { ended_logs: ended, is_resumed }
    }

    pub(crate) fn is_in_sync_with(&self, name: &str) -> bool {
        let state = self.state();
        state.peers.get(name).is_some_and(|peer| {
            state.ledger.covers(&peer.position) && state.ledger.after(&peer.position, 1).is_empty()
        })
    }

    /// An exchange that does not change these positions was useless. A first message that reports
    /// an empty position counts as a change.
    pub(crate) fn progress(&self, name: &str) -> (Position, Option<(LogId, Position)>) {
        let state = self.state();
        let theirs = state.peers.get(name).and_then(|peer| Some((peer.log?, peer.position.clone())));
        (state.applied.clone(), theirs)
    }

    pub(crate) fn last_own_entry(&self) -> (LogId, u64) {
        let state = self.state();
        let own = state.ledger.own();
        (own, state.ledger.position().reached(own))
    }

    pub(crate) fn has_applied(&self, name: &str, (log, number): (LogId, u64)) -> bool {
        let state = self.state();
        state.peers.get(name).is_some_and(|peer| peer.position.reached(log) >= number)
    }

    pub(crate) fn mark_synced(&self, name: &str, peers: usize) {
        let mut state = self.state();
        state.synced_peers.insert(name.to_owned());
        if state.synced_peers.len() >= peers {
            self.startup_sync.send_modify(|sync| sync.peers = true);
        }
    }

    /// Waits until purges from before this process started were requested once from all peers and
    /// from the stream, if there is one.
    pub(crate) async fn synced(&self) {
        let has_begun = |sync: &StartupSync| sync.peers && sync.stream;
        if !has_begun(&self.startup_sync.borrow()) {
            // Cannot fail: `self` holds the sender.
            let _ = self.startup_sync.subscribe().wait_for(has_begun).await;
        }
    }

    /// Drops entries that all peers have. `names` must contain all peers. Returns the settled logs.
    pub(crate) fn review_peers(&self, names: &BTreeSet<&str>) -> Vec<LogId> {
        self.review_peers_at(self.now(), names)
    }

    fn review_peers_at(&self, now: Duration, names: &BTreeSet<&str>) -> Vec<LogId> {
        let mut state = self.state();
        state.peers.retain(|name, _| names.contains(name.as_str()));
        let is_heard = |peer: &PeerPosition| peer.current_at.unwrap_or_default() + PARTITION_TIMEOUT >= now;
        let current = names.iter().filter(|name| match state.peers.get(**name) {
            Some(peer) => is_heard(peer),
            None => is_heard(&PeerPosition::default()),
        });
        // A strict majority, including this data centre: two halves of a network must not both
        // count as connected.
        let is_cut_off = (current.count() + 1) * 2 <= names.len() + 1;
        let since = self.partitioned_since.load(Relaxed);
        if is_cut_off != (since > 0) {
            self.partitioned_since.store(if is_cut_off { nanos(now).max(1) } else { 0 }, Relaxed);
            if is_cut_off {
                tracing::warn!("this data centre is cut off: it may miss purges");
            } else {
                tracing::info!("this data centre receives purges again");
            }
        }
        let peer: Vec<_> =
            names.iter().filter_map(|name| state.peers.get(*name)?.log.map(|log| (*name, log))).collect();
        if peer.len() < names.len() {
            return Vec::new();
        }
        let mut alive: BTreeSet<_> = peer.iter().map(|(_, log)| *log).collect();
        alive.insert(state.ledger.own());
        let positions: Vec<_> = state.peers.values().map(|peer| peer.position.clone()).collect();
        state.ledger.forget(&positions);
        let ended = state.ledger.settle(&alive, &positions);
        ended.iter().for_each(|&log| state.forget_log(log));
        ended
    }

    pub(crate) fn is_partitioned(&self) -> bool {
        self.partitioned_since.load(Relaxed) > 0
    }

    pub(crate) fn must_revalidate(&self, choice: PartitionPolicy, limit: Duration) -> bool {
        self.is_partitioned() && self.must_revalidate_at(self.now(), choice, limit)
    }

    fn must_revalidate_at(&self, now: Duration, choice: PartitionPolicy, limit: Duration) -> bool {
        let since = Duration::from_nanos(self.partitioned_since.load(Relaxed));
        self.is_partitioned() && (choice == PartitionPolicy::Revalidate || now.saturating_sub(since) >= limit)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn update_position_header(&mut self) {
        self.position_header = header_value(&self.ledger.position());
    }

    fn mark_applied(&mut self) {
        self.applied = self.ledger.position();
        self.applied_header = header_value(&self.applied);
    }

    /// Refuses if a known peer still writes the log or has a later entry: the sender may have an
    /// older network file.
    fn accept_log_end(&mut self, log: LogId, number: u64) -> bool {
        let is_known_better =
            self.peers.values().any(|peer| peer.log == Some(log) || peer.position.reached(log) > number);
        let is_over = !is_known_better && self.ledger.end(log, number);
        if is_over {
            self.forget_log(log);
        }
        is_over
    }

    fn forget_log(&mut self, log: LogId) {
        self.applied.leave(log);
        self.applied_header = header_value(&self.applied);
        self.peers.values_mut().for_each(|peer| peer.position.leave(log));
        self.update_position_header();
    }

    fn mark_current(&mut self, name: &str, at: Duration) {
        let peer = self.peers.entry(name.to_owned()).or_default();
        peer.current_at = peer.current_at.max(Some(at));
    }
}

fn header_value(position: &Position) -> Option<HeaderValue> {
    let text = position.to_string();
    Some(text).filter(|text| text.len() <= MAX_HEADER_BYTES)?.parse().ok()
}

fn random_log_id() -> u64 {
    let mut bytes = [0; 8];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => wall_ns().unsigned_abs(),
    }
}

/// The position of about 600 logs. A data centre with a longer position fetches from origins.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Five times the base interval between exchanges.
pub(crate) const PARTITION_TIMEOUT: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests;
