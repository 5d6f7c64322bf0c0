//! The send buffer: the amount that the sending kernel accepts from its program. Its share is
//! `sndbuf_limited` of `tcp_info`.

use super::buffer::{Fixed, is_at_most, most_of};
use crate::{
    Info,
    diag::Socket,
    explain::{Case, Finding, Kind, figures::median, text},
};

/// The kernel wakes a writer when a third is free (`sk_stream_is_writeable()`). A buffer that grows
/// with the congestion window is at least twice as large (`tcp_sndbuf_expand()`), so that half of
/// it is unsent.
pub(in crate::explain) fn is_full(socket: &Socket, info: &Info) -> bool {
    socket.memory.is_some_and(|memory| {
        let is_full = u64::from(memory.wmem_queued) * 10 >= u64::from(memory.sndbuf) * 6;
        is_full && u64::from(info.notsent_bytes) * 10 <= u64::from(socket.send_queue) * 3
    })
}

pub(in crate::explain) fn grows(case: &Case<'_>) -> bool {
    let buffer = case.figures.socket.memory.unwrap_or_default().sndbuf;
    fixed(case) == Fixed::No && !is_at_most(buffer, case.around.settings.tcp_wmem)
}

fn fixed(case: &Case<'_>) -> Fixed {
    let sizes = || case.figures.infos().filter_map(|(socket, _)| Some(socket.memory?.sndbuf));
    let chosen = case.seen.chosen.map(|chosen| chosen.has_fixed_send_buffer);
    Fixed::of(chosen, sizes, case.around.settings.tcp_wmem)
}

pub(in crate::explain) fn finding(case: &Case<'_>, share: f64) -> Finding {
    let figures = &case.figures;
    let memory = figures.socket.memory.unwrap_or_default();
    let buffer = memory.sndbuf;
    let evidence = vec![
        case.held_by("its send buffer", share),
        format!(
            "the send buffer is {}; {} were written and not acknowledged, {} of them unsent; a round trip takes {}",
            text::bytes(buffer),
            text::bytes(figures.socket.send_queue),
            text::bytes(figures.now.notsent_bytes),
            text::time(figures.rtt().unwrap_or_default())
        ),
    ];
    match fixed(case) {
        Fixed::Yes => return fixed_finding(case, buffer, evidence),
        Fixed::Seemingly => return fixed_finding(case, buffer, evidence).inferred(),
        Fixed::No => {}
    }
    let limits @ [least, start, _] = case.around.settings.tcp_wmem.unwrap_or_default();
    let (kind, said, wanted) = most_of(case, "net.ipv4.tcp_wmem[2]", limits);
    Finding::new(
        kind.unwrap_or(Kind::SendBufferMaximum),
        format!(
            "The send buffer has grown to the maximum of net.ipv4.tcp_wmem{said}, and the distance needs more"
        ),
        evidence,
        format!("sysctl -w net.ipv4.tcp_wmem=\"{least} {start} {wanted}\""),
    )
}

fn fixed_finding(case: &Case<'_>, buffer: u32, evidence: Vec<String>) -> Finding {
    let buffer = text::bytes(buffer);
    Finding::new(
        Kind::FixedSendBuffer,
        format!(
            "{} has fixed its send buffer at {buffer} (SO_SNDBUF): too small for the distance",
            case.subject()
        ),
        evidence,
        format!(
            "do not set SO_SNDBUF in {} (Kafka: send.buffer.bytes=-1): the kernel then lets it grow",
            case.program()
        ),
    )
}

pub(in crate::explain) fn unsent(case: &Case<'_>) -> Option<Finding> {
    let figures = &case.figures;
    let unsent = median(figures.infos().map(|(_, info)| info.notsent_bytes))?;
    let wait = f64::from(unsent) * 8.0 / figures.rate();
    let is_much =
        u64::from(unsent) >= 4 * NOTSENT_LOWAT && wait >= 2.0 * figures.rtt()? && wait >= UNSENT_LEAST_S;
    (is_much && wait.is_finite()).then(|| unsent_finding(case, unsent, wait))
}

fn unsent_finding(case: &Case<'_>, unsent: u32, wait: f64) -> Finding {
    Finding::new(
        Kind::UnsentData,
        format!(
            "Data that the program writes now is sent only after {}: too much data waits unsent in this host",
            text::time(wait)
        ),
        vec![format!("{} unsent at {}", text::bytes(unsent), text::rate(case.figures.rate()))],
        format!(
            "sysctl -w net.ipv4.tcp_notsent_lowat={NOTSENT_LOWAT} (or TCP_NOTSENT_LOWAT in the program): it costs no \
             speed"
        ),
    )
}

const NOTSENT_LOWAT: u64 = 131_072;

/// A delay that users begin to notice.
const UNSENT_LEAST_S: f64 = 0.1;
