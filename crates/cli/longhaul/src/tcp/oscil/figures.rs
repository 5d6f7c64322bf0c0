//! A page of figures of a recording: throughput, reads, window, queue, round trips and counters on
//! one time axis.

use std::collections::BTreeMap;

use report::figures::{Axis, Column, Figures, Line, Look, Table, Timeline};
use tcp::timeline::Sample;
use trafficgen::slow_reader::{Ended, Passage, Recording, Second};
use units::show::{bytes, time};

use super::render;
use crate::lab::figures::whole;

pub(super) fn figures(recording: &Recording) -> Figures {
    let mut figures = Figures::new(render::title(recording), summary(recording))
        .panel(banded(recording, throughput(recording)))
        .panel(banded(recording, reading(recording)))
        .panel(banded(recording, window(recording)))
        .panel(banded(recording, queue(recording)))
        .panel(banded(recording, round_trips(recording)))
        .panel(banded(recording, counters(recording)))
        .table(table("Figures", "", render::figures(recording)))
        .table(table(
            "Counters",
            "What the reader's network namespace counted meanwhile, whatever else ran in it.",
            recording.counters.iter().map(|(name, count)| (name.as_str(), count.to_string())),
        ));
    if recording.trace.is_some() {
        let note = "Calls of the kernel's functions that look for room in a full receive buffer, on the whole machine.";
        let calls = render::traced(recording);
        figures = figures.table(table("Time in the kernel", note, calls));
    }
    let conditions = &recording.conditions;
    let given = [
        ("reader", Some(conditions.local.to_string())),
        ("sender", Some(conditions.remote.to_string())),
        ("kernel", Some(format!("Linux {}", conditions.kernel))),
        ("samples", Some(format!("every {}", time(conditions.interval_ms / 1e3)))),
        ("read at once", Some(bytes(conditions.buffer_bytes))),
        ("SO_RCVBUF", conditions.rcvbuf_bytes.map(bytes)),
        ("longhaul", Some(conditions.version.clone())),
    ];
    for (name, value) in given {
        figures = value.into_iter().fold(figures, |figures, value| figures.condition(name, value));
    }
    figures =
        conditions.settings.iter().fold(figures, |figures, (name, value)| figures.condition(name, value));
    figures = recording.warnings.iter().fold(figures, Figures::warning);
    recording.reasons.iter().fold(figures, Figures::invalid)
}

