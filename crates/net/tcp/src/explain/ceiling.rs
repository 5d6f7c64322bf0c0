//! Several simultaneous limits: the rate that each of them would permit alone. If two are close together,
//! removing one leaves the other.

use super::{
    Case, Finding, Limit, Shares,
    figures::median,
    limit::{
        pacing::{self, UNPACED},
        receiver_application,
        receiver_window::at_sender as window,
        send_buffer,
    },
    text,
};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ceiling {
    limit: Limit,
    rate: f64,
}

impl Case<'_> {
    pub(super) fn beside_limit(
        &self,
        limit: Limit,
        shares: &Shares,
        weights: &Shares,
        first: &mut Finding,
    ) -> Vec<Finding> {
        let next: Vec<_> = self.ceilings(weights).into_iter().filter(|each| each.limit != limit).collect();
        let is_one = matches!(limit, Limit::ReceiverWindow | Limit::SendBuffer | Limit::Pacing);
        let lowest = next.iter().map(|each| each.rate).fold(f64::INFINITY, f64::min);
        let gain = lowest / self.figures.rate();
        if !is_one || gain.is_nan() || gain >= CLOSE {
            return Vec::new();
        }
        let names: Vec<_> = next.iter().map(|each| name(each.limit)).collect();
        first.advice = format!(
            "{}; that alone does not help: {} lets no more than {} through, so change both",
            first.advice,
            names.join(" and "),
            text::rate(lowest)
        );
        let others = next.iter().filter(|each| each.rate < self.figures.rate() * CLOSE);
        others
            .map(|each| {
                let found = match each.limit {
                    Limit::ReceiverWindow => window::finding(self, shares.receiver_window),
                    Limit::SendBuffer => send_buffer::finding(self, shares.send_buffer),
                    _ => pacing::finding(self),
                };
                let sentence = format!("{}; alone it allows {}", found.sentence, text::rate(each.rate));
                Finding { sentence, ..found }
            })
            .collect()
    }

    fn ceilings(&self, weights: &Shares) -> Vec<Ceiling> {
        let figures = &self.figures;
        let mut all = Vec::new();
        let mut add = |limit, bytes: Option<u32>| {
            if let Some((bytes, rtt)) = bytes.filter(|&bytes| bytes > 0).zip(figures.rtt()) {
                all.push(Ceiling { limit, rate: f64::from(bytes) * 8.0 / rtt });
            }
        };
        // A window that the kernel can enlarge is at least twice the used part. If it is constant and close
        // to that, it does not grow.
        let is_met = weights.receiver_window >= MET || figures.has_constant_window();
        if is_met && !receiver_application::is_slow(figures) {
            add(Limit::ReceiverWindow, median(figures.infos().filter_map(|(_, info)| info.snd_wnd)));
        }
        if weights.send_buffer >= MET && !send_buffer::grows(self) {
            add(Limit::SendBuffer, figures.infos().map(|(socket, _)| socket.send_queue).max());
        }
        if figures.now.max_pacing_rate < UNPACED {
            all.push(Ceiling { limit: Limit::Pacing, rate: figures.now.max_pacing_rate as f64 * 8.0 });
        }
        all
    }
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::ReceiverWindow => "the receiver's window",
        Limit::SendBuffer => "the send buffer",
        _ => "the program's pacing rate",
    }
}

/// A limit was reached if it held the sender for this share of the time. In a second that is five of the
/// kernel's ticks of 4 ms.
const MET: f64 = 0.02;
/// A second limit within this factor makes removing the first one useless: less than a quarter would be
/// gained.
const CLOSE: f64 = 1.25;
