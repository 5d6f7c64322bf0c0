//! The receiver's view: whether its program, its buffer, or nothing here holds up what comes.

use super::{
    Case, Limit, Role, Shares, Verdict,
    figures::{USED, median},
    limit::{other_end, receiver_application, receiver_window::at_receiver as window},
};

impl Case<'_> {
    pub(super) fn receiver(&self) -> Verdict {
        let shares = self.receiver_shares();
        let (limit, first) = match shares.largest() {
            Limit::ReceiverApplication => (
                Limit::ReceiverApplication,
                receiver_application::at_receiver(self, shares.receiver_application),
            ),
            Limit::ReceiverWindow => (Limit::ReceiverWindow, window::finding(self)),
            _ => (Limit::OtherEnd, other_end::at_receiver(self)),
        };
        let limit_share = Some(shares.of(limit));
        let mut findings = vec![first];
        if limit == Limit::ReceiverWindow {
            findings.extend(window::ignored_scale(self));
        }
        Verdict { role: Role::Receiver, limit, limit_share, shares, findings }
    }

    /// The looks at which much waited to be read are the program's; the rest is the window's, if as much came in a round trip
    /// as it lets in.
    fn receiver_shares(&self) -> Shares {
        let looks = self.figures.looks;
        let waiting = looks.iter().filter(|look| receiver_application::is_behind(look)).count();
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

/// A round trip counts up to so many of the least. A path that is full has twice of what it takes under way: then two thirds
/// of such a window seem to be used.
const LONGEST: f64 = 1.35;
