//! What a congestion window stands for: loss, reordering, a start, or a path that carries no more.

use super::{Case, Figures, Finding, Limit, Look, Shares, figures::outstanding};
use crate::diag::Model;

impl Case<'_> {
    /// Why congestion control lets no more out, given what the time went to.
    pub(super) fn network(&self, weights: Shares) -> (Limit, Finding) {
        let figures = &self.figures;
        let is_hurt = is_hurt_by_repeats(figures);
        let was_hurt = !figures.has_model() && figures.now.total_retrans > 0 && !has_loss_ended(figures);
        if (is_hurt || was_hurt) && overtakes(figures) {
            return (Limit::Reordering, self.reordered());
        }
        let has_queue = has_queue(figures);
        // Where the path is full, packets wait in its queue before they are lost.
        if is_hurt && !has_queue {
            return self.path_or_loss();
        }
        if is_starting(figures) && !figures.has_standing_queue() {
            return (Limit::InitialWindow, self.starting());
        }
        if figures.has_model() && !has_queue && self.meets_window(weights) && !figures.has_constant_window() {
            return (Limit::OtherEnd, self.path_or_reader());
        }
        if has_queue || figures.has_model() {
            return self.path();
        }
        if was_hurt {
            return self.path_or_loss();
        }
        (Limit::CongestionWindow, self.growing())
    }

    /// It carries no more.
    pub(super) fn path(&self) -> (Limit, Finding) {
        (Limit::Path, self.full_path())
    }

    /// Why packets were lost. A queue that is kept short (CoDel, RFC 8289) drops packets long before it is full, and a connection
    /// that gave way fills it again: packets wait at some looks. Where losses have another cause they wait at next to none.
    fn path_or_loss(&self) -> (Limit, Finding) {
        let figures = &self.figures;
        if waiting_share(figures) >= OFTEN { self.path() } else { (Limit::Loss, self.lossy()) }
    }
}

/// For which share of the time a limit of the network was seen, by the looks; none for one that the looks do not tell apart.
pub(super) fn share_of_looks(figures: &Figures<'_>, limit: Limit) -> Option<f64> {
    match limit {
        Limit::Path if !figures.has_model() => Some(waiting_share(figures)),
        Limit::Loss => Some(1.0 - waiting_share(figures)),
        _ => None,
    }
}

/// At which share of the looks packets waited on the path.
pub(super) fn waiting_share(figures: &Figures<'_>) -> f64 {
    let waits = |look: &&Look| is_waiting(figures, look);
    figures.looks.iter().filter(waits).count() as f64 / figures.looks.len().max(1) as f64
}

/// Whether packets wait on the path at this moment: the round trip is longer than the least by more than it varies, and in
/// that time more packets arrive than a burst may have (the idea of Vegas, which keeps 2 to 4 of them waiting).
fn is_waiting(figures: &Figures<'_>, look: &Look) -> bool {
    let (Some(info), Some(least)) = (look.socket.info.as_ref(), figures.min_rtt_us()) else { return false };
    let [usual, varying, least] = [info.rtt_us, info.rttvar_us, least].map(f64::from);
    let waiting = usual - least - varying;
    let segments = f64::from(outstanding(&look.socket, info)) / f64::from(info.snd_mss.max(1));
    waiting > (least * NOISE).max(NOISE_US) && waiting / usual * segments >= WAITING_SEGMENTS
}

/// Whether packets wait on the path for most of the time. Where they overtake each other the least round trip is that of the
/// packets that overtook: there, it takes that more of them arrive no faster.
fn has_queue(figures: &Figures<'_>) -> bool {
    let overtook = figures.since(|info| info.reord_seen).unwrap_or(0) > 0;
    figures.has_queue() && !(overtook && is_faster_with_more(figures))
}

/// Whether the rate grew with the congestion window between the two halves of the looks, as it does where the path is not full.
fn is_faster_with_more(figures: &Figures<'_>) -> bool {
    let looks: Vec<_> =
        figures.looks.iter().filter_map(|look| Some((look.at, look.socket.info.as_ref()?))).collect();
    let half = |looks: &[(std::time::Duration, &crate::Info)]| {
        let (first, last) = (looks.first()?, looks.last()?);
        let seconds = (last.0 - first.0).as_secs_f64();
        let window: f64 = looks.iter().map(|(_, info)| f64::from(info.snd_cwnd)).sum();
        let acked = last.1.bytes_acked.saturating_sub(first.1.bytes_acked) as f64;
        (seconds > 0.0 && acked > 0.0).then(|| (window / looks.len() as f64, acked / seconds))
    };
    let (early, late) = looks.split_at(looks.len() / 2);
    let Some((early, late)) = half(early).zip(half(late)) else { return false };
    let [window, rate] = [late.0 / early.0, late.1 / early.1].map(|ratio| ratio - 1.0);
    window >= GROWN && rate >= window / 2.0
}

/// Whether congestion control gave way because packets seemed lost. One with a model minds only heavy loss, or timeouts.
fn is_hurt_by_repeats(figures: &Figures<'_>) -> bool {
    if figures.has_model() {
        let timeouts = figures.since(|info| info.total_rto.map(u32::from)).unwrap_or(0);
        return figures.repeated_share() >= HEAVY_LOSS || timeouts > 0 && figures.now.ca_state == LOSS;
    }
    figures.repeats() > 0
}

/// Whether packets overtake each other, and what seemed lost had arrived. A few repeats tell little: then all since the
/// connection began are asked.
fn overtakes(figures: &Figures<'_>) -> bool {
    let now = figures.now;
    let times = figures.since(|info| info.reord_seen).unwrap_or(0);
    let (needless, repeats) = match figures.repeats() {
        few @ 0..ENOUGH if now.total_retrans > few => (now.dsack_dups.unwrap_or(0), now.total_retrans),
        repeats => (figures.needless(), repeats),
    };
    times > 0 && needless >= repeats.div_ceil(NEEDLESS)
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
/// So many repeats tell by themselves whether they were needless: of one in six, none is seen of 20 in 3 % of the cases.
const ENOUGH: u32 = 20;
/// A path that is full has packets waiting at this share of the looks, at least: a connection that has given way takes a while
/// to fill it again. Recorded for seconds of CUBIC each: 31 to 100 % behind CoDel, 0 to 15 % where packets are lost at random.
const OFTEN: f64 = 0.2;
/// A round trip that is longer by less than this share of the least is as long.
const NOISE: f64 = 0.02;
/// And from this on, us, for short paths.
const NOISE_US: f64 = 500.0;
/// Between Vegas's alpha, 2, and beta, 4.
const WAITING_SEGMENTS: f64 = 3.0;
/// A congestion window that is larger by less tells nothing of the rate: that varies as much.
const GROWN: f64 = 0.05;
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
