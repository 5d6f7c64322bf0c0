//! The state of the purge stream, which is treated like a further peer: its position and the entries that it
//! lacks.

use std::time::Duration;

use ::tiers::{LogId, Piece, Position};
use tokio::time::timeout;

use super::{Bus, HEARD_WITHIN, Message, message};
use crate::note::Order;

#[derive(Debug, Default)]
pub(super) struct Known {
    /// The position of the stream, limited to entries that are known here.
    position: Position,
    /// The position of this data centre at the last call of [`Bus::look_at_stream`].
    before: Position,
}

/// Selects purges to publish to the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Own,
    /// Purges of all logs that the stream already lacked at the last check, because their writers cannot
    /// reach it.
    All,
}

impl Bus {
    /// Announces a stream that must be read before this data centre requests objects from peers. To be called
    /// at startup.
    pub(crate) fn awaits_stream(&self) {
        self.has_begun.send_modify(|begun| begun.stream = begun.others);
    }

    /// Records that the stream was read to its end or is unavailable.
    pub(crate) fn asked_stream(&self) {
        self.has_begun.send_modify(|begun| begun.stream = true);
    }

    /// Resets the position of the stream, because it was replaced or was not read yet.
    pub(crate) fn stream_is_anew(&self) {
        self.state().stream.position = Position::default();
    }

    pub(crate) fn stream_has(&self, log: LogId, number: u64) {
        let mut state = self.state();
        // Unknown entries are not counted: anyone may have written to the stream.
        let number = number.min(state.ledger.reached(log));
        if number > 0 {
            state.stream.position.reach(log, number);
        }
    }

    /// Entries that the stream lacks, from one log at most.
    pub(crate) fn stream_lacks(&self, whose: Whose) -> Option<Piece<Order>> {
        let state = self.state();
        let rest = |log| {
            let reached = state.stream.position.reached(log);
            state.ledger.rest(log, reached, message::MOST_ENTRIES)
        };
        match whose {
            Whose::Own => rest(state.ledger.own()),
            Whose::All => {
                let lacked = |&(log, number): &(LogId, u64)| number > state.stream.position.reached(log);
                state.stream.before.logs().filter(lacked).find_map(|(log, _)| rest(log))
            }
        }
    }

    pub(crate) fn stream_is_behind(&self) -> u64 {
        let state = self.state();
        state.ledger.position().ahead_of(&state.stream.position)
    }

    pub(crate) fn look_at_stream(&self) {
        let mut state = self.state();
        state.stream.before = state.ledger.position();
    }

    /// A settled log that is still in the stream and that no peer has any longer. A log that a peer still has
    /// must stay: a data centre that starts now needs it to cover the position of that peer.
    pub(crate) fn over_in_stream(&self, others: usize) -> Option<LogId> {
        let state = self.state();
        let known: Vec<_> = state.others.values().filter(|known| known.log.is_some()).collect();
        let nobody_has =
            |log| known.len() >= others && known.iter().all(|known| known.said.reached(log) == 0);
        let mut logs = state.stream.position.logs().map(|(log, _)| log);
        logs.find(|&log| state.ledger.is_settled(log) && nobody_has(log))
    }

    pub(crate) fn stream_forgot(&self, log: LogId) {
        self.state().stream.position.leave(log);
    }

    /// Whether entries before this piece are missing here and are no longer in the stream.
    pub(crate) fn has_gap(&self, piece: &Piece<Order>) -> bool {
        !piece.forgets && piece.first.saturating_sub(1) > self.state().ledger.reached(piece.log)
    }

    /// Waits until purges were requested from all peers, for at most `longest`.
    pub(crate) async fn others_were_asked(&self, longest: Duration) {
        let mut has_begun = self.has_begun.subscribe();
        let _ = timeout(longest, has_begun.wait_for(|begun| begun.others)).await;
    }

    /// Waits until further purges have been applied since the last call.
    pub(crate) async fn moved(&self) {
        self.moved.notified().await;
    }

    /// The state of this data centre, as published to all peers.
    pub(crate) fn word(&self, network: &str) -> Message {
        let state = self.state();
        let mut message = self.message(&state, network, &state.ledger.position(), &Position::default());
        for known in state.others.values() {
            message.over.join(&state.ledger.over(&known.said));
        }
        message
    }

    /// Handles logs that a broadcast reports as settled; see [`::tiers::Ledger::ends_here`].
    pub(crate) fn ends_here(&self, over: &Position) -> (Position, Vec<Piece<Order>>) {
        self.state().ledger.ends_here(over)
    }

    pub(crate) async fn until_has(&self, name: &str, place: (LogId, u64)) {
        let mut heard = self.heard.subscribe();
        while !self.has(name, place) {
            // Cannot fail: `self` holds the sender.
            let _ = heard.changed().await;
        }
    }

    pub(crate) fn hears_of(&self, name: &str) -> bool {
        let (now, state) = (self.now(), self.state());
        let heard = state.others.get(name).and_then(|known| known.heard);
        heard.is_some_and(|at| at + HEARD_WITHIN >= now)
    }
}
