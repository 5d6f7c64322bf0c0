//! The sender's view: what limits it, and what else is worth saying.

use super::{
    Case, Figures, Finding, Limit, Role, Shares, Verdict,
    figures::median,
    finding,
    held::{Divided, NEARLY},
    network::share_of_looks,
    text,
};

impl Case<'_> {
    pub(super) fn sender(&self) -> Verdict {
        let Divided { shares, weights } = self.divided();
        let figures = &self.figures;
        let (limit, mut first) = match weights.largest() {
            _ if is_dead(figures) => (Limit::Loss, finding::no_answer(figures)),
            Limit::ReceiverWindow if figures.has_long_queue() && !is_queue_on_path(figures) => {
                (Limit::OtherEnd, self.path_or_reader())
            }
            Limit::ReceiverWindow if figures.has_long_queue() => self.path(),
            Limit::SendBuffer if figures.has_queue_beyond_bursts() => self.path(),
            Limit::ReceiverWindow => (Limit::ReceiverWindow, self.small_window(shares.receiver_window)),
            Limit::ReceiverApplication => {
                (Limit::ReceiverApplication, self.peer_reads_slowly(shares.receiver_application))
            }
            Limit::SendBuffer => (Limit::SendBuffer, self.small_send_buffer(shares.send_buffer)),
            Limit::Pacing => (Limit::Pacing, self.paced()),
            Limit::Nagle if self.is_delay_felt() => (Limit::Nagle, self.delayed(weights.nagle)),
            // BBR spreads each of its bursts over the time that it would take at the rate of the path.
            Limit::CongestionWindow if self.leaves_model_unused(weights) => {
                (Limit::SenderApplication, self.sender_idle(shares.sender_application))
            }
            Limit::CongestionWindow => self.network(weights),
            _ => (Limit::SenderApplication, self.sender_idle(weights.sender_application)),
        };
        first.evidence.extend(self.beyond_kernel(limit, &shares, &weights));
        let used_up = weights.receiver_window + weights.send_buffer;
        if limit == Limit::Path && used_up >= WORTH_SAYING {
            let share = text::share(used_up);
            first.evidence.push(format!(
                "window or buffer was used up for {share} of the time; where packets wait already, more would only wait \
                 longer"
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

    /// Why more of the time counts for a limit than the kernel counts for it.
    fn beyond_kernel(&self, limit: Limit, shares: &Shares, weights: &Shares) -> Option<String> {
        let more = weights.of(limit) - shares.of(limit);
        let share = text::share(more);
        (more >= WORTH_SAYING).then_some(())?;
        match limit {
            Limit::ReceiverWindow | Limit::ReceiverApplication => Some(format!(
                "for another {share} of the time BBR held it back, at the rate that the window had let through before"
            )),
            Limit::SendBuffer => Some(format!(
                "for another {share} of the time the buffer was full and nearly all of it was under way"
            )),
            _ => None,
        }
    }

    /// Whether the program pauses, and so sends less than congestion control knows that the path carries.
    fn leaves_model_unused(&self, shares: Shares) -> bool {
        let figures = &self.figures;
        let pauses = shares.sender_application >= PAUSES;
        pauses && figures.has_model() && figures.rate() < figures.carried() * NEARLY
    }

    /// What else is worth saying about a sender.
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
            let (limit, finding) = self.network(shares);
            also.extend((limit == Limit::Loss || limit == Limit::Reordering).then_some(finding));
        }
        // The program is not held back, and each of its messages is.
        if limit == Limit::SenderApplication && shares.nagle >= PAUSES {
            also.push(self.delayed(shares.nagle));
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

impl Case<'_> {
    /// Whether the program waits for what Nagle's algorithm holds back: answers come, or acknowledgements come so late that
    /// they were delayed.
    fn is_delay_felt(&self) -> bool {
        let figures = &self.figures;
        figures.received() > 0 || figures.queueing() >= DELAYED_S / 4.0
    }
}

/// Whether packets wait for so long that they do on the path. A receiver that reads a little now and then sends its
/// acknowledgements with the news of its window, and may hold them back for a while: also then, a round trip takes longer. Its
/// window is another each time.
fn is_queue_on_path(figures: &Figures<'_>) -> bool {
    // How long packets of one subflow wait says nothing of the others', and the window is of all.
    !figures.is_subflow()
        && (figures.repeats() > 0 || figures.queueing() > DELAYED_S || figures.has_constant_window())
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
/// Linux delays acknowledgements by 40 ms (`TCP_ATO_MIN`) where data comes often, and the timer has a tick of up to 10 ms.
pub(super) const DELAYED_S: f64 = 0.05;
/// Published as good for all.
pub(super) const NOTSENT_LOWAT: u64 = 131_072;
/// What people begin to feel.
const UNSENT_LEAST_S: f64 = 0.1;
