//! The expected experienced latency by the number of requests that a person needs, and where the
//! lead changes as pages grow.

use super::{
    axis::Scale,
    band,
    canvas::{Canvas, Point, Stroke, WIDTH},
    frame::Frame,
    heading::{finish, headed},
    labels::{Labels, Look, dense, end_labels},
    palette::{INK, MUTED, SURFACE, side, side_stroke},
    sentences::{hedged, latency, name, thin_from},
};
use crate::{
    model::{Ci, Report, SideIndependence},
    text::count,
};

pub(super) fn draw(report: &Report) -> Option<String> {
    let most = report.charts.iter().map(|chart| chart.experienced.len()).min().filter(|&most| most > 1)?;
    let leads = leads(report, most);
    let observed = observed(report, most);
    let verdicts = report.comparison.verdict.as_ref().and_then(|verdicts| verdicts.speed.as_ref());
    let verdict = verdicts.map(|verdicts| &verdicts.experienced);
    let title = contradiction(report, &observed)
        .unwrap_or_else(|| hedged(report, verdict, statement(report, &leads, most)));
    let mut canvas = headed(report, &title, "bars");
    let values =
        || report.charts.iter().flat_map(|chart| chart.experienced[..most].iter().map(|one| one.expected_ms));
    let described = report.comparison.sides.iter().filter_map(|side| side.figures.as_ref());
    let intervals = described.filter_map(|figures| figures.expected_experienced_ci_ms).flatten().flatten();
    let seen = observed.iter().flat_map(|one| [Some(one.ms), one.ci[0], one.ci[1]]).flatten();
    let x = Scale::Log { low: 1.0, high: most as f64 };
    let y = Scale::linear(values().chain(intervals).chain(seen));
    let frame = Frame { left: 78.0, top: 112.0, right: 780.0, bottom: 480.0, x, y }.roomy(0.0);
    let thin: Vec<f64> = (0..report.charts.len()).map(|side| thin_pages(report, side)).collect();
    let remark = if thin.iter().any(|&from| from <= most as f64) { THIN_PAGES } else { "" };
    let y_title = format!("expected experienced {} (ms)", report.metric);
    frame.axes(&mut canvas, "effective requests of a page", (&y_title, remark));
    mark_page(&mut canvas, &frame, report, most);
    for (index, &thin) in thin.iter().enumerate() {
        let line = curve(report, index, most).collect();
        band::draw_thinning(
            &mut canvas,
            &frame,
            line,
            |(requests, _)| requests,
            thin,
            side_stroke(index, 2.5),
        );
    }
    mark(&mut canvas, &frame, report, &leads, &observed, most);
    let ends = report.charts.iter().enumerate().map(|(index, chart)| {
        let last = chart.experienced[most - 1].expected_ms;
        (frame.at(1.0, last).1, chart.label.clone(), Some(side(index)))
    });
    end_labels(&mut canvas, &frame, &ends.collect::<Vec<_>>(), WIDTH - 8.0);
    Some(finish(report, canvas, &title, &figures(report, most)))
}

/// Above this, fewer than 10 samples decide the wait of the median person: thin_above^N = 1/2.
fn thin_pages(report: &Report, side: usize) -> f64 {
    let thin = thin_from(report, &[side]);
    if thin >= 1.0 { f64::INFINITY } else { 0.5_f64.ln() / thin.ln() }
}

struct Observed {
    side: usize,
    requests: usize,
    ms: f64,
    ci: Ci,
    model_ms: f64,
}

fn observed(report: &Report, most: usize) -> Vec<Observed> {
    let of = |(side, one): (usize, &SideIndependence)| {
        let pages = one.pages.as_ref().filter(|pages| pages.conclusive)?;
        let required = f64::from(pages.requests_median) * report.comparison.page.required;
        let requests = (1..=most)
            .min_by(|&a, &b| (a as f64 - required).abs().total_cmp(&(b as f64 - required).abs()))?;
        let ci = pages.observed_ci_ms.unwrap_or([None; 2]);
        Some(Observed { side, requests, ms: pages.observed_ms, ci, model_ms: pages.model_ms })
    };
    report.comparison.independence.sides.iter().enumerate().filter_map(of).collect()
}

/// Real pages take precedence over the model.
fn contradiction(report: &Report, observed: &[Observed]) -> Option<String> {
    let [a, b] = observed else { return None };
    let (real, model) = (a.ms - b.ms, a.model_ms - b.model_ms);
    if real * model >= 0.0 {
        return None;
    }
    let (faster, slower) = if real < 0.0 { (a, b) } else { (b, a) };
    let label = |one: &Observed| name(&report.charts[one.side].label);
    Some(format!(
        "On the real pages {} is faster ({} against {} ms); by the model of independent requests it is {}",
        label(faster),
        latency(faster.ms),
        latency(slower.ms),
        label(slower)
    ))
}

fn curve(report: &Report, index: usize, most: usize) -> impl Iterator<Item = (f64, f64)> {
    let entries = report.charts[index].experienced[..most].iter();
    entries.zip(1_u32..).map(|(one, requests)| (f64::from(requests), one.expected_ms))
}

