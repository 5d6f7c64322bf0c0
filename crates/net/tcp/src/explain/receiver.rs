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

    fn receiver_shares(&self) -> Shares {
        let looks = self.figures.looks;
        let waiting = looks.iter().filter(|look| receiver_application::is_behind(look)).count();
        let receiver_application = waiting as f64 / looks.len().max(1) as f64;
        let rest = 1.0 - receiver_application;
        let is_used = self.window_use().is_some_and(|share| share >= USED);
        let (receiver_window, other_end) = if is_used { (rest, 0.0) } else { (0.0, rest) };
        Shares { receiver_application, receiver_window, other_end, ..Shares::default() }
    }

    pub(super) fn window_use(&self) -> Option<f64> {
        Some(self.figures.rate() / 8.0 * self.round_trip()? / f64::from(self.window()?))
    }

    /// If it is much longer than the minimum, the path is full, and a larger window would only
    /// lengthen the queue.
    pub(super) fn round_trip(&self) -> Option<f64> {
        let least = self.figures.min_rtt()?;
        let usual = median(self.figures.infos().map(|(_, info)| info.rcv_rtt_us)).unwrap_or(0);
        Some((f64::from(usual) / 1e6).clamp(least, least * LONGEST))
    }

    /// Before Linux 6.2, its maximum. The kernel reports the desired window even if it exceeds the
    /// window scale.
    pub(super) fn window(&self) -> Option<u32> {
        let largest = 65_535 << self.figures.now.rcv_wscale;
        median(self.figures.infos().map(|(_, info)| info.rcv_wnd.unwrap_or(info.rcv_ssthresh).min(largest)))
            .filter(|&window| window > 0)
    }
}

/// A full path has twice its capacity in flight.
const LONGEST: f64 = 1.35;
