//! The stream of the network's bus as one more that has to be told: how far it is in each log, and what it lacks.

use std::time::Duration;

use ::tiers::{LogId, Piece, Position};
use tokio::time::timeout;

use super::{Bus, HEARD_WITHIN, Message, message};
use crate::note::Order;

/// What is known of the stream.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// How far it is, in logs that are known here.
    position: Position,
    /// How far this data centre was when it looked the last time.
    before: Position,
}

/// Which purges are put into the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those of this data centre's own log.
    Own,
    /// Those of all logs which it lacked when it was looked at before: whoever writes to the log does not reach it.
    All,
}

impl Bus {
    /// There is a stream, which is read before this data centre asks another one for an object; to be called at the start.
    pub(crate) fn awaits_stream(&self) {
        self.has_begun.send_modify(|begun| begun.stream = begun.others);
    }

    /// The stream was read, or cannot be.
    pub(crate) fn asked_stream(&self) {
        self.has_begun.send_modify(|begun| begun.stream = true);
    }

    /// The stream is another one, or was not read yet.
    pub(crate) fn stream_is_anew(&self) {
        self.state().stream.position = Position::default();
    }

    /// The stream has a log up to a number.
    pub(crate) fn stream_has(&self, log: LogId, number: u64) {
        let mut state = self.state();
        // Of what is not known here, nothing is remembered: anything can be in the stream.
        let number = number.min(state.ledger.reached(log));
        if number > 0 {
            state.stream.position.reach(log, number);
        }
    }

    /// What the stream lacks, of one log at most.
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

    /// How many purges the stream lacks.
    pub(crate) fn stream_is_behind(&self) -> u64 {
        let state = self.state();
        state.ledger.position().ahead_of(&state.stream.position)
    }

    /// Looks at what is done now, for [`Whose::All`].
    pub(crate) fn look_at_stream(&self) {
        let mut state = self.state();
        state.stream.before = state.ledger.position();
    }

    /// A log that is in the stream although none of the others, who are so many, has it any more, as all had it to its end. One that somebody
    /// still has is not over for that one: whoever starts anew would lack it, and could not read it.
    pub(crate) fn over_in_stream(&self, others: usize) -> Option<LogId> {
        let state = self.state();
        let known: Vec<_> = state.others.values().filter(|known| known.log.is_some()).collect();
        let nobody_has =
            |log| known.len() >= others && known.iter().all(|known| known.said.reached(log) == 0);
        let mut logs = state.stream.position.logs().map(|(log, _)| log);
        logs.find(|&log| state.ledger.is_settled(log) && nobody_has(log))
    }

    /// The stream does not have a log any more.
    pub(crate) fn stream_forgot(&self, log: LogId) {
        self.state().stream.position.leave(log);
    }

    /// Whether entries are lacking here that come before a piece of the stream, which does not have them any more.
    pub(crate) fn has_gap(&self, piece: &Piece<Order>) -> bool {
        !piece.forgets && piece.first.saturating_sub(1) > self.state().ledger.reached(piece.log)
    }

    /// Waits until all others were asked what was purged, or for so long.
    pub(crate) async fn others_were_asked(&self, longest: Duration) {
        let mut has_begun = self.has_begun.subscribe();
        let _ = timeout(longest, has_begun.wait_for(|begun| begun.others)).await;
    }

    /// Waits until more is done here than when this was asked before.
    pub(crate) async fn moved(&self) {
        self.moved.notified().await;
    }

    /// How far this data centre is, for all others.
    pub(crate) fn word(&self, network: &str) -> Message {
        let state = self.state();
        let mut message = self.message(&state, network, &state.ledger.position(), &Position::default());
        for known in state.others.values() {
            message.over.join(&state.ledger.over(&known.said));
        }
        message
    }

    /// What is said to all of logs that are over, as it concerns this data centre: [`::tiers::Ledger::ends_here`].
    pub(crate) fn ends_here(&self, over: &Position) -> (Position, Vec<Piece<Order>>) {
        self.state().ledger.ends_here(over)
    }

    /// Waits until another data centre has done what has this place.
    pub(crate) async fn until_has(&self, name: &str, place: (LogId, u64)) {
        let mut heard = self.heard.subscribe();
        while !self.has(name, place) {
            // The sender is this bus's.
            let _ = heard.changed().await;
        }
    }

    /// Whether another data centre was heard of not long ago.
    pub(crate) fn hears_of(&self, name: &str) -> bool {
        let (now, state) = (self.now(), self.state());
        let heard = state.others.get(name).and_then(|known| known.heard);
        heard.is_some_and(|at| at + HEARD_WITHIN >= now)
    }
}
