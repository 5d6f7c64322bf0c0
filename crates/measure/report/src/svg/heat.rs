//! The whole distribution of one side over time: the darker a cell, the more requests started then
//! and had this latency.

use super::{
    axis::Scale,
    canvas::{Anchor, Canvas, Lettering, Stroke},
    frame::Frame,
    heading::{finish, headed_with},
    over_time::{Time, intervals_of, mark_shifts, name_fault, span_of_fault},
    palette::{FAULT, HEAT},
    sentences::{latency, name, quantile},
};
use crate::{
    model::{Heat, Report},
    text::{count, plural, time},
};

pub(super) fn draw(report: &Report, side: usize) -> Option<String> {
    let chart = report.charts.get(side)?;
    let grid = Grid::new(chart.heat.as_ref()?)?;
    let shifts = report.comparison.sides.get(side).map_or(&[][..], |side| &side.shifts);
    let label = name(&chart.label);
    let title = match shifts {
        [] => {
            let [median, tail] = [0.5, 0.99].map(|share| latency(quantile(&chart.quantiles, share)));
            format!("{label}: half of the requests take up to {median} ms, 99 % up to {tail} ms")
        }
        [shift, ..] => format!(
            "{label}: the median goes from {} to {} ms at {}",
            latency(shift.before_ms),
            latency(shift.after_ms),
            time(shift.at_s)
        ),
    };
    let mut canvas = headed_with(report, &title, &remark(&grid, chart.heat.as_ref()?.left_out));
    let time = Time::new(grid.start_s, grid.start_of(grid.columns.len()));
    let (x, y) = (time.scale(), grid.latency());
    let frame = Frame { left: 78.0, top: 112.0, right: 930.0, bottom: 480.0, x, y }.roomy(0.0);
    let y_title = format!("{} (ms)", report.metric);
    frame.axes(&mut canvas, &time.title(), (&y_title, ""));
    grid.draw(&mut canvas, &frame, &time);
    let free = frame.title_start() + super::frame::width(&y_title, 14.0) + 12.0;
    outline_faults(&mut canvas, &frame, &time, report, free);
    mark_shifts(&mut canvas, &frame, &time, shifts);
    key(&mut canvas, &frame, grid.most());
    let figures = format!("Cells of {} s; the darkest has {} samples.", grid.interval_s, count(grid.most()));
    Some(finish(report, canvas, &title, &figures))
}

fn remark(grid: &Grid, left_out: u64) -> String {
    let intervals = intervals_of(grid.interval_s);
    if left_out == 0 {
        return intervals;
    }
    format!("{intervals}; {} of partial ones left out", plural(left_out, "sample"))
}

struct Grid {
    start_s: f64,
    interval_s: f64,
    edges_ms: Vec<f64>,
    columns: Vec<Vec<u64>>,
}

impl Grid {
    fn new(heat: &Heat) -> Option<Self> {
        let rows = heat.edges_ms.len().checked_sub(1).filter(|&rows| rows > 0)?;
        let counts: Vec<Vec<u64>> = heat
            .counts
            .chunks_exact(rows)
            .map(|column| column.iter().copied().map(u64::from).collect())
            .collect();
        let is_used = |row: usize| counts.iter().any(|column| column[row] > 0);
        let first = (0..rows).find(|&row| is_used(row))?;
        let last = (first..rows).rev().find(|&row| is_used(row))?;
        let (by_time, by_row) = (counts.len().div_ceil(COLUMNS), (last + 1 - first).div_ceil(ROWS));
        let merged = |columns: &[Vec<u64>]| {
            let row = |start: usize| {
                (start..(start + by_row).min(last + 1))
                    .flat_map(|row| columns.iter().map(move |column| column[row]))
                    .sum()
            };
            (first..=last).step_by(by_row).map(row).collect()
        };
        let mut edges_ms: Vec<f64> = (first..=last).step_by(by_row).map(|row| heat.edges_ms[row]).collect();
        edges_ms.push(heat.edges_ms[last + 1]);
        Some(Self {
            start_s: heat.start_s,
            interval_s: heat.interval_s * by_time as f64,
            edges_ms,
            columns: counts.chunks(by_time).map(merged).collect(),
        })
    }

    fn start_of(&self, column: usize) -> f64 {
        self.start_s + self.interval_s * column as f64
    }

    fn most(&self) -> u64 {
        self.columns.iter().flatten().copied().max().unwrap_or(0)
    }

