//! How much slower the second side is than the first, by percentile, with its band and the
//! crossovers.

use super::{
    axis::Scale,
    band::{self, Along, draw_band},
    canvas::{Canvas, Point, Stroke},
    frame::Frame,
    heading::{finish, headed},
    labels::{Labels, Look, dense},
    palette::{INK, side, side_stroke},
    sentences::{self, THIN, interpolated, latency, name, thin_from},
};
use crate::{
    model::{DifferenceCurve, Report},
    text::{self, percent},
};

pub(super) fn draw(report: &Report) -> Option<String> {
    let curves: Vec<&DifferenceCurve> =
        report.differences.iter().filter(|curve| curve.share.len() > 1).collect();
    let first = *curves.first()?;
    let sides: Vec<usize> = (0..report.comparison.sides.len()).collect();
    let thick = thin_from(report, &sides);
    let title = statement(first, thick);
    let mut canvas = headed(report, &title, if first.ci_ms.is_empty() { "" } else { "band" });
    let x = Scale::nines(curves.iter().flat_map(|curve| curve.share.iter().copied()));
    let y = heights(&curves, thick);
    let frame = Frame { left: 78.0, top: 112.0, right: 930.0, bottom: 480.0, x, y }.roomy(0.0);
    let y_title = format!(
        "{} less {} (ms)",
        if curves.len() > 1 { "each side".to_owned() } else { name(&first.second) },
        name(&first.first)
    );
    let thin = if thick < 1.0 { band::THIN_LINE } else { "" };
    let pale = band::note(curves.iter().flat_map(|curve| curve.ci_ms.iter().copied()));
    let gap = if thin.is_empty() || pale.is_empty() { "" } else { "; " };
    frame.axes(&mut canvas, "percentile of requests (%)", (&y_title, &format!("{thin}{gap}{pale}")));
    frame.line(&mut canvas, [(0.0, 0.0), (1.0, 0.0)], Stroke::new(INK, 1.2));
    for (index, curve) in curves.iter().enumerate() {
        draw_curve(&mut canvas, &frame, curve, index + 1, thick);
    }
    name_all(&mut canvas, &frame, report, &curves);
    let figures: Vec<_> = [0.5, 0.9, 0.99]
        .iter()
        .map(|&share| format!("{} ms at p{}", signed(first, share), percent(share * 100.0)))
        .collect();
    Some(finish(
        report,
        canvas,
        &title,
        &format!("{} less {}: {}.", first.second, first.first, figures.join(", ")),
    ))
}

/// If the interval contains 0, neither side is called faster.
fn statement(curve: &DifferenceCurve, thick: f64) -> String {
    let (first, second) = (name(&curve.first), name(&curve.second));
    let mark = |share: f64| if share >= thick { THIN } else { "" };
    let (half, p99) = (format!("the median{}", mark(0.5)), format!("p99{}", mark(0.99)));
    match (Relation::at(curve, 0.5), Relation::at(curve, 0.99)) {
        (Relation::Level, Relation::Level) => {
            format!("{second} and {first} are level at {half} and at {p99}")
        }
        (Relation::Unclear, Relation::Unclear) => {
            format!("{second} and {first} do not clearly differ at {half} nor at {p99}")
        }
        (Relation::By(median), Relation::By(tail)) => {
            let conjunction = if median * tail < 0.0 { "but" } else { "and" };
            let (median, tail) = (Relation::By(median).word(), Relation::By(tail).word());
            format!("{second} is {median} than {first} at {half}, {conjunction} {tail} at {p99}")
        }
        (median, tail) => {
            let against = if let Relation::By(_) = median { "than" } else { "with" };
            let against = if let Relation::Unclear = median { "from" } else { against };
            format!("{second} is {} {against} {first} at {half}, and {} at {p99}", median.word(), tail.word())
        }
    }
}

enum Relation {
    By(f64),
    Level,
    Unclear,
}

impl Relation {
    fn at(curve: &DifferenceCurve, share: f64) -> Self {
        let at = |values: &[f64]| interpolated(&curve.share, values, share);
        let end = |of: usize| {
            let ends: Vec<f64> = curve.ci_ms.iter().map(|ci| ci[of].unwrap_or(f64::NAN)).collect();
            at(&ends)
        };
        match at(&curve.difference_ms) {
            0.0 => Self::Level,
            _ if !(curve.ci_ms.is_empty() || end(0) > 0.0 || end(1) < 0.0) => Self::Unclear,
            by => Self::By(by),
        }
    }

    fn word(&self) -> String {
        match self {
            Self::By(ms) => {
                format!("{} ms {}", latency(ms.abs()), if *ms > 0.0 { "slower" } else { "faster" })
            }
            Self::Level => "level".to_owned(),
            Self::Unclear => "not clearly different".to_owned(),
        }
    }
}

fn signed(curve: &DifferenceCurve, share: f64) -> String {
    text::difference(interpolated(&curve.share, &curve.difference_ms, share))
}

