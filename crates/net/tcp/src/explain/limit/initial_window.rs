//! The start: the window has not had enough round trips to grow, or the connection is not established yet.

use crate::{
    diag::Model,
    explain::{Case, Figures, Finding, Kind, text},
};

pub(in crate::explain) fn is_starting(figures: &Figures<'_>) -> bool {
    let is_start = match figures.socket.model {
        Some(Model::Bbr { pacing_gain, .. }) => pacing_gain > BBR_DRAIN_OR_PROBE,
        _ => figures.now.snd_ssthresh >= NO_THRESHOLD,
    };
    is_start && f64::from(figures.now.snd_cwnd) > f64::from(figures.before.snd_cwnd) * 1.25
}

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let begin = if figures.before.snd_cwnd > 0 { figures.before.snd_cwnd } else { INITIAL_WINDOW };
    Finding::new(
        Kind::SlowStart,
        "The connection is still starting: its window doubles each round trip, starting small".to_owned(),
        vec![
            format!(
                "the congestion window went from {begin} to {} segments in {}",
                figures.now.snd_cwnd,
                text::time(figures.seconds)
            ),
            format!("a round trip takes {}; no loss yet", text::time(figures.rtt().unwrap_or_default())),
        ],
        format!(
            "keep connections open and use them again; where that is not possible, start larger: ip route change ROUTE \
             initcwnd 30, ROUTE as ip route get {remote} shows it"
        ),
    )
}

pub(in crate::explain) fn connecting(case: &Case<'_>) -> Finding {
    let remote = case.figures.socket.remote;
    Finding::new(
        Kind::Connecting,
        format!("The connection request to {remote} is in flight"),
        vec!["it was sent once, without a response so far".to_owned()],
        "nothing yet; look again in a second (--watch)".to_owned(),
    )
}

/// BBR's gains in 256ths: 1.25 when it probes, 2.89 when it starts.
const BBR_DRAIN_OR_PROBE: u32 = 512;

/// `TCP_INFINITE_SSTHRESH`: slow start has not ended.
pub(in crate::explain) const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Segments, since 2.6.39 (RFC 6928).
const INITIAL_WINDOW: u32 = 10;
