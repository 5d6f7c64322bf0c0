//! Percentiles over time with the maximum: one panel per side, all with the same scales, faults as
//! labelled bands.

use super::{
    axis::Scale,
    canvas::{Canvas, Lettering, Stroke},
    frame::{Frame, fitted, width},
    heading::{finish, headed_with},
    labels::{Look, end_labels, write},
    palette::{FAULT, INK, side},
    panels::{MOST, Panel, panels},
    sentences::{THIN, latency, name},
};
use crate::{
    model::{FaultMark, OverTime, Report, Shift, SideCharts},
    text::{label, plural, rounded},
};

pub(super) fn draw(report: &Report) -> Option<String> {
    let charts = report.charts.iter().enumerate();
    let timed = charts.filter_map(|(index, chart)| {
        Some((index, chart.over_time.as_ref().filter(|over| !over.start_s.is_empty())?))
    });
    let timed: Vec<(usize, &OverTime)> = timed.take(MOST).collect();
    if timed.is_empty() {
        return None;
    }
    let title = statement(report, &timed);
    let mut canvas = headed_with(report, &title, &remark(report, &timed));
    let time = Time::spanning(&timed);
    let y = Scale::log(
        timed.iter().flat_map(|(_, over)| LINES.iter().flat_map(|line| (line.values)(over).iter().copied())),
    );
    for ((index, over), panel) in timed.iter().zip(panels(timed.len(), if timed.len() > 2 { 2 } else { 1 })) {
        let frame = frame(&panel, time.scale(), y).roomy(panel.left);
        let x_title = if panel.is_last_row { time.title() } else { String::new() };
        frame.axes(&mut canvas, &x_title, ("", ""));
        let text = format!("{}: {} (ms)", name(&report.charts[*index].label), report.metric);
        let free = name_panel(&mut canvas, &frame, &text, side(*index), panel.right);
        mark_faults(&mut canvas, &frame, &time, &report.faults, free);
        draw_lines(&mut canvas, &frame, over, *index, &time, panel.right);
        let shifts = report.comparison.sides.get(*index).map_or(&[][..], |side| &side.shifts);
        mark_shifts(&mut canvas, &frame, &time, shifts);
    }
    Some(finish(report, canvas, &title, ""))
}

fn remark(report: &Report, timed: &[(usize, &OverTime)]) -> String {
    let left_out = |chart: &SideCharts| chart.over_time.as_ref().map_or(0, |over| over.left_out);
    let left_out: u64 = report.charts.iter().map(left_out).sum();
    let mut said = timed.first().map_or_else(Vec::new, |(_, over)| vec![intervals_of(over.interval_s)]);
    if left_out > 0 {
        said.push(format!("{} of partial ones left out", plural(left_out, "sample")));
    }
    if timed.iter().any(|(_, over)| LINES.iter().any(|line| line.is_thin(over))) {
        said.push("~ fewer than 10 samples beyond".to_owned());
    }
    said.join("; ")
}

pub(super) fn intervals_of(interval_s: f64) -> String {
    format!("intervals of {} s", rounded(interval_s, 6))
}

pub(super) struct Time {
    start_s: f64,
    end_s: f64,
    unit: (&'static str, f64),
}

impl Time {
    pub(super) fn new(start_s: f64, end_s: f64) -> Self {
        let unit = match end_s - start_s {
            ..=300.0 => ("s", 1.0),
            ..=21_600.0 => ("min", 60.0),
            _ => ("h", 3600.0),
        };
        Self { start_s, end_s, unit }
    }

    fn spanning(timed: &[(usize, &OverTime)]) -> Self {
        let starts = timed.iter().filter_map(|(_, over)| over.start_s.first().copied());
        let ends = timed.iter().filter_map(|(_, over)| Some(over.start_s.last()? + over.interval_s));
        Self::new(starts.fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max))
    }

    pub(super) fn scale(&self) -> Scale {
        Scale::Linear { low: self.value(self.start_s), high: self.value(self.end_s) }
    }

    pub(super) fn value(&self, seconds: f64) -> f64 {
        seconds / self.unit.1
    }

    pub(super) fn title(&self) -> String {
        format!("time since the start ({})", self.unit.0)
    }

    fn moment(&self, seconds: f64) -> String {
        let value = self.value(seconds);
        if value.fract() == 0.0 {
            format!("{value} {}", self.unit.0)
        } else {
            format!("{value:.1} {}", self.unit.0)
        }
    }
}

fn statement(report: &Report, timed: &[(usize, &OverTime)]) -> String {
    let time = Time::spanning(timed);
    let peak = |over: &OverTime| over.max_ms.iter().copied().fold(0.0, f64::max);
    let mut timed = timed.to_vec();
    if timed.len() > 2 {
        timed.sort_by(|(_, a), (_, b)| peak(b).total_cmp(&peak(a)));
    }
    let slowest = |(index, over): &(usize, &OverTime)| {
        let at = (0..over.max_ms.len()).max_by(|&a, &b| over.max_ms[a].total_cmp(&over.max_ms[b]))?;
        let label = name(&report.charts[*index].label);
        Some(format!(
            "{} ms with {label} at {}",
            latency(over.max_ms[at]),
            time.moment(*over.start_s.get(at)?)
        ))
    };
    let sides: Vec<_> = timed.iter().filter_map(slowest).collect();
    match &sides[..] {
        [one, other] => format!("The slowest request took {one}, {other}"),
        _ => format!("The slowest request of all took {}", sides.first().map_or("", String::as_str)),
    }
}

