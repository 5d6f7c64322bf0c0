//! The peer does not respond: to data, to a SYN, or to keep-alive or window probes.

use crate::explain::{Case, Figures, Finding, Kind, text};

pub(in crate::explain) fn is_dead(figures: &Figures<'_>) -> bool {
    figures.acked() == 0 && figures.now.retransmits > 0
}

pub(in crate::explain) fn to_data(figures: &Figures<'_>) -> Finding {
    let remote = figures.socket.remote.ip();
    Finding::new(
        Kind::NoAnswer,
        format!("{remote} does not respond: the path is broken, or the host is down"),
        vec![
            format!(
                "{} timeouts in a row, 0 bytes acknowledged in {}",
                figures.now.retransmits,
                text::time(figures.seconds)
            ),
            format!(
                "the last packet was received {} ago",
                text::time(f64::from(figures.now.last_ack_recv_ms) / 1e3)
            ),
        ],
        format!("see whether it is up: longhaul ping {remote}"),
    )
}

pub(in crate::explain) fn to_connect(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote;
    let evidence = vec![case.requests(), case.neighbours()];
    let (sentence, advice) = if case.surroundings.answered_beside(figures) > 0 {
        (
            format!(
                "The connection request to {remote} gets no response, though the host is up: its program does not \
                 accept as fast as others connect, or a firewall drops the request"
            ),
            format!(
                "at {0}: longhaul tcp explain --port {1} shows whether the queue is full; if it is not, a \
                 firewall is the cause",
                remote.ip(),
                remote.port()
            ),
        )
    } else {
        (
            format!("The connection request to {remote} gets no response"),
            format!(
                "see whether the host is up: longhaul ping {}; if it is, its listen queue is full or a firewall \
                 drops the request",
                remote.ip()
            ),
        )
    };
    Finding::new(Kind::NoAnswer, sentence, evidence, advice)
}

/// Each received packet resets the counter. A single probe may be in flight.
pub(in crate::explain) fn is_probed_in_vain(figures: &Figures<'_>) -> bool {
    figures.now.retransmits == 0 && figures.now.probes > 1
}

pub(in crate::explain) fn to_probes(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let remote = figures.socket.remote.ip();
    let (probe, does) = match figures.socket.send_queue {
        0 => ("keep-alive", "gives the connection up after net.ipv4.tcp_keepalive_probes of them"),
        _ => ("window probe", "gives the connection up after net.ipv4.tcp_retries2 of them"),
    };
    Finding::new(
        Kind::NoAnswer,
        format!("{remote} does not respond: the path is broken, or the host is down"),
        vec![
            format!("{} sent in a row without a reply", text::plural(figures.now.probes.into(), probe)),
            case.last_answer(),
            case.neighbours(),
        ],
        format!("see whether it is up: longhaul ping {remote}; the kernel {does}"),
    )
}

pub(in crate::explain) fn ever(case: &Case<'_>) -> Finding {
    let remote = case.figures.socket.remote;
    Finding::new(
        Kind::NoAnswer,
        format!(
            "{remote} has not responded since the connection was opened: the path is broken, the host is \
             down, or the program there does not accept as fast as others connect (from this end they look the same)"
        ),
        vec![case.untouched(), case.last_answer(), case.neighbours()],
        format!(
            "see whether it is up: longhaul ping {}; if it is, longhaul tcp explain there shows whether its listen \
             queue is full",
            remote.ip()
        ),
    )
}
