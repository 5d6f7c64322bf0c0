//! The CDF of all sides: latency on x, the share of requests completed by then on y, in percent or
//! in nines.

use super::{
    axis::Scale,
    band::{self, Along, draw_band},
    canvas::{Canvas, Point},
    frame::Frame,
    heading::{finish, headed},
    labels::{Labels, Look, dense},
    palette::{side, side_stroke},
    sentences::{latencies, name, thin_from},
};
use crate::model::{Band, Ci, Report, SideCharts};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Axis {
    Percent,
    Nines,
}

impl Axis {
    fn scale(self, report: &Report) -> Scale {
        match self {
            Self::Percent => Scale::Linear { low: 0.0, high: 100.0 },
            Self::Nines => {
                Scale::nines(report.charts.iter().flat_map(|chart| chart.quantiles.share.iter().copied()))
            }
        }
    }

    /// `None` for the slowest sample, which no number of nines reaches.
    fn value(self, share: f64) -> Option<f64> {
        match self {
            Self::Percent => Some(share * 100.0),
            Self::Nines => (share < 1.0).then_some(share),
        }
    }
}

pub(super) fn draw(report: &Report, axis: Axis) -> Option<String> {
    if report.charts.is_empty() {
        return None;
    }
    let title = match axis {
        Axis::Percent => format!("Half of the requests take up to {}", latencies(report, 0.5)),
        Axis::Nines => format!("One request in a hundred takes over {}", latencies(report, 0.99)),
    };
    let mut canvas =
        headed(report, &title, if report.charts.iter().any(|one| one.band.is_some()) { "bands" } else { "" });
    let latency = report.charts.iter().flat_map(|chart| chart.quantiles.latency_ms.iter().copied());
    let (x, y) = (Scale::log(latency), axis.scale(report));
    let frame = Frame { left: 78.0, top: 112.0, right: 930.0, bottom: 480.0, x, y }.roomy(0.0);
    let sides: Vec<usize> = (0..report.charts.len()).collect();
    let thin = if thin_from(report, &sides) < 1.0 { band::THIN_LINE } else { "" };
    let shown =
        report.charts.iter().filter_map(|chart| chart.band.as_ref()).flat_map(|band| intervals(band, axis));
    let pale = band::note(shown.map(|(_, ci)| ci));
    let gap = if thin.is_empty() || pale.is_empty() { "" } else { "; " };
    let remark = format!("{thin}{gap}{pale}");
    frame.axes(&mut canvas, &format!("{} (ms)", report.metric), ("percentile of requests (%)", &remark));
    for (index, chart) in report.charts.iter().enumerate() {
        if let Some(band) = &chart.band {
            draw_band(&mut canvas, &frame, &intervals(band, axis), Along::X, side(index));
        }
    }
    for (index, chart) in report.charts.iter().enumerate() {
        let share_of = |(_, height): (f64, f64)| if axis == Axis::Percent { height / 100.0 } else { height };
        let (line, thin) = (curve(chart, axis).collect(), thin_from(report, &[index]));
        band::draw_thinning(&mut canvas, &frame, line, share_of, thin, side_stroke(index, 2.5));
    }
    name_lines(&mut canvas, &frame, report, axis);
    let figures =
        format!("99 % take up to {}; 99.9 % up to {}.", latencies(report, 0.99), latencies(report, 0.999));
    Some(finish(report, canvas, &title, &figures))
}

fn curve(chart: &SideCharts, axis: Axis) -> impl Iterator<Item = (f64, f64)> {
    let points = chart.quantiles.latency_ms.iter().zip(&chart.quantiles.share);
    points.filter_map(move |(&latency, &share)| Some((latency, axis.value(share)?)))
}

fn intervals(band: &Band, axis: Axis) -> Vec<(f64, Ci)> {
    band.share.iter().zip(&band.ci_ms).filter_map(|(&share, &ci)| Some((axis.value(share)?, ci))).collect()
}

fn name_lines(canvas: &mut Canvas, frame: &Frame, report: &Report, axis: Axis) {
    let lines: Vec<Vec<Point>> =
        report.charts.iter().map(|chart| dense(&frame.places(curve(chart, axis)))).collect();
    let mut labels = Labels::new(frame, &lines);
    for (index, chart) in report.charts.iter().enumerate() {
        // A line is steepest in its middle, and farthest from the others there.
        let middle = f64::midpoint(frame.top, frame.bottom);
        let mut anchors: Vec<Point> = lines[index].iter().copied().step_by(3).collect();
        anchors.sort_by(|a, b| (a.1 - middle).abs().total_cmp(&(b.1 - middle).abs()));
        let others: Vec<Point> = lines
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .flat_map(|(_, line)| line.clone())
            .collect();
        let look = Look { dot: Some(side(index)), is_muted: false };
        labels.place(canvas, &name(&chart.label), &anchors, look, &others);
    }
}