/// Cuts a tail of few samples that would dwarf the rest; [`name_all`] writes its extent.
fn heights(curves: &[&DifferenceCurve], thick: f64) -> Scale {
    let ends = |most: f64| {
        let pairs = curves.iter().flat_map(|curve| curve.share.iter().zip(&curve.difference_ms));
        let values = pairs.filter(|(share, _)| **share < 1.0 && **share <= most).map(|(_, value)| *value);
        values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (known, all) = (ends(thick), ends(1.0));
    let range = |(low, high): (f64, f64)| high - low;
    let is_dwarfed = range(known) > 0.0 && range(all) > DWARFED * range(known);
    let (low, high) = if is_dwarfed { known } else { all };
    if low == high {
        return Scale::Linear { low: -1.0, high: 1.0 };
    }
    let room = (high - low) * 0.5;
    let bands = curves.iter().flat_map(|curve| curve.ci_ms.iter().copied());
    let bands = bands.flatten().flatten().map(|end| end.clamp(low - room, high + room));
    let text = (high - low) * 0.12;
    Scale::linear(bands.chain([low.min(-text), high.max(text)]))
}

fn draw_curve(canvas: &mut Canvas, frame: &Frame, curve: &DifferenceCurve, index: usize, thick: f64) {
    let intervals =
        curve.share.iter().copied().zip(curve.ci_ms.iter().copied()).filter(|(share, _)| *share < 1.0);
    draw_band(canvas, frame, &intervals.collect::<Vec<_>>(), Along::Y, side(index));
    let line: Vec<(f64, f64)> =
        curve.share.iter().copied().zip(curve.difference_ms.iter().copied()).collect();
    let line = line.into_iter().filter(|(share, _)| *share < 1.0);
    band::draw_thinning(canvas, frame, line.collect(), |(share, _)| share, thick, side_stroke(index, 2.5));
}

fn name_all(canvas: &mut Canvas, frame: &Frame, report: &Report, curves: &[&DifferenceCurve]) {
    let places = |curve: &DifferenceCurve| {
        let line = curve
            .share
            .iter()
            .copied()
            .zip(curve.difference_ms.iter().copied())
            .filter(|(share, _)| *share < 1.0);
        dense(&frame.places(line))
    };
    let (_, zero) = frame.at(0.0, 0.0);
    let mut lines: Vec<Vec<Point>> = curves.iter().map(|curve| places(curve)).collect();
    lines.push(dense(&[(frame.left, zero), (frame.right, zero)]));
    let mut labels = Labels::new(frame, &lines);
    let mut named = Vec::new();
    for crossover in report.comparison.crossovers.iter().take(CROSSOVERS) {
        let place = frame.at(crossover.percentile / 100.0, 0.0);
        if let Some([low, high]) = crossover.ci {
            frame.line(
                canvas,
                [(low / 100.0, 0.0), (high / 100.0, 0.0)],
                Stroke { opacity: 0.5, ..Stroke::new(INK, 7.0) },
            );
        }
        canvas.dot(place, 5.0, INK, INK);
        labels.keep_off(place, 6.0);
        let ci = crossover.ci.map_or_else(String::new, |[low, high]| {
            format!(" [{}, {}]", sentences::place(low), sentences::place(high))
        });
        let text = format!(
            "p{}{ci}: {} faster above",
            sentences::place(crossover.percentile),
            name(&crossover.faster_above)
        );
        named.push((place, text));
    }
    for (place, text) in named {
        labels.place(canvas, &text, &[place], Look::default(), &[]);
    }
    let along = |edge: f64| {
        let step = 14.0_f64.copysign(zero - edge);
        let rows = |x: f64| {
            (0..20_u32)
                .map(move |i| (x, edge + step * f64::from(i)))
                .take_while(|(_, y)| (zero - y).abs() > 14.0)
        };
        (0..20_u32)
            .flat_map(|i| rows(frame.left + 24.0 * f64::from(i)).collect::<Vec<_>>())
            .collect::<Vec<Point>>()
    };
    let (above, below) = match curves {
        [one] => (
            format!("above 0 {} is faster", name(&one.first)),
            format!("below 0 {} is faster", name(&one.second)),
        ),
        _ => (
            format!("above 0 {} is faster", name(&curves[0].first)),
            "below 0 the other is faster".to_owned(),
        ),
    };
    let muted = Look { dot: None, is_muted: true };
    labels.place(canvas, &above, &along(frame.top), muted, &[]);
    labels.place(canvas, &below, &along(frame.bottom), muted, &[]);
    for (index, curve) in curves.iter().enumerate() {
        let goes_to = curve.share.iter().rposition(|&share| share < 1.0).map(|at| curve.difference_ms[at]);
        let (Some(goes_to), Some(&seen)) = (goes_to, lines[index].iter().rfind(|place| frame.holds(**place)))
        else {
            continue;
        };
        if !frame.holds(frame.at(0.0, goes_to)) {
            let look = Look { dot: (curves.len() > 1).then(|| side(index + 1)), is_muted: true };
            labels.place(canvas, &format!("goes to {} ms~", text::difference(goes_to)), &[seen], look, &[]);
        }
    }
    if curves.len() > 1 {
        for (index, curve) in curves.iter().enumerate() {
            let look = Look { dot: Some(side(index + 1)), is_muted: false };
            let anchors: Vec<Point> = lines[index].iter().copied().rev().step_by(4).collect();
            labels.place(canvas, &name(&curve.second), &anchors, look, &[]);
        }
    }
}

/// A tail of few samples may stretch the chart to this multiple of the rest.
const DWARFED: f64 = 4.0;
const CROSSOVERS: usize = 4;
