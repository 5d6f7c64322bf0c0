//! The output of `longhaul tcp oscil`: a progress line, figures at the end, and the connection over
//! time.

mod course;

use std::fmt::Write;

use tcp::trace::Bin;
use trafficgen::slow_reader::{Conditions, Ended, Phase, Programme, Progress, Recording, Served, Summary};
use units::show::{bytes, digits, plural, rate, share, time};

use crate::{
    lab::figures::whole,
    output::{DIM, RED, YELLOW, paint},
};

pub(super) fn progress(progress: &Progress<'_>) -> String {
    let queue = bytes(progress.sample.receive_queue_bytes.into());
    let window = progress.sample.tcp_info.as_ref().and_then(|info| info.rcv_wnd);
    let window = window.map_or_else(String::new, |window| format!(", window {}", bytes(window.into())));
    let Progress { elapsed, phase, .. } = progress;
    format!("{} s {phase}: {} read, {queue} waiting{window}", elapsed.as_secs(), bytes(progress.bytes))
}

pub(super) fn served(served: &Served) -> String {
    let Served { peer, why, duration, .. } = served;
    let mut text = format!("{peer}: {} in {}, {why}", bytes(served.bytes), time(duration.as_secs_f64()));
    let Some(info) = &served.info else { return text };
    if let Some(busy) = info.busy_time_us.filter(|busy| *busy > 0) {
        let limits =
            [("the reader's window", info.rwnd_limited_us), ("the send buffer", info.sndbuf_limited_us)];
        let limit = |(what, time): (&str, Option<u64>)| {
            Some(format!(" {} by {what}", share(whole(time?) / whole(busy))))
        };
        let limits: Vec<_> = limits.into_iter().filter_map(limit).collect();
        let _ = write!(text, "; of its time limited{}", limits.join(" and"));
    }
    text + "; " + &plural(info.total_retrans.into(), "segment") + " sent again"
}

pub(super) fn recording(recording: &Recording) -> String {
    let mut text = format!("{}\n{}\n", title(recording), paint(&conditions(recording), DIM));
    if recording.ended != Ended::Complete {
        let _ = writeln!(text, "  {}", paint(&ended(recording), YELLOW));
    }
    for (name, figure) in figures(recording) {
        let _ = writeln!(text, "  {name:22}{figure}");
    }
    text += &counters(recording);
    for (function, calls) in traced(recording) {
        let _ = writeln!(text, "  {function:22}{calls}");
    }
    text += &course::course(recording);
    for reason in &recording.reasons {
        let _ = writeln!(text, "{}: {reason}", paint("INVALID", RED));
    }
    for warning in &recording.warnings {
        let _ = writeln!(text, "{}: {warning}", paint("warning", YELLOW));
    }
    text
}

pub(super) fn title(recording: &Recording) -> String {
    let Conditions { remote, programme, length_s, .. } = &recording.conditions;
    let length = length_s.map_or_else(String::new, |length| format!(", for {length} s"));
    format!("{remote} read as {}{length}", described(programme))
}

fn described(programme: &Programme) -> String {
    let phase =
        |phase: &Phase| format!("{} {} {}", phase.name, units::duration::show(phase.duration), phase.rate);
    let phases: Vec<_> = programme.phases.iter().map(phase).collect();
    format!("{}: {} x ({})", programme.name, programme.repeat, phases.join(", "))
}

fn conditions(recording: &Recording) -> String {
    let conditions = &recording.conditions;
    let setting =
        |name: &&str| Some(format!("{} {}", name.rsplit('.').next()?, conditions.settings.get(*name)?));
    let option = |name: &str, size: Option<u64>| size.map(|size| format!("{name} {}", bytes(size)));
    let mut parts = vec![format!("Linux {}", conditions.kernel)];
    parts.extend(conditions.rtt_ms.map(|rtt| format!("rtt {}", time(rtt / 1e3))));
    parts.extend(SETTINGS.iter().filter_map(setting));
    parts.extend(option("SO_RCVBUF", conditions.rcvbuf_bytes));
    parts.join(", ")
}

pub(super) fn ended(recording: &Recording) -> String {
    match recording.ended {
        Ended::Complete => "the programme was gone through to its end".to_owned(),
        Ended::Interrupted => "interrupted: the programme was not over".to_owned(),
        Ended::PeerClosed => "the sender closed the connection before the programme was over".to_owned(),
        Ended::ConnectionLost => {
            format!("connection lost: {}", recording.ended_why.as_deref().unwrap_or("for an unknown reason"))
        }
    }
}

pub(super) fn figures(recording: &Recording) -> Vec<(&'static str, String)> {
    let summary = &recording.summary;
    let size = |size: Option<u32>| size.map(|size| format!("{} at most", bytes(size.into())));
    let figures = [
        ("read", Some(format!("{} in {}", bytes(summary.bytes), time(summary.duration_s)))),
        ("fast seconds", summary.fast_mbps.map(range)),
        ("  from the network", summary.network_mbps.map(range)),
        ("slow phases", summary.slow_mbps.map(|mbps| rate(mbps * 1e6))),
        ("restart", restart(summary)),
        ("first byte", summary.first_byte_ms.map(|ms| time(ms / 1e3))),
        ("longest pause", Some(time(summary.max_pause_ms / 1e3))),
        ("window", size(summary.window_bytes.or(summary.window_limit_bytes))),
        ("buffer", size(summary.rcvbuf_bytes)),
        ("queue", size(summary.queue_bytes)),
        ("  memory for a byte", summary.metadata_ratio.map(|ratio| format!("{} bytes", digits(ratio)))),
        ("out of order", summary.out_of_order.map(|count| plural(count.into(), "segment"))),
        ("dropped", summary.drops.map(|count| plural(count.into(), "packet"))),
    ];
    figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

pub(super) fn restart(summary: &Summary) -> Option<String> {
    let Summary { restarts, restarts_missed, .. } = summary;
    let missed =
        (*restarts_missed > 0).then(|| format!("never in {}", plural(*restarts_missed as u64, "fast phase")));
    let reached = summary.restart_s.zip(summary.restart_max_s).map(|(median, longest)| {
        format!("{} (median of {restarts}, longest {})", time(median), time(longest))
    });
    let parts: Vec<_> = reached.into_iter().chain(missed).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

pub(super) fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", rate(low * 1e6), rate(high * 1e6))
}

fn counters(recording: &Recording) -> String {
    let (some, none): (Vec<_>, Vec<_>) = recording.counters.iter().partition(|(_, count)| **count > 0);
    let mut text = String::new();
    for (name, count) in &some {
        let _ = writeln!(text, "  {name:22}{count}");
    }
    let names: Vec<_> = none.iter().map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "{}", paint(&format!("  none of {}", names.join(", ")), DIM));
    }
    text
}

/// The traced functions, and their calls by duration: "12 up to 1 us, 3 up to 16384 us".
pub(super) fn traced(recording: &Recording) -> Vec<(&str, String)> {
    let calls = |bins: &[Bin]| {
        let bins: Vec<_> = bins.iter().map(|bin| format!("{} up to {} us", bin.calls, bin.to_us)).collect();
        if bins.is_empty() { "no calls".to_owned() } else { bins.join(", ") }
    };
    let functions = recording.trace.iter().flatten();
    functions.map(|(function, bins)| (function.as_str(), calls(bins))).collect()
}

const SETTINGS: [&str; 3] = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_adv_win_scale", "net.ipv4.tcp_shrink_window"];
