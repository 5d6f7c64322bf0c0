//! Nagle's algorithm: a small segment waits for the acknowledgement of the one before it (RFC 896).

use crate::{
    Info,
    explain::{Case, Finding, Kind, Look, figures::outstanding, text},
};

/// Assumed if the program's option is unknown.
pub(in crate::explain) fn may_hold(case: &Case<'_>) -> bool {
    case.seen.chosen.is_none_or(|chosen| !chosen.has_no_delay)
}

/// Whether less than a segment is unsent although little is in flight: it waits for an
/// acknowledgement (RFC 896). For a program that writes continuously, the last partial segment also
/// waits, at no cost.
pub(in crate::explain) fn holds(look: &Look, info: &Info) -> bool {
    let under_way = outstanding(&look.socket, info);
    let waits = info.notsent_bytes > 0 && info.notsent_bytes < info.snd_mss;
    waits && under_way > 0 && under_way < info.snd_mss
}

/// The peer sends responses, or acknowledgements are late enough to be delayed ones.
pub(in crate::explain) fn is_felt(case: &Case<'_>) -> bool {
    let figures = &case.figures;
    figures.received() > 0 || figures.queueing() >= DELAYED_S / 4.0
}

pub(in crate::explain) fn finding(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let small = |least: u32, info: &Info| info.notsent_bytes > 0 && info.notsent_bytes < least;
    let waiting: Vec<_> = figures
        .infos()
        .filter(|(_, info)| small(info.snd_mss, info))
        .map(|(_, info)| info.notsent_bytes)
        .collect();
    let mut evidence = vec![format!(
        "at {} of {} looks up to {} waited for the acknowledgement of less than a segment, {} of the time",
        waiting.len(),
        figures.infos().count(),
        text::bytes(waiting.iter().copied().max().unwrap_or_default()),
        text::share(share)
    )];
    if let (Some(usual), Some(least)) = (figures.rtt(), figures.min_rtt())
        && figures.queueing() >= DELAYED_S / 4.0
    {
        evidence.push(format!(
            "acknowledgements arrive after {}, and after {} if {remote} does not delay them",
            text::time(usual),
            text::time(least)
        ));
    }
    match case.seen.chosen {
        Some(_) => evidence.push("TCP_NODELAY is not set".to_owned()),
        None => evidence.push("whether TCP_NODELAY is set is not visible".to_owned()),
    }
    let program = case.program();
    let finding = Finding::new(
        Kind::Nagle,
        format!(
            "{} writes in small pieces, and the kernel holds each piece back until the one before it is acknowledged \
             (Nagle's algorithm)",
            case.subject()
        ),
        evidence,
        format!("set TCP_NODELAY in {program}, or let it write related data in one call (writev)"),
    );
    if case.seen.chosen.is_none() { finding.inferred() } else { finding }
}

/// Linux delays acknowledgements by 40 ms (`TCP_ATO_MIN`) for frequent data, and the timer has a tick of up
/// to 10 ms.
pub(in crate::explain) const DELAYED_S: f64 = 0.05;
