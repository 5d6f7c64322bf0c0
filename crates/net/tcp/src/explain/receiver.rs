//! The receiver's view: the limit is its program, its buffer, or nothing at this end.

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

    /// Samples with much unread data count for the program; the rest counts for the window, if the data per
    /// round trip fills it.
    fn receiver_shares(&self) -> Shares {
        let looks = self.figures.looks;
        let waiting = looks.iter().filter(|look| receiver_application::is_behind(look)).count();
        let receiver_application = waiting as f64 / looks.len().max(1) as f64;
        let rest = 1.0 - receiver_application;
        let is_used = self.window_use().is_some_and(|share| share >= USED);
        let (receiver_window, other_end) = if is_used { (rest, 0.0) } else { (0.0, rest) };
        Shares { receiver_application, receiver_window, other_end, ..Shares::default() }
    }

    /// The data received in a round trip, as a share of the window.
    pub(super) fn window_use(&self) -> Option<f64> {
        Some(self.figures.rate() / 8.0 * self.round_trip()? / f64::from(self.window()?))
    }

    /// The round trip measured by the receiver, s. If it is much longer than the minimum, the path is full,
    /// and a larger window would only lengthen the queue.
    pub(super) fn round_trip(&self) -> Option<f64> {
        let least = self.figures.min_rtt()?;
        let usual = median(self.figures.infos().map(|(_, info)| info.rcv_rtt_us)).unwrap_or(0);
        Some((f64::from(usual) / 1e6).clamp(least, least * LONGEST))
    }

    /// The window that this end usually advertises, bytes. Before Linux 6.2, its maximum. The kernel reports
    /// the desired window even if it exceeds the window scale.
    pub(super) fn window(&self) -> Option<u32> {
        let largest = 65_535 << self.figures.now.rcv_wscale;
        median(self.figures.infos().map(|(_, info)| info.rcv_wnd.unwrap_or(info.rcv_ssthresh).min(largest)))
            .filter(|&window| window > 0)
    }
}

/// Limit of the round trip, in minimum round trips. A full path has twice its capacity in flight; with this
/// limit, two thirds of such a window count as used.
const LONGEST: f64 = 1.35;