fn summary(recording: &Recording) -> String {
    let summary = &recording.summary;
    let mut sentences = Vec::new();
    if recording.ended != Ended::Complete {
        sentences.push(format!("{}.", capitalised(&render::ended(recording))));
    }
    let network = summary
        .network_mbps
        .map(|network| format!("{} arrived from the network in the fast phases.", render::range(network)));
    sentences.extend(
        network
            .or_else(|| Some(format!("{} was read in the fast phases.", render::range(summary.fast_mbps?)))),
    );
    if let Some(restart) = render::restart(summary) {
        sentences.push(format!("As fast again after a slow one: {restart}."));
    }
    sentences.push(format!("At most {} without a byte.", time(summary.max_pause_ms / 1e3)));
    sentences.join(" ")
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn banded(recording: &Recording, timeline: Timeline) -> Timeline {
    let band = |timeline: Timeline, phase: &Passage| {
        timeline.phase(&phase.phase, phase.t_s, phase.t_s + phase.duration_s)
    };
    recording.phases.iter().fold(timeline, band)
}

fn throughput(recording: &Recording) -> Timeline {
    Timeline::new("Throughput", Axis::linear("throughput", "Mbit/s"))
        .says("What came from the network in each second, in whatever order: counted in segments, so what a repair puts in order does not count twice.")
        .line(steps("network", &recording.seconds, |second| second.arrived_bytes.or(second.received_bytes)))
}

fn reading(recording: &Recording) -> Timeline {
    Timeline::new("Reading", Axis::linear("read", "Mbit/s"))
        .says("What the application read in each second. What has waited in the queue it reads from memory, faster than any path carries.")
        .line(steps("read", &recording.seconds, |second| Some(second.bytes)))
}

fn steps(name: &str, seconds: &[Second], bytes: impl Fn(&Second) -> Option<u64>) -> Line {
    let rate = |second: &Second| bytes(second).map(|bytes| whole(bytes) * 8.0 / 1e6 / second.duration_s);
    let mut points: Vec<_> = seconds.iter().map(|second| (second.t_s, rate(second))).collect();
    points.extend(seconds.last().map(|last| (last.t_s + last.duration_s, rate(last))));
    Line { look: Look::Steps, ..Line::new(name, points) }
}

fn line(name: &str, samples: &[Sample], value: impl Fn(&Sample) -> Option<f64>) -> Line {
    Line::new(name, samples.iter().map(|sample| (sample.t_ms / 1e3, value(sample))))
}

fn window(recording: &Recording) -> Timeline {
    let samples = &recording.samples;
    Timeline::new("Window", Axis::linear("window", "MB"))
        .says("What this end lets the sender send before the next acknowledgement, and what it would if the buffer were empty.")
        .line(line("window", samples, |sample| Some(megabytes(sample.tcp_info.as_ref()?.rcv_wnd?))))
        .line(line("limit", samples, |sample| Some(megabytes(sample.tcp_info.as_ref()?.rcv_ssthresh))).dashed())
}

fn queue(recording: &Recording) -> Timeline {
    let samples = &recording.samples;
    Timeline::new("Queue", Axis::linear("receive queue", "MB"))
        .says("What has come and was not read yet, the memory that it takes with the kernel's own data, and how much it may take.")
        .line(line("queue", samples, |sample| Some(megabytes(sample.receive_queue_bytes))))
        .line(line("memory", samples, |sample| Some(megabytes(sample.skmem?.rmem_alloc))))
        .line(line("buffer", samples, |sample| Some(megabytes(sample.skmem?.rcvbuf))).dashed())
}

fn round_trips(recording: &Recording) -> Timeline {
    let samples = &recording.samples;
    let estimate = |sample: &Sample| Some(sample.tcp_info.as_ref()?.rcv_rtt_us).filter(|us| *us > 0);
    Timeline::new("Round trips", Axis::linear("round trip", "ms"))
        .says("As the opening of the connection measured it, and as the receiver estimates it: its buffer is tuned by that.")
        .line(line("estimate", samples, |sample| estimate(sample).map(|us| f64::from(us) / 1e3)))
        .line(line("opening", samples, |sample| Some(f64::from(sample.tcp_info.as_ref()?.rtt_us) / 1e3)).dashed())
}

fn counters(recording: &Recording) -> Timeline {
    // A phase may end within a second, so `seconds` may have more entries.
    let last = recording.seconds.len().min(second_of(recording.summary.duration_s)).saturating_sub(1);
    let mut counted: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for sample in &recording.samples {
        for (name, count) in
            sample.counters.iter().flatten().filter(|(name, _)| recording.counters.contains_key(*name))
        {
            let counts = counted.entry(name).or_insert_with(|| vec![0.0; last + 1]);
            counts[second_of(sample.t_ms / 1e3).min(last)] += whole(*count);
        }
    }
    let timeline = Timeline::new("Counters", Axis::log("events", "a second")).says(
        "What the kernel did to make room, and what it had to drop. Those of the table that are missing here did not count.",
    );
    counted
        .into_iter()
        .fold(timeline, |timeline, (name, counts)| timeline.line(Line::steps(name, 0.0, 1.0, counts)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off where it cannot be")]
fn second_of(t_s: f64) -> usize {
    t_s as usize
}

fn table<'r>(title: &str, note: &str, rows: impl IntoIterator<Item = (&'r str, String)>) -> Table {
    let table = Table::new(title, [Column::text("what"), Column::number("value")]).note(note);
    rows.into_iter().fold(table, |table, (name, value)| table.row([name.trim().to_owned(), value]))
}

fn megabytes(bytes: u32) -> f64 {
    f64::from(bytes) / 1e6
}