fn leads(report: &Report, most: usize) -> Vec<(usize, usize)> {
    let best = |entry: usize| {
        let by = |&a: &usize, &b: &usize| {
            report.charts[a].experienced[entry]
                .expected_ms
                .total_cmp(&report.charts[b].experienced[entry].expected_ms)
        };
        (0..report.charts.len()).min_by(by).unwrap_or(0)
    };
    let mut leads: Vec<(usize, usize)> = Vec::new();
    for entry in 0..most {
        let side = best(entry);
        if leads.last().is_none_or(|(_, leader)| *leader != side) {
            leads.push((entry + 1, side));
        }
    }
    leads
}

fn statement(report: &Report, leads: &[(usize, usize)], most: usize) -> String {
    let label = |side: usize| name(&report.charts[side].label);
    let best = if report.charts.len() > 2 { "fastest" } else { "faster" };
    match leads {
        _ if report.charts.len() == 1 => {
            let ends = [0, most - 1].map(|entry| latency(report.charts[0].experienced[entry].expected_ms));
            format!("From {} ms for one request to {} ms for a page of {most}", ends[0], ends[1])
        }
        [(_, always)] => {
            format!(
                "{} is {best} for pages of every size up to {} requests",
                label(*always),
                count(most as u64)
            )
        }
        [(_, small), (from, large)] => {
            let up_to =
                if *from == 2 { "one request".to_owned() } else { format!("up to {} requests", from - 1) };
            format!("{} is {best} for {up_to}, {} for pages of {from} and more", label(*small), label(*large))
        }
        many => {
            let (from, last) = many[many.len() - 1];
            format!(
                "The {best} side changes {} times as pages grow; from {from} requests on it is {}",
                many.len() - 1,
                label(last)
            )
        }
    }
}

fn mark_page(canvas: &mut Canvas, frame: &Frame, report: &Report, most: usize) {
    let requests = report.comparison.page.effective_requests;
    if requests as usize > most || requests <= 1 {
        return;
    }
    let x = f64::from(requests);
    let Scale::Linear { low, high } = frame.y else { return };
    frame.line(canvas, [(x, low), (x, high)], Stroke { dashes: "6 4", ..Stroke::new(MUTED, 1.2) });
    for (index, one) in report.comparison.sides.iter().enumerate() {
        let figures = one.figures.as_ref();
        let Some(ci) = figures.and_then(|figures| figures.expected_experienced_ci_ms) else { continue };
        let (from, to) = (ci[0].unwrap_or(low).max(low), ci[1].unwrap_or(high).min(high));
        frame.line(canvas, [(x, from), (x, to)], Stroke { opacity: 0.45, ..Stroke::new(side(index), 9.0) });
    }
}

fn mark(
    canvas: &mut Canvas,
    frame: &Frame,
    report: &Report,
    leads: &[(usize, usize)],
    observed: &[Observed],
    most: usize,
) {
    let mut lines: Vec<Vec<Point>> =
        (0..report.charts.len()).map(|index| dense(&frame.places(curve(report, index, most)))).collect();
    let page = report.comparison.page.effective_requests;
    let has_page = page > 1 && page as usize <= most;
    let (page_x, _) = frame.at(f64::from(page), 0.0);
    if has_page {
        lines.push(dense(&[(page_x, frame.bottom), (page_x, frame.top)]));
    }
    let mut labels = Labels::new(frame, &lines);
    let mut named: Vec<(Point, String, bool)> = Vec::new();
    if report.charts.len() > 1 {
        for &(from, leader) in leads.iter().skip(1).take(MARKED) {
            let place = frame.at(from as f64, report.charts[leader].experienced[from - 1].expected_ms);
            canvas.dot(place, 5.5, INK, INK);
            named.push((place, format!("from {from} on: {}", name(&report.charts[leader].label)), false));
        }
    }
    for one in observed {
        let x = one.requests as f64;
        if let [Some(low), Some(high)] = one.ci {
            frame.line(canvas, [(x, low), (x, high)], Stroke::new(side(one.side), 1.5));
        }
        let place = frame.at(x, one.ms);
        canvas.dot(place, 5.5, SURFACE, side(one.side));
        let name = if one.side == observed[0].side { "real pages" } else { "" };
        named.push((place, name.to_owned(), true));
    }
    for (place, ..) in &named {
        labels.keep_off(*place, 6.5);
    }
    for (place, text, is_muted) in named.iter().filter(|(_, text, _)| !text.is_empty()) {
        labels.place(canvas, text, &[*place], Look { dot: None, is_muted: *is_muted }, &[]);
    }
    if has_page {
        let anchors: Vec<Point> =
            (0..10_u32).map(|i| (page_x, frame.top + 14.0 + 24.0 * f64::from(i))).collect();
        let look = Look { dot: None, is_muted: true };
        labels.place(canvas, &format!("this page: {page}"), &anchors, look, &[]);
    }
}

fn figures(report: &Report, most: usize) -> String {
    let sizes = [1, 10, 100, most];
    let at = |index: usize| {
        let values = sizes.iter().filter(|&&size| size <= most).map(|&size| {
            format!("{} ms for {size}", latency(report.charts[index].experienced[size - 1].expected_ms))
        });
        format!("{}: {}.", report.charts[index].label, values.collect::<Vec<_>>().join(", "))
    };
    (0..report.charts.len()).map(at).collect::<Vec<_>>().join(" ")
}

const THIN_PAGES: &str = "~ dotted: fewer than 10 samples decide";
const MARKED: usize = 3;
