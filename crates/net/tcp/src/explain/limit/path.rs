//! The capacity of the path: packets queue on it.

use crate::explain::{Case, Figures, Finding, Kind, Look, figures::outstanding, others::Others, text};

pub(in crate::explain) fn share(figures: &Figures<'_>) -> f64 {
    let waits = |look: &&Look| is_waiting(figures, look);
    figures.looks.iter().filter(waits).count() as f64 / figures.looks.len().max(1) as f64
}

/// The round trip exceeds the minimum by more than its variation, and more packets arrive in that
/// time than a burst has (the idea of Vegas, which keeps 2 to 4 of them in the queue).
fn is_waiting(figures: &Figures<'_>, look: &Look) -> bool {
    let (Some(info), Some(least)) = (look.socket.info.as_ref(), figures.min_rtt_us()) else { return false };
    let [usual, varying, least] = [info.rtt_us, info.rttvar_us, least].map(f64::from);
    let waiting = usual - least - varying;
    let segments = f64::from(outstanding(&look.socket, info)) / f64::from(info.snd_mss.max(1));
    waiting > (least * NOISE).max(NOISE_US) && waiting / usual * segments >= WAITING_SEGMENTS
}

/// With reordering, the minimum round trip is that of overtaking packets; then it is also required
/// that a larger window does not increase the rate.
pub(in crate::explain) fn has_queue(figures: &Figures<'_>) -> bool {
    let overtook = figures.since(|info| info.reord_seen).unwrap_or(0) > 0;
    figures.has_queue() && !(overtook && is_faster_with_more(figures))
}

/// Whether the rate grew with the congestion window between the two halves of the samples, as on a path that
/// is not full.
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

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let carried = text::rate(figures.carried());
    let mut evidence = vec![format!("{} over {}", text::rate(figures.rate()), text::time(figures.seconds))];
    if figures.has_queue() {
        evidence.push(format!(
            "a round trip takes {}, and {} when the path is empty: {} of waiting",
            text::time(figures.rtt().unwrap_or_default()),
            text::time(figures.min_rtt().unwrap_or_default()),
            text::time(figures.queueing())
        ));
    }
    if figures.has_model() {
        evidence.push(format!("BBR measures a bottleneck of {carried}"));
    }
    if figures.repeats() > 0 {
        evidence.push(case.repeated());
        evidence.push(case.waiting());
    }
    let advice = if figures.has_queue() && !figures.has_model() {
        format!("no setting here makes it faster; for less waiting in its queue: {}", case.use_bbr())
    } else {
        "no setting here makes it faster, only a faster bottleneck on the path".to_owned()
    };
    let sentence = match case.others {
        Others { count: 0, .. } => format!("The path carries no more than {carried}"),
        Others { count, rate } => format!(
            "The path is full: it carries {carried} of this connection, and {} of {count} more to {}",
            text::rate(rate),
            figures.socket.remote.ip()
        ),
    };
    Finding::new(Kind::PathRate, sentence, evidence, advice)
}

/// On a full path packets wait in at least this share of the samples: a connection that reduced its
/// rate takes a while to fill the path again.
pub(in crate::explain) const OFTEN: f64 = 0.2;

const NOISE: f64 = 0.02;

/// Lower bound of the difference, us, for short paths.
const NOISE_US: f64 = 500.0;

/// Between Vegas's alpha, 2, and beta, 4.
const WAITING_SEGMENTS: f64 = 3.0;

const GROWN: f64 = 0.05;
