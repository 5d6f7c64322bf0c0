//! What `longhaul tcp oscil` prints: a line while it goes on, figures at the end, and the connection over time.

mod course;

use std::fmt::Write;

use tcp::oscil::{Ended, Programme, Progress, Recording, Served, Summary};

use crate::{
    output::{DIM, RED, YELLOW, paint},
    transfer::show::{bytes, rate},
};

/// While it goes on.
pub(super) fn progress(progress: &Progress<'_>) -> String {
    let queue = bytes(progress.sample.receive_queue_bytes.into());
    let window = progress.sample.tcp_info.as_ref().and_then(|info| info.rcv_wnd);
    let window = window.map_or_else(String::new, |window| format!(", window {}", bytes(window.into())));
    let Progress { elapsed, phase, .. } = progress;
    format!("{} s {phase}: {} read, {queue} waiting{window}", elapsed.as_secs(), bytes(progress.bytes))
}

/// What became of a connection that was sent to.
pub(super) fn served(served: &Served) -> String {
    let mut text = format!(
        "{}: {} in {:.1} s, then: {}",
        served.peer,
        bytes(served.bytes),
        served.duration.as_secs_f64(),
        served.why
    );
    let Some(info) = &served.info else { return text };
    if let Some(busy) = info.busy_time_us.filter(|busy| *busy > 0) {
        let limited = |what, time: Option<u64>| time.map(|time| format!(" {} by {what}", share(time, busy)));
        let limits = [
            limited("the reader's window", info.rwnd_limited_us),
            limited("the send buffer", info.sndbuf_limited_us),
        ];
        let limits: Vec<_> = limits.into_iter().flatten().collect();
        let _ = write!(text, "; limited{} of the time", limits.join(","));
    }
    let _ = write!(text, "; {} segments sent again", info.total_retrans);
    text
}

/// A recording: its conditions, its figures, its course, and what is to be known about it.
pub(super) fn recording(recording: &Recording) -> String {
    let mut text = conditions(recording);
    text += &figures(recording);
    text += &counters(recording);
    text += &course::course(recording);
    for warning in &recording.warnings {
        let colour = if recording.valid { YELLOW } else { RED };
        let _ = writeln!(text, "{}: {warning}", paint("warning", colour));
    }
    text
}

fn conditions(recording: &Recording) -> String {
    let conditions = &recording.conditions;
    let mut text = format!("{}  {}\n", conditions.remote, described(&conditions.programme));
    let rtt = conditions.rtt_ms.map_or_else(String::new, |rtt| format!(", rtt {rtt:.1} ms"));
    let setting =
        |name: &str| Some(format!(", {} {}", name.rsplit('.').next()?, conditions.settings.get(name)?));
    let settings = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_adv_win_scale", "net.ipv4.tcp_shrink_window"];
    let settings: String = settings.into_iter().filter_map(setting).collect();
    let option = |name: &str, size: Option<u64>| size.map(|size| format!(", {name} {}", bytes(size)));
    let options: String =
        [option("SO_RCVBUF", conditions.rcvbuf_bytes), option("TCP_WINDOW_CLAMP", conditions.window_bytes)]
            .into_iter()
            .flatten()
            .collect();
    let _ = writeln!(text, "{}", paint(&format!("Linux {}{rtt}{settings}{options}", conditions.kernel), DIM));
    text
}

/// "oscillating: 3 x (fast 5s unlimited, slow 15s 5% of best)".
fn described(programme: &Programme) -> String {
    let phase = |phase: &tcp::oscil::Phase| {
        format!("{} {} {}", phase.name, units::duration::show(phase.duration), phase.rate)
    };
    let phases: Vec<_> = programme.phases.iter().map(phase).collect();
    format!("{}: {} x ({})", programme.name, programme.repeat, phases.join(", "))
}

/// One line a figure; those that could not be measured are left out.
fn figures(recording: &Recording) -> String {
    let Summary { max_pause_ms, restarts, restarts_missed, .. } = recording.summary;
    let summary = &recording.summary;
    let size = |size: Option<u32>| size.map(|size| bytes(size.into()));
    let lines = [
        (
            "read",
            Some(format!("{} in {:.1} s, {}", bytes(summary.bytes), summary.duration_s, ended(recording))),
        ),
        ("fast", summary.fast_mbps.map(range)),
        ("  network", summary.network_mbps.map(range)),
        ("slow", summary.slow_mbps.map(rate)),
        (
            "restart",
            restart(summary).or_else(|| (restarts + restarts_missed > 0).then(|| paint("never", YELLOW))),
        ),
        ("longest pause", Some(format!("{max_pause_ms:.1} ms"))),
        ("window", size(summary.window_bytes).map(|window| format!("{window} at most"))),
        ("buffer", size(summary.rcvbuf_bytes).map(|buffer| format!("{buffer} at most"))),
        ("queue", size(summary.queue_bytes).map(|queue| format!("{queue} at most{}", ratio(summary)))),
        ("out of order", summary.out_of_order.map(|segments| format!("{segments} segments"))),
        ("dropped", summary.drops.map(|drops| format!("{drops} packets"))),
    ];
    lines.into_iter().filter_map(|(name, line)| Some(format!("  {name:14}{}\n", line?))).collect()
}

fn ended(recording: &Recording) -> String {
    match recording.ended {
        Ended::Complete => "complete".to_owned(),
        Ended::Interrupted => paint("interrupted", YELLOW),
        Ended::PeerClosed => paint("the sender closed the connection", YELLOW),
        Ended::ConnectionLost => paint(
            &format!("connection lost: {}", recording.ended_why.as_deref().unwrap_or("no reason given")),
            RED,
        ),
    }
}

fn restart(summary: &Summary) -> Option<String> {
    let (median, longest) = summary.restart_s.zip(summary.restart_max_s)?;
    let missed = match summary.restarts_missed {
        0 => String::new(),
        missed => format!(", {missed} never"),
    };
    Some(format!("{median:.2} s (median of {}, longest {longest:.2} s{missed})", summary.restarts))
}

fn ratio(summary: &Summary) -> String {
    summary.metadata_ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} bytes of memory for each"))
}

fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", rate(low), rate(high))
}

/// Those that have counted, and in a word the others.
fn counters(recording: &Recording) -> String {
    let (some, none): (Vec<_>, Vec<_>) = recording.counters.iter().partition(|(_, count)| **count > 0);
    let mut text = String::new();
    for (name, count) in &some {
        let _ = writeln!(text, "  {name:24}{count}");
    }
    let names: Vec<_> = none.iter().map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "{}", paint(&format!("  none of {}", names.join(", ")), DIM));
    }
    text
}

/// A part of a time in percent.
#[expect(clippy::cast_precision_loss, reason = "for display")]
fn share(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 / whole as f64 * 100.0)
}
