//! The sender's view: what limits it, and what else is worth to be said.

use super::{
    Case, Figures, Finding, Limit, Role, Shares, Verdict, figures::median, finding, held::NEARLY, text,
};

impl Case<'_> {
    pub(super) fn sender(&self) -> Verdict {
        let shares = self.sender_shares();
        let figures = &self.figures;
        let (limit, mut first) = match shares.largest() {
            _ if is_dead(figures) => (Limit::Loss, finding::no_answer(figures)),
            Limit::ReceiverWindow if figures.has_long_queue() => self.path(),
            Limit::SendBuffer if figures.has_queue_beyond_bursts() => self.path(),
            Limit::ReceiverWindow => (Limit::ReceiverWindow, self.small_window(shares.receiver_window)),
            Limit::ReceiverApplication => {
                (Limit::ReceiverApplication, self.peer_reads_slowly(shares.receiver_application))
            }
            Limit::SendBuffer => (Limit::SendBuffer, self.small_send_buffer(shares.send_buffer)),
            Limit::Pacing => (Limit::Pacing, self.paced()),
            // BBR spreads each of its bursts over the time that it would take at the rate of the path.
            Limit::CongestionWindow if self.leaves_model_unused(shares) => {
                (Limit::SenderApplication, self.sender_idle(shares.sender_application))
            }
            Limit::CongestionWindow => self.network(),
            _ => (Limit::SenderApplication, self.sender_idle(shares.sender_application)),
        };
        let used_up = shares.receiver_window + shares.send_buffer;
        if limit == Limit::Path && used_up >= WORTH_SAYING {
            let share = text::percent(used_up);
            first.evidence.push(format!(
                "window or buffer was used up for {share} of the time; where packets wait already, more would only wait \
                 longer"
            ));
        }
        let mut findings = vec![first];
        findings.extend(self.beside_sender(limit, shares));
        Verdict { role: Role::Sender, limit, shares, findings }
    }

    /// Whether the program pauses, and so sends less than congestion control knows that the path carries.
    fn leaves_model_unused(&self, shares: Shares) -> bool {
        let figures = &self.figures;
        let pauses = shares.sender_application >= PAUSES;
        pauses && figures.has_model() && figures.rate() < figures.carried() * NEARLY
    }

    /// What else is worth to be said about a sender.
    fn beside_sender(&self, limit: Limit, shares: Shares) -> Vec<Finding> {
        let figures = &self.figures;
        let mut also = Vec::new();
        let restarts = restarts(figures);
        if restarts > 0 && limit == Limit::SenderApplication {
            also.push(self.restarts_after_idle(restarts));
        }
        if limit == Limit::SenderApplication
            && shares.congestion_window >= WORTH_SAYING
            && figures.repeats() > 0
        {
            let (limit, finding) = self.network();
            also.extend((limit == Limit::Loss || limit == Limit::Reordering).then_some(finding));
        }
        if !matches!(limit, Limit::ReceiverWindow | Limit::ReceiverApplication | Limit::SendBuffer) {
            also.extend(self.unsent());
        }
        also
    }

    /// Bytes that wait in the sender for longer than they need to.
    fn unsent(&self) -> Option<Finding> {
        let figures = &self.figures;
        let unsent = median(figures.infos().map(|(_, info)| info.notsent_bytes))?;
        let wait = f64::from(unsent) * 8.0 / figures.rate();
        let is_much =
            u64::from(unsent) >= 4 * NOTSENT_LOWAT && wait >= 2.0 * figures.rtt()? && wait >= UNSENT_LEAST_S;
        (is_much && wait.is_finite()).then(|| self.unsent_data(unsent, wait))
    }
}

/// Whether nothing is answered any more.
fn is_dead(figures: &Figures<'_>) -> bool {
    figures.acked() == 0 && figures.now.retransmits > 0
}

/// How often the congestion window was given up because nothing was sent for a while (RFC 2861): it fell to half or less,
/// without loss. BBR's falls when it looks for the least round trip.
fn restarts(figures: &Figures<'_>) -> usize {
    if figures.has_model() || figures.repeats() > 0 {
        return 0;
    }
    let windows: Vec<_> = figures.infos().map(|(_, info)| info.snd_cwnd).collect();
    windows.windows(2).filter(|pair| pair[1] <= pair[0] / 2).count()
}

/// A full path leaves a sender no pause; what looks like one on a busy host is shorter.
const PAUSES: f64 = 0.25;
/// A second finding costs at least this share of the time.
const WORTH_SAYING: f64 = 0.1;
/// Published as good for all.
pub(super) const NOTSENT_LOWAT: u64 = 131_072;
/// What people begin to feel.
const UNSENT_LEAST_S: f64 = 0.1;