    /// An edge at 0 is placed one usual row below the next edge.
    fn latency(&self) -> Scale {
        let above = self.edges_ms.iter().copied().find(|&edge| edge > 0.0).unwrap_or(1.0);
        let high = self.edges_ms.last().copied().filter(|&edge| edge > above).unwrap_or(above * 2.0);
        let low = if self.edges_ms[0] > 0.0 { self.edges_ms[0] } else { above / 2.0 };
        Scale::Log { low, high }
    }

    /// One path per shade keeps the file small.
    fn draw(&self, canvas: &mut Canvas, frame: &Frame, time: &Time) {
        let most = self.most();
        let mut by_shade: Vec<Vec<[f64; 4]>> = vec![Vec::new(); HEAT.len()];
        let left =
            |column: usize| frame.at(time.value(self.start_of(column)), 1.0).0.clamp(frame.left, frame.right);
        for row in 0..self.edges_ms.len() - 1 {
            let [bottom, top] = [row, row + 1].map(|edge| frame.at(0.0, self.edges_ms[edge]).1);
            let mut start = 0;
            for end in 1..=self.columns.len() {
                let shade_at = |column: usize| shade(self.columns[column][row], most);
                if end < self.columns.len() && shade_at(end) == shade_at(start) {
                    continue;
                }
                if let Some(shade) = shade_at(start) {
                    by_shade[shade].push([left(start), top, left(end), bottom]);
                }
                start = end;
            }
        }
        for (cells, color) in by_shade.iter().zip(HEAT) {
            canvas.cells(cells, color);
        }
    }
}

/// Lines, because a band would change the shades.
fn outline_faults(canvas: &mut Canvas, frame: &Frame, time: &Time, report: &Report, mut free: f64) {
    for fault in &report.faults {
        let Some((left, right)) = span_of_fault(frame, time, fault) else { continue };
        let outline = [(left, frame.bottom), (left, frame.top), (right, frame.top), (right, frame.bottom)];
        canvas.line(&outline, Stroke::new(FAULT, 2.0));
        free = name_fault(canvas, frame, fault, left, free);
    }
}

/// By the logarithm of the count, so that a single sample is visible.
fn shade(samples: u64, most: u64) -> Option<usize> {
    let step = |shade: usize| (most as f64).powf(shade as f64 / HEAT.len() as f64);
    (samples > 0).then(|| (1..HEAT.len()).take_while(|&shade| samples as f64 > step(shade)).count())
}

fn key(canvas: &mut Canvas, frame: &Frame, most: u64) {
    let (width, y) = (16.0, frame.bottom + 37.0);
    let text = |anchor| Lettering { anchor, ..Lettering::muted(14.0) };
    let most = count(most);
    let right = frame.right - super::frame::width(&most, 14.0) - 6.0;
    let left = right - width * HEAT.len() as f64;
    for (index, color) in (0_u32..).zip(HEAT) {
        canvas.cells(
            &[[left + width * f64::from(index), y - 6.0, left + width * f64::from(index + 1), y + 6.0]],
            color,
        );
    }
    canvas.text((left - 6.0, y), "requests per cell: 1", text(Anchor::End));
    canvas.text((right + 6.0, y), &most, text(Anchor::Start));
}

/// More cells are smaller than the eye can resolve on a slide, and make a large file.
const COLUMNS: usize = 120;
const ROWS: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_go_by_the_logarithm() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 128, 129, 256].map(|n| shade(n, 256)),
            [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(6), Some(7), Some(7)]
        );
        assert_eq!(shade(1, 1), Some(0));
    }

    #[test]
    fn merging_cells_loses_no_sample() {
        let counts = (0..500 * 100).map(|cell| u32::from(cell % 100 > 9)).collect();
        let heat = Heat {
            interval_s: 1.0,
            start_s: 0.0,
            intervals: 500,
            edges_ms: (0..=100).map(f64::from).collect(),
            counts,
            left_out: 0,
        };
        let grid = Grid::new(&heat).unwrap();
        assert_eq!(
            (grid.interval_s, grid.columns.len(), grid.columns[0].len(), grid.edges_ms.len()),
            (5.0, 100, 45, 46)
        );
        assert_eq!(grid.columns.iter().flatten().sum::<u64>(), 500 * 90);
        assert_eq!((grid.edges_ms[0], grid.edges_ms[45]), (10.0, 100.0));
        assert!(Grid::new(&Heat { counts: vec![0; 50_000], ..heat }).is_none());
    }
}
