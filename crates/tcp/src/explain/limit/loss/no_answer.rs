//! Nothing comes back: to data, to the request to connect, or to the kernel's question whether the peer is there.

use crate::explain::{Case, Figures, Finding, Kind, text};

/// Whether nothing is answered any more.
pub(in crate::explain) fn is_dead(figures: &Figures<'_>) -> bool {
    figures.acked() == 0 && figures.now.retransmits > 0
}

/// Nothing comes back.
pub(in crate::explain) fn to_data(figures: &Figures<'_>) -> Finding {
    let remote = figures.socket.remote.ip();
    Finding::new(
        Kind::NoAnswer,
        format!("Nothing comes back from {remote}: the path is broken, or the host is down"),
        vec![
            format!(
                "{} timeouts in a row, 0 bytes acknowledged in {}",
                figures.now.retransmits,
                text::time(figures.seconds)
            ),
            format!("the last answer came {} ago", text::time(f64::from(figures.now.last_ack_recv_ms) / 1e3)),
        ],
        format!("see whether it is there: longhaul ping {remote}"),
    )
}

/// Its first packet was sent again and again.
pub(in crate::explain) fn to_connect(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote;
    let evidence = vec![case.requests(), case.neighbours()];
    let (sentence, advice) = if case.surroundings.answered_beside(figures) > 0 {
        (
            format!(
                "Nobody answers the request to connect to {remote}, though the host is there: its program does not \
                 accept as fast as others connect, or a firewall drops the request"
            ),
            format!(
                "at {0}: longhaul tcp explain --port {1} says whether the queue is full; if it is not, a firewall is \
                 left",
                remote.ip(),
                remote.port()
            ),
        )
    } else {
        (
            format!("Nobody answers the request to connect to {remote}"),
            format!(
                "see whether the host is there: longhaul ping {}; if it is, its listen queue is full or a firewall \
                 drops the request",
                remote.ip()
            ),
        )
    };
    Finding::new(Kind::NoAnswer, sentence, evidence, advice)
}

/// Whether the kernel asks again and again whether the peer is there, and nothing comes back: it sets the number to 0 with
/// whatever comes. A single one may be under way.
pub(in crate::explain) fn is_probed_in_vain(figures: &Figures<'_>) -> bool {
    figures.now.retransmits == 0 && figures.now.probes > 1
}

/// Nobody answers the kernel's question whether somebody is there.
pub(in crate::explain) fn to_probes(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let (probe, does) = match figures.socket.send_queue {
        0 => ("keep-alive", "gives the connection up after net.ipv4.tcp_keepalive_probes of them"),
        _ => ("window probe", "gives the connection up after net.ipv4.tcp_retries2 of them"),
    };
    Finding::new(
        Kind::NoAnswer,
        format!("Nothing comes back from {remote}: the path is broken, or the host is down"),
        vec![
            format!("{} sent in a row, none answered", text::plural(figures.now.probes.into(), probe)),
            case.last_answer(),
            case.neighbours(),
        ],
        format!("see whether it is there: longhaul ping {remote}; the kernel {does}"),
    )
}

/// The peer answered the request to connect, and nothing since.
pub(in crate::explain) fn ever(case: &Case<'_>) -> Finding {
    let remote = case.figures.socket.remote;
    Finding::new(
        Kind::NoAnswer,
        format!(
            "Nothing has come back from {remote} since the connection was opened: the path is broken, the host is \
             down, or the program there does not accept as fast as others connect (from this end they look the same)"
        ),
        vec![case.untouched(), case.last_answer(), case.neighbours()],
        format!(
            "see whether it is there: longhaul ping {}; if it is, longhaul tcp explain there says whether its listen \
             queue is full",
            remote.ip()
        ),
    )
}
