//! Connections whose state shows the problem: no data is transferred, although a program has data to send.

use super::{
    Case, Finding, Limit,
    limit::{accept_queue, initial_window, loss::no_answer, peer_closed},
};
use crate::diag::State;

impl Case<'_> {
    /// `None` for a connection that transfers data or could.
    pub(super) fn state(&self) -> Option<(Limit, Finding)> {
        let figures = &self.figures;
        let now = figures.now;
        if figures.socket.state == State::SynSent {
            return Some(self.connecting());
        }
        if accept_queue::holds(self) {
            return Some((Limit::AcceptQueue, accept_queue::not_accepted(self)));
        }
        if figures.is_left_open() {
            return Some((Limit::PeerClosed, peer_closed::finding(self)));
        }
        if !figures.is_silent() {
            return None;
        }
        if no_answer::is_probed_in_vain(figures) {
            return Some((Limit::Loss, no_answer::to_probes(self)));
        }
        // The peer acknowledged this end's SYN (1) and no byte since.
        let is_untouched = now.retransmits > 0 && now.bytes_acked <= 1 && now.bytes_received == 0;
        let has_connected = self.listener().is_none();
        // A peer whose queue is full may repeat its SYN-ACK, and still responds to others. Large packets may
        // have been lost because of their size.
        let is_small = figures.socket.send_queue < now.snd_mss;
        let is_there = now.segs_in > 1 || is_small && self.surroundings.answered_beside(figures) > 0;
        let is_full_here = || self.surroundings.full_listener_at(figures.socket.remote).is_some();
        (is_untouched && has_connected).then(|| {
            if is_there || is_full_here() {
                (Limit::AcceptQueue, accept_queue::at_peer(self))
            } else {
                (Limit::Loss, no_answer::ever(self))
            }
        })
    }

    fn connecting(&self) -> (Limit, Finding) {
        let figures = &self.figures;
        if figures.now.total_retrans == 0 {
            return (Limit::InitialWindow, initial_window::connecting(self));
        }
        if self.surroundings.full_listener_at(figures.socket.remote).is_some() {
            return (Limit::AcceptQueue, accept_queue::at_peer(self));
        }
        (Limit::Loss, no_answer::to_connect(self))
    }
}
