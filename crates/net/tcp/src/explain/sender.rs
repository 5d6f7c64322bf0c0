//! The sender's view: its limit, and further findings.

use super::{
    Case, Finding, Limit, Role, Shares, Verdict,
    held::Division,
    limit::{
        loss::no_answer,
        nagle, other_end, pacing, path, receiver_application,
        receiver_window::at_sender as window,
        send_buffer,
        sender_application::{self, PAUSES},
    },
    network::share_of_looks,
    text,
};

impl Case<'_> {
    pub(super) fn sender(&self) -> Verdict {
        let Division { shares, weights } = self.divided();
        let figures = &self.figures;
        let (limit, mut first) = match weights.largest() {
            _ if no_answer::is_dead(figures) => (Limit::Loss, no_answer::to_data(figures)),
            Limit::ReceiverWindow if figures.has_long_queue() && !window::is_queue_on_path(figures) => {
                (Limit::OtherEnd, other_end::at_sender(self))
            }
            Limit::ReceiverWindow if figures.has_long_queue() => (Limit::Path, path::finding(self)),
            Limit::SendBuffer if figures.has_queue_beyond_bursts() => (Limit::Path, path::finding(self)),
            Limit::ReceiverWindow => (Limit::ReceiverWindow, window::finding(self, shares.receiver_window)),
            Limit::ReceiverApplication => (
                Limit::ReceiverApplication,
                receiver_application::at_sender(self, shares.receiver_application),
            ),
            Limit::SendBuffer => (Limit::SendBuffer, send_buffer::finding(self, shares.send_buffer)),
            Limit::Pacing => (Limit::Pacing, pacing::finding(self)),
            Limit::Nagle if nagle::is_felt(self) => (Limit::Nagle, nagle::finding(self, weights.nagle)),
            // BBR spreads each of its bursts over the time that it takes at the rate of the path.
            Limit::CongestionWindow if sender_application::leaves_model_unused(self, weights) => {
                (Limit::SenderApplication, sender_application::finding(self, shares.sender_application))
            }
            Limit::CongestionWindow => self.network(weights),
            _ => (Limit::SenderApplication, sender_application::finding(self, weights.sender_application)),
        };
        first.evidence.extend(self.beyond_kernel(limit, &shares, &weights));
        let used_up = weights.receiver_window + weights.send_buffer;
        if limit == Limit::Path && used_up >= WORTH_SAYING {
            let share = text::share(used_up);
            first.evidence.push(format!(
                "the window or the buffer was used up for {share} of the time; packets already queue on the path, so \
                 more of them would only queue longer"
            ));
        }
        let mut also = self.beside_limit(limit, &shares, &weights, &mut first);
        also.extend(self.beside_sender(limit, weights));
        let share = share_of_looks(figures, limit).or_else(|| {
            let share = weights.of(limit);
            (share > 0.0).then_some(share)
        });
        let findings = [vec![first], also].concat();
        Verdict { role: Role::Sender, limit, limit_share: share, shares, findings }
    }

    fn beyond_kernel(&self, limit: Limit, shares: &Shares, weights: &Shares) -> Option<String> {
        let more = weights.of(limit) - shares.of(limit);
        let share = text::share(more);
        (more >= WORTH_SAYING).then_some(())?;
        match limit {
            Limit::ReceiverWindow | Limit::ReceiverApplication => Some(format!(
                "for another {share} of the time BBR held it back, at the rate that the window had let through before"
            )),
            Limit::SendBuffer => Some(format!(
                "for another {share} of the time the buffer was full and nearly all of it was in flight"
            )),
            _ => None,
        }
    }

    fn beside_sender(&self, limit: Limit, shares: Shares) -> Vec<Finding> {
        let figures = &self.figures;
        let mut also = Vec::new();
        let restarts = sender_application::restarts(figures);
        if restarts > 0 && limit == Limit::SenderApplication {
            also.push(sender_application::restarts_finding(self, restarts));
        }
        if limit == Limit::SenderApplication
            && shares.congestion_window >= WORTH_SAYING
            && figures.repeats() > 0
        {
            let (limit, finding) = self.network(shares);
            also.extend((limit == Limit::Loss || limit == Limit::Reordering).then_some(finding));
        }
        if limit == Limit::SenderApplication && shares.nagle >= PAUSES {
            also.push(nagle::finding(self, shares.nagle));
        }
        if !matches!(limit, Limit::ReceiverWindow | Limit::ReceiverApplication | Limit::SendBuffer) {
            also.extend(send_buffer::unsent(self));
        }
        also
    }
}

const WORTH_SAYING: f64 = 0.1;
