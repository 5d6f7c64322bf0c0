//! The state of the purge stream, which is treated like a further peer: its position and the
//! entries that it lacks.

use std::time::Duration;

use ::tier_routing::{LogId, LogSlice, Position};
use tokio::time::timeout;

use super::{PARTITION_TIMEOUT, PurgeLog, SyncMessage, sync_message};
use crate::purge::record::ZonePurge;

#[derive(Debug, Default)]
pub(super) struct StreamPosition {
    position: Position,
    previous: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublishScope {
    Own,
    /// Purges of all logs that the stream already lacked at the last snapshot, because their
    /// writers cannot reach it.
    All,
}

impl PurgeLog {
    /// The stream must be read before this data centre requests objects from peers. To be called at
    /// startup.
    pub(crate) fn expect_stream(&self) {
        self.startup_sync.send_modify(|sync| sync.stream = sync.peers);
    }

    /// Called when the stream was read to its end or is unavailable.
    pub(crate) fn mark_stream_synced(&self) {
        self.startup_sync.send_modify(|sync| sync.stream = true);
    }

    pub(crate) fn reset_stream(&self) {
        self.state().stream.position = Position::default();
    }

    pub(crate) fn record_in_stream(&self, log: LogId, number: u64) {
        let mut state = self.state();
        // Unknown entries are not counted: anyone may have written to the stream.
        let number = number.min(state.ledger.reached(log));
        if number > 0 {
            state.stream.position.reach(log, number);
        }
    }

    pub(crate) fn missing_in_stream(&self, scope: PublishScope) -> Option<LogSlice<ZonePurge>> {
        let state = self.state();
        let rest = |log| {
            let reached = state.stream.position.reached(log);
            state.ledger.rest(log, reached, sync_message::MAX_ENTRIES)
        };
        match scope {
            PublishScope::Own => rest(state.ledger.own()),
            PublishScope::All => {
                let is_missing = |&(log, number): &(LogId, u64)| number > state.stream.position.reached(log);
                state.stream.previous.logs().filter(is_missing).find_map(|(log, _)| rest(log))
            }
        }
    }

    pub(crate) fn stream_lag(&self) -> u64 {
        let state = self.state();
        state.ledger.position().ahead_of(&state.stream.position)
    }

    pub(crate) fn snapshot_for_stream(&self) {
        let mut state = self.state();
        state.stream.previous = state.ledger.position();
    }

    /// A settled log that no peer has any longer. A data centre that starts now needs the others to
    /// cover the position of a peer.
    pub(crate) fn removable_stream_log(&self, peers: usize) -> Option<LogId> {
        let state = self.state();
        let peer: Vec<_> = state.peers.values().filter(|peer| peer.log.is_some()).collect();
        let nobody_has = |log| peer.len() >= peers && peer.iter().all(|peer| peer.reported.reached(log) == 0);
        let mut logs = state.stream.position.logs().map(|(log, _)| log);
        logs.find(|&log| state.ledger.is_settled(log) && nobody_has(log))
    }

    pub(crate) fn forget_stream_log(&self, log: LogId) {
        self.state().stream.position.leave(log);
    }

    /// Whether entries before this piece are missing here and are no longer in the stream.
    pub(crate) fn has_gap(&self, piece: &LogSlice<ZonePurge>) -> bool {
        !piece.forgets && piece.first.saturating_sub(1) > self.state().ledger.reached(piece.log)
    }

    pub(crate) async fn peers_synced_within(&self, max_wait: Duration) {
        let mut has_begun = self.startup_sync.subscribe();
        let _ = timeout(max_wait, has_begun.wait_for(|sync| sync.peers)).await;
    }

    pub(crate) async fn advanced(&self) {
        self.advanced.notified().await;
    }

    pub(crate) fn position_message(&self, network: &str) -> SyncMessage {
        let state = self.state();
        let mut message = self.build_message(&state, network, &state.ledger.position(), &Position::default());
        for peer in state.peers.values() {
            message.ended_logs.join(&state.ledger.over(&peer.reported));
        }
        message
    }

    /// See [`::tier_routing::Ledger::own_ended_logs`].
    pub(crate) fn own_ended_logs(&self, ended: &Position) -> (Position, Vec<LogSlice<ZonePurge>>) {
        self.state().ledger.ends_here(ended)
    }

    pub(crate) async fn wait_for_peer(&self, name: &str, place: (LogId, u64)) {
        let mut updates = self.peer_updates.subscribe();
        while !self.has_applied(name, place) {
            // Cannot fail: `self` holds the sender.
            let _ = updates.changed().await;
        }
    }

    pub(crate) fn is_peer_current(&self, name: &str) -> bool {
        let (now, state) = (self.now(), self.state());
        let updates = state.peers.get(name).and_then(|peer| peer.current_at);
        updates.is_some_and(|at| at + PARTITION_TIMEOUT >= now)
    }
}
