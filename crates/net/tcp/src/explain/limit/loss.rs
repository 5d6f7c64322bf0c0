//! Packets are lost on a path that is not full. `no_answer` covers peers that do not respond at all.

use crate::explain::{Case, Figures, Finding, Kind, text};

pub(in crate::explain) mod no_answer;

/// A model-based one reacts only to heavy loss or timeouts.
pub(in crate::explain) fn hurts(figures: &Figures<'_>) -> bool {
    if figures.has_model() {
        let timeouts = figures.since(|info| info.total_rto.map(u32::from)).unwrap_or(0);
        return figures.repeated_share() >= HEAVY_LOSS || timeouts > 0 && figures.now.ca_state == LOSS;
    }
    figures.repeats() > 0
}

/// At the earlier loss rate, several of the current segments would have been lost.
pub(in crate::explain) fn has_ended(figures: &Figures<'_>) -> bool {
    let before = f64::from(figures.now.total_retrans) / f64::from(figures.now.data_segs_out.max(1));
    figures.repeats() == 0 && before * f64::from(figures.segments()) >= SEVERAL
}

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let control = case.control();
    let rtt = figures.rtt().unwrap_or_default();
    let mut evidence = vec![case.repeated()];
    evidence.push(case.no_queue());
    evidence.push(case.waiting());
    if figures.repeats() > 0 && !figures.has_model() && rtt > 0.0 {
        // Mathis et al. 1997: MSS / RTT * sqrt(3/2) / sqrt(loss).
        let bound =
            f64::from(figures.now.snd_mss) * 8.0 / rtt * 1.5_f64.sqrt() / figures.repeated_share().sqrt();
        evidence.push(format!(
            "with this loss and a round trip of {}, Reno gets about {}",
            text::time(rtt),
            text::rate(bound)
        ));
    }
    let finding = if figures.has_model() {
        let sentence = format!("Packet loss on the path is so high that {control} also reduces its rate");
        let remote = figures.socket.remote.ip();
        Finding::new(Kind::Loss, sentence, evidence, format!("find where they are lost: mtr {remote}"))
    } else {
        let sentence = format!(
            "Packets are lost on the path, which is not full, and {control} slows down for each loss"
        );
        Finding::new(Kind::Loss, sentence, evidence, case.use_bbr())
    };
    if figures.repeats() == 0 { finding.inferred() } else { finding }
}

/// If this many losses are expected, the chance of no loss is one in twenty (Poisson: e^-3).
const SEVERAL: f64 = 3.0;

const LOSS: u8 = 4;

/// BBR (v1) reduces its rate if more than a fifth is lost; half of that has an effect.
const HEAVY_LOSS: f64 = 0.1;
