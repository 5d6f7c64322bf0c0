//! The sending program has nothing to send.

use super::pacing::NEARLY;
use crate::explain::{Case, Figures, Finding, Kind, Shares, evidence::PROGRAM, text};

pub(in crate::explain) fn leaves_model_unused(case: &Case<'_>, shares: Shares) -> bool {
    let figures = &case.figures;
    let pauses = shares.sender_application >= PAUSES;
    pauses && figures.has_model() && figures.rate() < figures.carried() * NEARLY
}

pub(in crate::explain) fn finding(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let program = case.program();
    let without = figures.infos().filter(|(_, info)| info.notsent_bytes < info.snd_mss).count();
    let mut evidence = vec![
        case.held_by(PROGRAM, share),
        format!("at {without} of {} looks less than a segment waited to be sent", figures.infos().count()),
    ];
    if figures.now.delivery_rate > 0 {
        evidence
            .push(format!("the latest data went at {}", text::rate(figures.now.delivery_rate as f64 * 8.0)));
    }
    Finding::new(
        Kind::SenderIdle,
        format!("{} has nothing to send most of the time", case.subject()),
        evidence,
        format!("see what {program} waits for: its disk, its own work, or a response before it sends more"),
    )
}

/// The window fell to half or less, without loss. BBR's window also falls when it probes for the
/// minimum round trip.
pub(in crate::explain) fn restarts(figures: &Figures<'_>) -> usize {
    if figures.has_model() || figures.repeats() > 0 {
        return 0;
    }
    let windows: Vec<_> = figures.infos().map(|(_, info)| info.snd_cwnd).collect();
    windows.windows(2).filter(|pair| pair[1] <= pair[0] / 2).count()
}

pub(in crate::explain) fn restarts_finding(case: &Case<'_>, times: usize) -> Finding {
    let figures = &case.figures;
    let windows = || figures.infos().map(|(_, info)| info.snd_cwnd);
    Finding::new(
        Kind::RestartAfterIdle,
        "After each pause the connection starts from a small window again".to_owned(),
        vec![format!(
            "the congestion window fell {times} times in {} without loss, between {} and {} segments",
            text::time(figures.seconds),
            windows().min().unwrap_or_default(),
            windows().max().unwrap_or_default()
        )],
        "sysctl -w net.ipv4.tcp_slow_start_after_idle=0".to_owned(),
    )
}

/// A full path leaves a sender no pause; apparent pauses on a busy host are shorter.
pub(in crate::explain) const PAUSES: f64 = 0.25;
