//! Connections of which the state says what is wrong: no bytes move, and that is not because nobody has anything to say.

use super::{Case, Figures, Finding, Limit};
use crate::diag::State;

impl Case<'_> {
    /// What the state says; none for a connection on which bytes move or could.
    pub(super) fn state(&self) -> Option<(Limit, Finding)> {
        let figures = &self.figures;
        let now = figures.now;
        if figures.socket.state == State::SynSent {
            return Some(self.connecting());
        }
        if self.waits_to_be_accepted() {
            return Some((Limit::AcceptQueue, self.not_accepted()));
        }
        if figures.is_left_open() {
            return Some((Limit::PeerClosed, self.left_open()));
        }
        if !figures.is_silent() {
            return None;
        }
        if is_probed_in_vain(figures) {
            return Some((Limit::Loss, self.no_answer_to_probes()));
        }
        // The peer acknowledged this end's request to connect (1) and no byte since.
        let is_untouched = now.retransmits > 0 && now.bytes_acked <= 1 && now.bytes_received == 0;
        let has_connected = self.listener().is_none();
        // A peer whose queue is full may repeat its answer to the request to connect, and goes on to answer others. Large
        // packets may have been lost for their size.
        let is_small = figures.socket.send_queue < now.snd_mss;
        let is_there = now.segs_in > 1 || is_small && self.surroundings.answered_beside(figures) > 0;
        let is_full_here = || self.surroundings.full_listener_at(figures.socket.remote).is_some();
        (is_untouched && has_connected).then(|| {
            if is_there || is_full_here() {
                (Limit::AcceptQueue, self.peer_does_not_accept())
            } else {
                (Limit::Loss, self.never_answered())
            }
        })
    }

    /// The first packet is under way, or was not answered.
    fn connecting(&self) -> (Limit, Finding) {
        let figures = &self.figures;
        if figures.now.total_retrans == 0 {
            return (Limit::InitialWindow, self.just_connecting());
        }
        if self.surroundings.full_listener_at(figures.socket.remote).is_some() {
            return (Limit::AcceptQueue, self.peer_does_not_accept());
        }
        (Limit::Loss, self.not_connected())
    }

    /// Whether no program has taken the connection over from who listens here. One that this end has closed belongs to nobody
    /// either, but is in another state.
    fn waits_to_be_accepted(&self) -> bool {
        let figures = &self.figures;
        let is_open = matches!(figures.socket.state, State::Established | State::CloseWait);
        let is_nobodys = figures.infos().all(|(socket, _)| socket.inode == 0);
        is_open && is_nobodys && self.listener().is_some()
    }
}

/// Whether the kernel asks again and again whether the peer is there, and nothing comes back: it sets the number to 0 with
/// whatever comes. A single one may be under way.
fn is_probed_in_vain(figures: &Figures<'_>) -> bool {
    figures.now.retransmits == 0 && figures.now.probes > 1
}
