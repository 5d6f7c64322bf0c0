//! What a congestion window stands for: loss, reordering, a start, or a path that carries no more.

use super::{Case, Figures, Finding, Limit};
use crate::diag::Model;

impl Case<'_> {
    /// Why congestion control lets no more out.
    pub(super) fn network(&self) -> (Limit, Finding) {
        let figures = &self.figures;
        let is_hurt = is_hurt_by_repeats(figures);
        if is_hurt && overtakes(figures) {
            return (Limit::Reordering, self.reordered());
        }
        // Where the path is full, packets wait in its queue before they are lost.
        if is_hurt && !figures.has_queue() {
            return (Limit::Loss, self.lossy());
        }
        if is_starting(figures) && !figures.has_standing_queue() {
            return (Limit::InitialWindow, self.starting());
        }
        if figures.has_queue() || figures.has_model() {
            return self.path();
        }
        if figures.now.total_retrans > 0 && !has_loss_ended(figures) {
            return (Limit::Loss, self.lossy());
        }
        (Limit::CongestionWindow, self.growing())
    }

    /// It carries no more.
    pub(super) fn path(&self) -> (Limit, Finding) {
        (Limit::Path, self.full_path())
    }
}

/// Whether congestion control gave way because packets seemed lost. One with a model minds only heavy loss, or timeouts.
fn is_hurt_by_repeats(figures: &Figures<'_>) -> bool {
    if figures.has_model() {
        let timeouts = figures.since(|info| info.total_rto.map(u32::from)).unwrap_or(0);
        return figures.repeated_share() >= HEAVY_LOSS || timeouts > 0 && figures.now.ca_state == LOSS;
    }
    figures.repeats() > 0
}

/// Whether packets overtake each other, and what seemed lost had arrived.
fn overtakes(figures: &Figures<'_>) -> bool {
    let times = figures.since(|info| info.reord_seen).unwrap_or(0);
    times > 0 && figures.needless() >= figures.repeats().div_ceil(NEEDLESS)
}

/// Whether what was lost was lost once, as when slow start overran the path: of the segments that went now, several would
/// have been lost if it were as before.
fn has_loss_ended(figures: &Figures<'_>) -> bool {
    let before = f64::from(figures.now.total_retrans) / f64::from(figures.now.data_segs_out.max(1));
    figures.repeats() == 0 && before * f64::from(figures.segments()) >= SEVERAL
}

/// Whether the window still grows as fast as it can.
fn is_starting(figures: &Figures<'_>) -> bool {
    let is_start = match figures.socket.model {
        Some(Model::Bbr { pacing_gain, .. }) => pacing_gain > BBR_DRAIN_OR_PROBE,
        _ => figures.now.snd_ssthresh >= NO_THRESHOLD,
    };
    is_start && f64::from(figures.now.snd_cwnd) > f64::from(figures.before.snd_cwnd) * 1.25
}

/// Where packets overtake each other, at least one of so many repeats had arrived already. Not all are: those that wait in
/// the queue of a full path are lost for good, and a report comes a round trip later and can stand for several.
const NEEDLESS: u32 = 6;
/// Where so many losses are due, none comes by chance once in twenty times (Poisson: e^-3).
const SEVERAL: f64 = 3.0;
/// Congestion control's state after a timeout.
const LOSS: u8 = 4;
/// BBR (v1) gives way where more than a fifth is lost; half of that is felt.
const HEAVY_LOSS: f64 = 0.1;
/// BBR's gains in 256ths: 1.25 when it probes, 2.89 when it starts.
const BBR_DRAIN_OR_PROBE: u32 = 512;
/// `TCP_INFINITE_SSTHRESH`: slow start has not ended.
pub(super) const NO_THRESHOLD: u32 = 0x7fff_ffff;

#[cfg(test)]
mod tests;
