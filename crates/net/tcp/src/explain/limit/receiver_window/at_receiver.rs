//! The window from the receiver's view, with its buffer.

use super::no_scaling;
use crate::{
    Options,
    explain::{
        Case, Finding, Kind,
        limit::buffer::{Fixed, is_at_most, most_of},
        text,
    },
    kernel::Rule,
    settings::Settings,
};

pub(in crate::explain) fn finding(case: &Case<'_>) -> Finding {
    let figures = &case.figures;
    let settings = &case.around.settings;
    let buffer = figures.socket.memory.unwrap_or_default().rcvbuf;
    if !figures.now.has(Options::WindowScale) {
        return no_scaling(case);
    }
    let evidence = window_evidence(case, buffer);
    let sizes = || figures.infos().filter_map(|(socket, _)| Some(socket.memory?.rcvbuf));
    let grows = settings.tcp_moderate_rcvbuf != Some(0);
    let chosen = case.seen.chosen.map(|chosen| chosen.has_fixed_receive_buffer);
    match Fixed::of(chosen.or((!grows).then_some(false)), sizes, settings.tcp_rmem) {
        Fixed::Yes => fixed_finding(case, buffer, evidence),
        Fixed::Seemingly => fixed_finding(case, buffer, evidence).inferred(),
        Fixed::No if !grows => does_not_grow(evidence),
        Fixed::No if is_at_most(buffer, settings.tcp_rmem) => maximum_finding(case, evidence),
        Fixed::No => Finding::new(
            Kind::ReceiveBufferGrows,
            "The receive buffer is still growing to what the distance needs".to_owned(),
            evidence,
            "look again in some round trips (--watch)".to_owned(),
        ),
    }
}

fn window_evidence(case: &Case<'_>, buffer: u32) -> Vec<String> {
    let window = case.window().unwrap_or_default();
    vec![
        case.ceiling(window, case.round_trip().unwrap_or_default()),
        format!("the receive buffer is {}; nothing waited to be read", text::bytes(buffer)),
    ]
}

fn fixed_finding(case: &Case<'_>, buffer: u32, mut evidence: Vec<String>) -> Finding {
    let program = case.program();
    let asked = u64::from(buffer / 2);
    if let Some((_, who)) = KNOWN.iter().find(|(size, _)| *size == asked) {
        evidence.push(format!("SO_RCVBUF={asked} is {who}"));
    }
    if case.around.settings.core_rmem_max == Some(asked) {
        evidence.push(format!("it may have requested more: net.core.rmem_max is {asked}"));
    }
    Finding::new(
        Kind::FixedReceiveBuffer,
        format!(
            "{} has fixed its receive buffer (SO_RCVBUF={asked}): too small for the distance, and it does not grow",
            case.subject()
        ),
        evidence,
        format!(
            "do not set SO_RCVBUF in {program} (Kafka: receive.buffer.bytes=-1): the kernel then lets it grow; run \
             longhaul tcp explain at {} to see whether something limits there as well",
            case.figures.socket.remote.ip()
        ),
    )
}

fn maximum_finding(case: &Case<'_>, evidence: Vec<String>) -> Finding {
    let limits = case.around.settings.tcp_rmem.unwrap_or_default();
    let [least, start, _] = limits;
    let (kind, said, wanted) = most_of(case, "net.ipv4.tcp_rmem[2]", limits);
    Finding::new(
        kind.unwrap_or(Kind::ReceiveBufferMaximum),
        format!(
            "The receive buffer has grown to the maximum of net.ipv4.tcp_rmem{said}, and the distance needs more"
        ),
        evidence,
        format!("sysctl -w net.ipv4.tcp_rmem=\"{least} {start} {wanted}\", then connect again"),
    )
}

fn does_not_grow(evidence: Vec<String>) -> Finding {
    Finding::new(
        Kind::ReceiveBufferDoesNotGrow,
        "Receive buffers do not grow: net.ipv4.tcp_moderate_rcvbuf is 0".to_owned(),
        evidence,
        "sysctl -w net.ipv4.tcp_moderate_rcvbuf=1".to_owned(),
    )
}

pub(in crate::explain) fn ignored_scale(case: &Case<'_>) -> Option<Finding> {
    let kernel = case.around.kernel?;
    let scale = case.around.settings.tcp_adv_win_scale?;
    let usual = Settings::defaults(kernel, None).tcp_adv_win_scale?;
    (Rule::WIN_SCALE_IGNORED.holds(kernel) && scale != usual).then(|| {
        Finding::new(
            Kind::SettingIgnored,
            format!("net.ipv4.tcp_adv_win_scale was set, and Linux {kernel} ignores it"),
            vec![format!(
                "it is {scale}; {}, since {}",
                Rule::WIN_SCALE_IGNORED.what,
                Rule::WIN_SCALE_IGNORED.since
            )],
            "change the maximum of net.ipv4.tcp_rmem (its third value) instead: longhaul tcp window computes it".to_owned(),
        )
    })
}

const KNOWN: [(u64, &str); 3] = [
    (32_768, "the default of Kafka's producers (receive.buffer.bytes)"),
    (65_536, "the default of Kafka's consumers (receive.buffer.bytes)"),
    (102_400, "the default of Kafka's brokers (socket.receive.buffer.bytes)"),
];
