//! How much slower the second side is than the first, percentile by percentile, with its band and where the lead changes.

use super::{
    axis::Scale,
    band::{self, Along, draw_band},
    canvas::{Canvas, Point, Stroke},
    frame::Frame,
    heading::{finish, headed},
    labels::{Labels, Look, dense},
    palette::{INK, side, side_stroke},
    sentences::{interpolated, latency, name},
};
use crate::{
    model::{DifferenceCurve, Report},
    text::{self, percent},
};

/// The chart, if sides were compared; every other side against the first.
pub(super) fn draw(report: &Report) -> Option<String> {
    let curves: Vec<&DifferenceCurve> =
        report.differences.iter().filter(|curve| curve.share.len() > 1).collect();
    let first = *curves.first()?;
    let title = statement(first);
    let mut canvas = headed(report, &title, if first.ci_ms.is_empty() { "" } else { "band" });
    let x = Scale::nines(curves.iter().flat_map(|curve| curve.share.iter().copied()));
    let thick = report.comparison.sides.iter().map(|side| side.thin_above / 100.0).fold(1.0, f64::min);
    let frame = Frame { left: 78.0, top: 112.0, right: 930.0, bottom: 480.0, x, y: heights(&curves, thick) };
    let y_title = format!(
        "{} less {} (ms)",
        if curves.len() > 1 { "each side".to_owned() } else { name(&first.second) },
        name(&first.first)
    );
    frame.axes(&mut canvas, "percentile of requests (%)", &y_title);
    frame.line(&mut canvas, [(0.0, 0.0), (1.0, 0.0)], Stroke::new(INK, 1.2));
    for (index, curve) in curves.iter().enumerate() {
        draw_curve(&mut canvas, &frame, curve, index + 1, thick);
    }
    name_all(&mut canvas, &frame, report, &curves);
    let dotted = if thick < 1.0 { "dotted: fewer than 10 samples beyond" } else { "" };
    let pale = band::note(curves.iter().flat_map(|curve| curve.ci_ms.iter().copied()));
    let gap = if dotted.is_empty() || pale.is_empty() { "" } else { "; " };
    frame.note(&mut canvas, &format!("{dotted}{gap}{pale}"));
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

/// "steady is 44.1 ms slower at the median and 290 ms faster at p99".
fn statement(curve: &DifferenceCurve) -> String {
    let at = |share: f64| interpolated(&curve.share, &curve.difference_ms, share);
    let word = |ms: f64| if ms > 0.0 { "slower" } else { "faster" };
    let (median, tail) = (at(0.5), at(0.99));
    let conjunction = if median * tail < 0.0 { "but" } else { "and" };
    format!(
        "{} is {} ms {} than {} at the median, {conjunction} {} ms {} at p99",
        name(&curve.second),
        latency(median.abs()),
        word(median),
        name(&curve.first),
        latency(tail.abs()),
        word(tail)
    )
}

fn signed(curve: &DifferenceCurve, share: f64) -> String {
    text::difference(interpolated(&curve.share, &curve.difference_ms, share))
}

/// Holds the differences that enough samples stand behind, 0, and of the band what does not dwarf them.
fn heights(curves: &[&DifferenceCurve], thick: f64) -> Scale {
    let pairs = || curves.iter().flat_map(|curve| curve.share.iter().zip(&curve.difference_ms));
    let known: Vec<f64> = pairs().filter(|(share, _)| **share <= thick).map(|(_, &value)| value).collect();
    let values = if known.is_empty() { pairs().map(|(_, &value)| value).collect() } else { known };
    let ends = |pick: fn(f64, f64) -> f64| values.iter().copied().fold(0.0, pick);
    let (low, high) = (ends(f64::min), ends(f64::max));
    let room = (high - low) * 0.5;
    let bands = curves
        .iter()
        .flat_map(|curve| curve.share.iter().zip(&curve.ci_ms))
        .filter(|(share, _)| **share <= thick);
    let bands = bands.flat_map(|(_, ci)| *ci).flatten().map(|end| end.clamp(low - room, high + room));
    // On either side of 0 there is room for a line of text.
    let text = (high - low) * 0.12;
    Scale::linear(bands.chain([low.min(-text), high.max(text)]))
}

fn draw_curve(canvas: &mut Canvas, frame: &Frame, curve: &DifferenceCurve, index: usize, thick: f64) {
    let intervals =
        curve.share.iter().copied().zip(curve.ci_ms.iter().copied()).filter(|(share, _)| *share < 1.0);
    draw_band(canvas, frame, &intervals.collect::<Vec<_>>(), Along::Y, side(index));
    let line = || {
        curve.share.iter().copied().zip(curve.difference_ms.iter().copied()).filter(|(share, _)| *share < 1.0)
    };
    let at_thick = (thick, interpolated(&curve.share, &curve.difference_ms, thick));
    let stroke = side_stroke(index, 2.5);
    if thick >= 1.0 {
        return frame.line(canvas, line(), stroke);
    }
    frame.line(canvas, line().filter(|(share, _)| *share < thick).chain([at_thick]), stroke);
    let tail = std::iter::once(at_thick).chain(line().filter(|(share, _)| *share > thick));
    frame.line(canvas, tail, Stroke { dashes: "3 4", ..stroke });
}

/// What lies above and below 0, each curve's side if there are several, and the crossovers.
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
        let ci = crossover
            .ci
            .map_or_else(String::new, |[low, high]| format!(" [{}, {}]", percent(low), percent(high)));
        let text =
            format!("p{}{ci}: {} faster above", percent(crossover.percentile), name(&crossover.faster_above));
        labels.place(canvas, &text, &[place], Look::default(), &[]);
    }
    // Each on its side of 0: from the edge of the frame inwards, at the left and then further right.
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
    if curves.len() > 1 {
        for (index, curve) in curves.iter().enumerate() {
            let look = Look { dot: Some(side(index + 1)), is_muted: false };
            let anchors: Vec<Point> = lines[index].iter().copied().rev().step_by(4).collect();
            labels.place(canvas, &name(&curve.second), &anchors, look, &[]);
        }
    }
}

/// So many crossovers have room for their names.
const CROSSOVERS: usize = 4;
