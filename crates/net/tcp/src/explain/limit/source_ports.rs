//! The range of source ports for one destination.

use crate::{
    explain::{Finding, Kind, PortUse, text},
    kernel::{Rule, Version},
    settings::Settings,
};

pub(in crate::explain) fn finding(
    each: &PortUse,
    [first, last]: [u64; 2],
    size: u64,
    kernel: Option<Version>,
    settings: &Settings,
) -> Finding {
    let PortUse { remote, taken, waiting, .. } = *each;
    let share = taken as f64 / size as f64;
    let is_full = share >= FULL;
    let sentence = if is_full {
        format!("Almost all source ports for {remote} are in use: connect() fails or is about to")
    } else {
        format!(
            "Half of the source ports for {remote} are taken: from here on connect() searches long for a free one"
        )
    };
    let mut evidence = vec![format!(
        "{taken} of {size} ports of net.ipv4.ip_local_port_range ({first} to {last}) are taken, {}; {waiting} of them \
         by connections that have ended (TIME_WAIT)",
        text::share(share)
    )];
    if kernel.is_some_and(|kernel| Rule::EVEN_PORTS_FIRST.holds(kernel)) {
        evidence.push("connect() tries every even port before an odd one".to_owned());
    }
    let can_reuse =
        !remote.ip().is_loopback() && settings.tcp_tw_reuse == Some(2) || settings.tcp_tw_reuse == Some(0);
    let advice = match () {
        () if waiting * 2 >= taken && can_reuse => {
            "sysctl -w net.ipv4.tcp_tw_reuse=1: ports of connections that ended a \
             second ago are used again"
                .to_owned()
        }
        () if size < WIDEST => "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"".to_owned(),
        () => {
            format!("keep connections to {remote} open and use them again, or connect from a second address")
        }
    };
    Finding { kind: Kind::SourcePorts, sentence, evidence, advice, is_inferred: false }
}

/// From this share on even a search of the whole range finds few free ports.
const FULL: f64 = 0.9;

/// 1024 to 65535 has more.
const WIDEST: u64 = 60_000;
