//! The peer's window from the sender's view.

use super::no_scaling;
use crate::{
    Options,
    explain::{Case, Figures, Finding, Kind, limit::nagle::DELAYED_S},
};

/// A receiver that reads small amounts from time to time sends acknowledgements with window updates
/// and may delay them, which also lengthens the round trip; its window then varies.
pub(in crate::explain) fn is_queue_on_path(figures: &Figures<'_>) -> bool {
    // The delay of one subflow has no significance for the others, which share the window.
    !figures.is_subflow()
        && (figures.repeats() > 0 || figures.queueing() > DELAYED_S || figures.has_constant_window())
}

pub(in crate::explain) fn finding(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let window = figures.infos().filter_map(|(_, info)| info.snd_wnd).max();
    if !figures.now.has(Options::WindowScale) {
        return no_scaling(case);
    }
    let mut evidence = vec![case.held_by("the peer's window", share)];
    if let (Some(window), Some(rtt)) = (window, figures.rtt()) {
        evidence.push(case.ceiling(window, rtt));
    }
    // A request of 64 KiB results in 128 KiB, of which half or two thirds are window.
    let is_as_kafka = window.is_some_and(|window| (57_000..=90_000).contains(&window));
    let known = if is_as_kafka { " (Kafka's consumers do: receive.buffer.bytes=-1)" } else { "" };
    Finding::new(
        Kind::SmallWindow,
        if figures.has_constant_window() {
            format!("The window of {remote} is constant and too small for the distance: its receive buffer is too small")
        } else {
            format!(
                "The window of {remote} is too small for the distance: its receive buffer is too small, or its program reads \
                 slowly and evenly (from this end both look the same)"
            )
        },
        evidence,
        format!(
            "run longhaul tcp explain at {remote} to see which; if it is the buffer, do not set SO_RCVBUF \
             there{known}, or raise the maximum of net.ipv4.tcp_rmem (its third value)"
        ),
    )
    .inferred()
}
