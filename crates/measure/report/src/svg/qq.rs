//! QQ of the first two sides: a point (first, second) for each percentile. The effective QQ is the
//! same for what visitors of the page experience.

use super::{
    axis::Scale,
    canvas::{Anchor, Canvas, Lettering, Point, Stroke},
    frame::{Frame, fitted, width},
    heading::{finish, headed},
    labels::{Labels, Look, dense, write},
    palette::{INK, MUTED, SURFACE, side},
    sentences::{THIN, faster, hedged, interpolated, latency, name, quantile},
};
use crate::model::{Report, SideCharts};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Of {
    Requests,
    Visitors,
}

pub(super) fn draw(report: &Report, of: Of) -> Option<String> {
    let [first, second, ..] = &report.charts[..] else { return None };
    let requests = match of {
        Of::Requests => 1,
        Of::Visitors => report.comparison.page.effective_requests,
    };
    if of == Of::Visitors && requests <= 1 {
        return None;
    }
    let whose = match of {
        Of::Requests => "requests",
        Of::Visitors => "visitors",
    };
    let verdicts = report.comparison.verdict.as_ref().and_then(|verdicts| verdicts.speed.as_ref());
    let pair = report.comparison.pairs.first();
    let verdict = match of {
        Of::Requests => pair.map(|pair| &pair.request).or(verdicts.map(|one| &one.request)),
        Of::Visitors => pair.map(|pair| &pair.experienced).or(verdicts.map(|one| &one.experienced)),
    };
    let title = hedged(report, verdict, faster(report, requests, whose));
    let pairs = Pairs { first, second, requests };
    let mut canvas = headed(report, &title, if pairs.intervals(0.5).is_some() { "crosses" } else { "" });
    let curve = pairs.curve();
    let scale = Scale::log(curve.iter().flat_map(|&(_, a, b)| [a, b]));
    let frame = Frame { left: 78.0, top: 112.0, right: 540.0, bottom: 480.0, x: scale, y: scale }.roomy(0.0);
    let experienced = if of == Of::Visitors { ", experienced" } else { "" };
    let axis_title =
        |side: &SideCharts| format!("{}: {}{experienced} (ms)", name(&side.label), report.metric);
    frame.axes(&mut canvas, &axis_title(first), (&axis_title(second), ""));
    let thin_above = thin_above(report, of);
    draw_pairs(&mut canvas, &frame, &pairs, thin_above);
    let figures = table(&mut canvas, &pairs, whose, thin_above);
    Some(finish(report, canvas, &title, &figures))
}

struct Pairs<'r> {
    first: &'r SideCharts,
    second: &'r SideCharts,
    requests: u32,
}

impl Pairs<'_> {
    fn request_share(&self, people: f64) -> f64 {
        people.powf(1.0 / f64::from(self.requests))
    }

    fn at(&self, people: f64) -> (f64, f64) {
        let share = self.request_share(people);
        (quantile(&self.first.quantiles, share), quantile(&self.second.quantiles, share))
    }

    fn curve(&self) -> Vec<(f64, f64, f64)> {
        let first = if self.requests > 1 { FIRST_SHARE } else { 0.0 };
        let lowest = self.request_share(first);
        let mut shares = [&self.first.quantiles.share[..], &self.second.quantiles.share[..]].concat();
        shares.retain(|&share| share > lowest);
        shares.push(lowest);
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        let pair = |share: f64| {
            (share, quantile(&self.first.quantiles, share), quantile(&self.second.quantiles, share))
        };
        shares.into_iter().map(pair).collect()
    }

    fn intervals(&self, people: f64) -> Option<[[f64; 2]; 2]> {
        let share = self.request_share(people);
        let interval = |side: &SideCharts| {
            let band = side.band.as_ref()?;
            let end = |of: usize, open: f64| {
                let values: Vec<f64> = band.ci_ms.iter().map(|ci| ci[of].unwrap_or(f64::NAN)).collect();
                let end = interpolated(&band.share, &values, share);
                if end.is_nan() { open } else { end }
            };
            Some([end(0, 0.0), end(1, f64::MAX)])
        };
        Some([interval(self.first)?, interval(self.second)?])
    }
}

