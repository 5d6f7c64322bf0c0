//! The window that the receiver advertises, which is small because its buffer is small. Its share at a sender
//! is `rwnd_limited` of `tcp_info`.
//!
//! Each end has half of the information: `at_sender` the window, `at_receiver` the buffer behind it.

use super::pacing;
use crate::{
    Info,
    diag::Socket,
    explain::{
        Case, Figures, Finding, Kind,
        figures::{USED, median, outstanding},
        text,
    },
};

pub(in crate::explain) mod at_receiver;
pub(in crate::explain) mod at_sender;

/// Whether the peer's window permits no further segment. The probe timer indicates that only if the
/// window is unknown.
pub(in crate::explain) fn is_closed(socket: &Socket, info: &Info) -> bool {
    match info.snd_wnd {
        Some(window) => {
            let next = info.notsent_bytes.min(info.snd_mss);
            next > 0 && outstanding(socket, info).saturating_add(next) > window
        }
        None => socket.timer == PROBE_TIMER && !pacing::holds(info),
    }
}

pub(in crate::explain) fn is_used(figures: &Figures<'_>) -> bool {
    let window = median(figures.infos().filter_map(|(_, info)| info.snd_wnd)).filter(|&window| window > 0);
    let used = || Some(figures.rate() / 8.0 * figures.rtt()? / f64::from(window?));
    used().is_some_and(|share| share >= USED)
}

fn no_scaling(case: &Case<'_>) -> Finding {
    let is_ours = case.around.settings.tcp_window_scaling == Some(0);
    let advice = if is_ours {
        "sysctl -w net.ipv4.tcp_window_scaling=1, then connect again".to_owned()
    } else {
        let remote = case.figures.socket.remote.ip();
        format!(
            "at {remote}: sysctl -w net.ipv4.tcp_window_scaling=1, then connect again; if it is 1, something on \
             the path removes the option"
        )
    };
    let rtt = case.figures.rtt().unwrap_or_default();
    Finding::new(
        Kind::WindowScalingOff,
        "Windows end at 64 KiB, because the two ends did not agree on larger ones".to_owned(),
        vec![format!(
            "a window of 65535 bytes per {} round trip allows at most {}",
            text::time(rtt),
            text::rate(65_535.0 * 8.0 / rtt)
        )],
        advice,
    )
}

pub(in crate::explain) const PROBE_TIMER: u8 = 4;