pub(super) fn frame(panel: &Panel, x: Scale, y: Scale) -> Frame {
    Frame {
        left: panel.left + 62.0,
        top: panel.top + 36.0,
        right: panel.right - 58.0,
        bottom: panel.bottom - 20.0,
        x,
        y,
    }
}

/// Returns where the name ends.
pub(super) fn name_panel(
    canvas: &mut Canvas,
    frame: &Frame,
    text: &str,
    dot: &'static str,
    edge: f64,
) -> f64 {
    let left = frame.title_start();
    let text = fitted(text, 15.0, edge - left - 27.0);
    write(canvas, &text, (left, frame.top - 14.0), Look { dot: Some(dot), is_muted: false });
    left + 27.0 + width(&text, 15.0)
}

fn draw_lines(canvas: &mut Canvas, frame: &Frame, over: &OverTime, index: usize, time: &Time, edge: f64) {
    for line in &LINES {
        let stroke = Stroke { opacity: line.opacity, ..Stroke::new(side(index), line.width) };
        for run in runs(over) {
            let middle = |at: usize| time.value(over.start_s[at] + over.interval_s / 2.0);
            let points = run.clone().filter_map(|at| Some((middle(at), *(line.values)(over).get(at)?)));
            if run.len() == 1 {
                for place in frame.places(points) {
                    canvas.dot(place, 2.0, side(index), side(index));
                }
            } else {
                frame.line(canvas, points, stroke);
            }
        }
    }
    // The maximum first: where lines meet, names keep this order from the top.
    let ends = LINES.iter().rev().filter_map(|line| {
        let last = (line.values)(over).last()?;
        let mark = if line.is_thin(over) { THIN } else { "" };
        Some((frame.at(0.0, *last).1, format!("{}{mark}", line.name), None))
    });
    end_labels(canvas, frame, &ends.collect::<Vec<_>>(), edge);
}

/// Runs of intervals without gaps: a line across a gap would claim samples there.
fn runs(over: &OverTime) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for at in 0..over.start_s.len() {
        match runs.last_mut() {
            Some(run) if over.start_s[at] - over.start_s[at - 1] <= over.interval_s * 1.5 => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn mark_faults(canvas: &mut Canvas, frame: &Frame, time: &Time, faults: &[FaultMark], mut free: f64) {
    for fault in faults {
        let Some((left, right)) = span_of_fault(frame, time, fault) else { continue };
        canvas.area(
            &[(left, frame.top), (right, frame.top), (right, frame.bottom), (left, frame.bottom)],
            FAULT,
            0.16,
        );
        free = name_fault(canvas, frame, fault, left, free);
    }
}

pub(super) fn span_of_fault(frame: &Frame, time: &Time, fault: &FaultMark) -> Option<(f64, f64)> {
    let until_s = fault.until_s.unwrap_or(time.end_s).min(time.end_s);
    if fault.at_s >= time.end_s || until_s < time.start_s {
        return None;
    }
    let left = frame.at(time.value(fault.at_s.max(time.start_s)), 0.0).0;
    Some((left, frame.at(time.value(until_s), 0.0).0.max(left + 1.0)))
}

/// Leaves out a name that does not fit after `free`. Returns its end.
pub(super) fn name_fault(canvas: &mut Canvas, frame: &Frame, fault: &FaultMark, left: f64, free: f64) -> f64 {
    let text = label(&fault.label, 40);
    let end = left + 5.0 + width(&text, 13.0);
    if left < free || end > frame.right + 50.0 {
        return free;
    }
    canvas.line(&[(left, frame.top - 18.0), (left, frame.bottom)], Stroke::new(FAULT, 1.2));
    canvas.text((left + 5.0, frame.top - 12.0), &text, Lettering::muted(13.0));
    end + 12.0
}

pub(super) fn mark_shifts(canvas: &mut Canvas, frame: &Frame, time: &Time, shifts: &[Shift]) {
    let mut free = f64::NEG_INFINITY;
    for shift in shifts {
        let (x, _) = frame.at(time.value(shift.at_s), 0.0);
        if !(frame.left..=frame.right).contains(&x) {
            continue;
        }
        canvas.line(&[(x, frame.top), (x, frame.bottom)], Stroke { dashes: "6 4", ..Stroke::new(INK, 1.2) });
        let text = format!("median {} to {} ms", latency(shift.before_ms), latency(shift.after_ms));
        let needed = width(&text, 13.0) + 12.0;
        let start = (x + 6.0).min(frame.right - needed);
        if start >= free {
            canvas.text((start, frame.top + 10.0), &text, Lettering { halo: true, ..Lettering::new(13.0) });
            free = start + needed;
        }
    }
}

struct Line {
    name: &'static str,
    /// Samples that an interval needs so that ten lie beyond: 10/(1 - share).
    needs: u64,
    values: fn(&OverTime) -> &Vec<f64>,
    width: f64,
    opacity: f64,
}

impl Line {
    /// In the median interval.
    fn is_thin(&self, over: &OverTime) -> bool {
        let mut counts = over.count.clone();
        counts.sort_unstable();
        counts.get(counts.len() / 2).is_some_and(|&count| count < self.needs)
    }
}

const LINES: [Line; 4] = [
    Line { name: "p50", needs: 20, values: |over| &over.p50_ms, width: 2.8, opacity: 1.0 },
    Line { name: "p90", needs: 100, values: |over| &over.p90_ms, width: 2.0, opacity: 0.85 },
    Line { name: "p99", needs: 1000, values: |over| &over.p99_ms, width: 1.6, opacity: 0.7 },
    Line { name: "max", needs: 0, values: |over| &over.max_ms, width: 1.2, opacity: 0.55 },
];