fn draw_pairs(canvas: &mut Canvas, frame: &Frame, pairs: &Pairs, thin_above: f64) {
    let Scale::Log { low, high } = frame.x else { return };
    frame.line(canvas, [(low, low), (high, high)], Stroke { dashes: "6 4", ..Stroke::new(MUTED, 1.2) });
    let curve = || pairs.curve().into_iter().map(|(_, a, b)| (a, b));
    frame.line(canvas, curve(), Stroke::new(MUTED, 1.5));
    for &percent in &LABELLED {
        cross(canvas, frame, pairs, percent / 100.0);
    }
    for percent in 1..100 {
        dot(canvas, frame, pairs, f64::from(percent), 2.0, thin_above);
    }
    let lines = [frame.places(curve()), vec![(frame.left, frame.bottom), (frame.right, frame.top)]];
    let mut labels = Labels::new(frame, &lines.map(|line| dense(&line)));
    let dots: Vec<(f64, Point)> = LABELLED
        .iter()
        .map(|&percent| (percent, dot(canvas, frame, pairs, percent, 5.5, thin_above)))
        .collect();
    for (_, place) in &dots {
        labels.keep_off(*place, 7.0);
    }
    for together in dots.chunk_by(|(_, one), (_, next)| (one.0 - next.0).hypot(one.1 - next.1) < 8.0) {
        let (Some((low, place)), Some((high, _))) = (together.first(), together.last()) else { continue };
        let mark = if *high >= thin_above { THIN } else { "" };
        let until = if together.len() > 1 { format!(" to p{high}") } else { String::new() };
        labels.place(canvas, &format!("p{low}{until}{mark}"), &[*place], Look::default(), &[]);
    }
    let corner =
        |x: f64, y: f64, step: f64| (0..12_u32).map(|i| (x, y + step * f64::from(i))).collect::<Vec<Point>>();
    let faster = |side: &SideCharts| format!("{} faster", name(&side.label));
    let look = |index| Look { dot: Some(side(index)), is_muted: true };
    labels.place(canvas, &faster(pairs.first), &corner(frame.left, frame.top, 10.0), look(0), &[]);
    labels.place(canvas, &faster(pairs.second), &corner(frame.right, frame.bottom, -10.0), look(1), &[]);
}

fn dot(
    canvas: &mut Canvas,
    frame: &Frame,
    pairs: &Pairs,
    percent: f64,
    radius: f64,
    thin_above: f64,
) -> Point {
    let (a, b) = pairs.at(percent / 100.0);
    let place = frame.at(a, b);
    let color = match a.total_cmp(&b) {
        std::cmp::Ordering::Less => side(0),
        std::cmp::Ordering::Equal => MUTED,
        std::cmp::Ordering::Greater => side(1),
    };
    canvas.dot(place, radius, if percent >= thin_above { SURFACE } else { color }, color);
    place
}

fn cross(canvas: &mut Canvas, frame: &Frame, pairs: &Pairs, people: f64) {
    let (Some([[left, right], [bottom, top]]), (a, b)) = (pairs.intervals(people), pairs.at(people)) else {
        return;
    };
    let Scale::Log { low, high } = frame.x else { return };
    let held = |value: f64| value.clamp(low, high);
    let stroke = |from: f64, to: f64| {
        let dashes = if from <= 0.0 || to >= f64::MAX { "2 4" } else { "" };
        Stroke { opacity: 0.55, dashes, ..Stroke::new(INK, 1.5) }
    };
    frame.line(canvas, [(held(left), b), (held(right), b)], stroke(left, right));
    frame.line(canvas, [(a, held(bottom)), (a, held(top))], stroke(bottom, top));
}

fn table(canvas: &mut Canvas, pairs: &Pairs, whose: &str, thin_above: f64) -> String {
    let (columns, mut y) = ([690.0, 812.0, 930.0], 150.0);
    let end = |text: Lettering| Lettering { anchor: Anchor::End, ..text };
    canvas.text((600.0, y), whose, Lettering::muted(15.0));
    for (index, side_charts) in [pairs.first, pairs.second].into_iter().enumerate() {
        let text = fitted(&side_charts.label, 15.0, 96.0);
        let left = columns[index + 1] - width(&text, 15.0) - 15.0;
        write(canvas, &text, (left, y), Look { dot: Some(side(index)), is_muted: false });
    }
    let mut figures = Vec::new();
    for &percent in &LABELLED {
        y += 34.0;
        let (a, b) = pairs.at(percent / 100.0);
        let mark = if percent >= thin_above { THIN } else { "" };
        canvas.text((600.0, y), &format!("p{percent}{mark}"), Lettering::new(17.0));
        for (index, value, is_less) in [(1, a, a < b), (2, b, b < a)] {
            let weight = if is_less { 700 } else { 400 };
            canvas.text(
                (columns[index], y),
                &latency(value),
                end(Lettering { weight, ..Lettering::new(17.0) }),
            );
        }
        figures.push(format!("p{percent} {} and {} ms", latency(a), latency(b)));
    }
    y += 36.0;
    canvas.text((600.0, y), "in ms; the faster in bold", Lettering::muted(14.0));
    if LABELLED.iter().any(|&percent| percent >= thin_above) {
        y += 22.0;
        canvas.text((600.0, y), "~ and hollow: fewer than 10 samples beyond", Lettering::muted(14.0));
    }
    format!("{} and {}: {}.", pairs.first.label, pairs.second.label, figures.join(", "))
}

fn thin_above(report: &Report, of: Of) -> f64 {
    let sides = report.comparison.sides.iter().take(2).filter_map(|side| side.figures.as_ref());
    let thin = sides.map(|figures| match of {
        Of::Requests => figures.thin_above,
        Of::Visitors => figures.experienced_thin_above,
    });
    thin.fold(100.0, f64::min)
}

const LABELLED: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// The effective QQ starts here: the part below is irrelevant and would squeeze the rest.
const FIRST_SHARE: f64 = 0.001;
