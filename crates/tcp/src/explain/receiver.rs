//! The receiver's view: whether its program, its buffer, or nothing here holds up what comes.

use super::{
    Case, Limit, Look, Role, Shares, Verdict,
    figures::{USED, median},
};
use crate::diag::Multipath;

impl Case<'_> {
    pub(super) fn receiver(&self) -> Verdict {
        let shares = self.receiver_shares();
        let (limit, first) = match shares.largest() {
            Limit::ReceiverApplication => {
                (Limit::ReceiverApplication, self.reads_slowly(shares.receiver_application))
            }
            Limit::ReceiverWindow => (Limit::ReceiverWindow, self.small_receive_buffer()),
            _ => (Limit::OtherEnd, self.limited_elsewhere()),
        };
        let limit_share = Some(shares.of(limit));
        let mut findings = vec![first];
        if limit == Limit::ReceiverWindow {
            findings.extend(self.ignored_scale());
        }
        Verdict { role: Role::Receiver, limit, limit_share, shares, findings }
    }

    /// The looks at which much waited to be read are the program's; the rest is the window's, if as much came in a round trip
    /// as it lets in.
    fn receiver_shares(&self) -> Shares {
        let looks = self.figures.looks;
        let waiting = looks.iter().filter(|look| is_unread(look)).count();
        let receiver_application = waiting as f64 / looks.len().max(1) as f64;
        let rest = 1.0 - receiver_application;
        let is_used = self.window_use().is_some_and(|share| share >= USED);
        let (receiver_window, other_end) = if is_used { (rest, 0.0) } else { (0.0, rest) };
        Shares { receiver_application, receiver_window, other_end, ..Shares::default() }
    }

    /// What came in a round trip, as a share of the window.
    pub(super) fn window_use(&self) -> Option<f64> {
        Some(self.figures.rate() / 8.0 * self.round_trip()? / f64::from(self.window()?))
    }

    /// The round trip as a receiver knows it, s. What is much longer than the least is a queue: there the path is full, and a
    /// larger window would only make it longer.
    pub(super) fn round_trip(&self) -> Option<f64> {
        let least = self.figures.min_rtt()?;
        let usual = median(self.figures.infos().map(|(_, info)| info.rcv_rtt_us)).unwrap_or(0);
        Some((f64::from(usual) / 1e6).clamp(least, least * LONGEST))
    }

    /// The window that this end advertises, bytes: usually. Before Linux 6.2, the most that it would. The kernel tells what
    /// it would like to advertise, also where its scale does not let it.
    pub(super) fn window(&self) -> Option<u32> {
        let largest = 65_535 << self.figures.now.rcv_wscale;
        median(self.figures.infos().map(|(_, info)| info.rcv_wnd.unwrap_or(info.rcv_ssthresh).min(largest)))
            .filter(|&window| window > 0)
    }
}

/// Whether a good part of what the buffer takes waits to be read. A program that keeps up leaves nothing behind.
fn is_unread(look: &Look) -> bool {
    // What comes over a subflow goes on to its connection at once, and waits there, together with what came over others.
    if let Some(Multipath { memory, .. }) = look.multipath {
        return memory.rmem_alloc > 0 && u64::from(memory.rmem_alloc) * 4 >= u64::from(memory.rcvbuf);
    }
    let Some(info) = &look.socket.info else { return false };
    let queued = u64::from(look.socket.receive_queue);
    let room = info.rcv_wnd.map_or(u64::from(info.rcv_ssthresh), |open| queued + u64::from(open));
    queued > 0 && queued * 4 >= room
}

/// A round trip counts up to so many of the least. A path that is full has twice of what it takes under way: then two thirds
/// of such a window seem to be used.
const LONGEST: f64 = 1.35;
