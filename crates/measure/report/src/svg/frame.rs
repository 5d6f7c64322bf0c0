//! The rectangle for data: its axes, and lines and areas that end at its edges.

use super::{
    axis::Scale,
    canvas::{Anchor, Canvas, Lettering, Point, Stroke},
    palette::{GRID, MUTED},
};
use crate::text::label;

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Frame {
    /// Outside the rectangle if a linear scale does not hold the values.
    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        let across = self.x.position(x) * (self.right - self.left);
        let up = self.y.position(y) * (self.bottom - self.top);
        (self.left + across, self.bottom - up)
    }

    /// For the numbers of the vertical axis, from `edge` on.
    pub(super) fn roomy(self, edge: f64) -> Self {
        let widest = self.y_ticks().iter().map(|(_, text)| width(text, TICK)).fold(0.0, f64::max);
        Self { left: self.left.max(edge + widest + BESIDE + EDGE), ..self }
    }

    fn y_ticks(&self) -> Vec<(f64, String)> {
        self.y.ticks(self.bottom - self.top, 36.0, |_| TICK)
    }

    /// `remark` is to the right of the title of the vertical axis.
    pub(super) fn axes(&self, canvas: &mut Canvas, x_title: &str, (y_title, remark): (&str, &str)) {
        canvas.open("x-axis");
        for (tick, text) in self.x.ticks(self.right - self.left, 62.0, |text| width(text, TICK)) {
            let (x, _) = self.at(tick, 0.0);
            canvas.line(&[(x, self.top), (x, self.bottom)], Stroke::new(GRID, 1.0));
            let lettering = Lettering { anchor: Anchor::Middle, ..Lettering::muted(TICK) };
            canvas.text((x, self.bottom + 15.0), &text, lettering);
        }
        canvas.close();
        canvas.open("y-axis");
        for (tick, text) in self.y_ticks() {
            let (_, y) = self.at(0.0, tick);
            canvas.line(&[(self.left, y), (self.right, y)], Stroke::new(GRID, 1.0));
            let lettering = Lettering { anchor: Anchor::End, ..Lettering::muted(TICK) };
            canvas.text((self.left - BESIDE, y), &text, lettering);
        }
        canvas.close();
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], Stroke::new(MUTED, 1.0));
        let middle = f64::midpoint(self.left, self.right);
        let lettering = Lettering { anchor: Anchor::Middle, ..Lettering::muted(TITLE) };
        if !x_title.is_empty() {
            canvas.text(
                (middle, self.bottom + 37.0),
                &fitted(x_title, TITLE, self.right - self.left),
                lettering,
            );
        }
        let start = self.title_start();
        let taken = if remark.is_empty() { 0.0 } else { width(remark, TITLE) + 16.0 };
        if !y_title.is_empty() {
            let title = fitted(y_title, TITLE, self.right - start - taken);
            canvas.text((start, self.top - 14.0), &title, Lettering::muted(TITLE));
        }
        if !remark.is_empty() {
            let lettering = Lettering { anchor: Anchor::End, ..Lettering::muted(TITLE) };
            canvas.text((self.right, self.top - 14.0), remark, lettering);
        }
    }

    pub(super) fn title_start(&self) -> f64 {
        self.left - 40.0
    }

    pub(super) fn line(
        &self,
        canvas: &mut Canvas,
        values: impl IntoIterator<Item = (f64, f64)>,
        stroke: Stroke,
    ) {
        for run in self.clipped(&self.places(values)) {
            canvas.line(&run, stroke);
        }
    }

    pub(super) fn area(
        &self,
        canvas: &mut Canvas,
        values: impl IntoIterator<Item = (f64, f64)>,
        color: &str,
        opacity: f64,
    ) {
        let within = |(x, y): Point| (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom));
        let points: Vec<Point> = self.places(values).into_iter().map(within).collect();
        if points.len() > 2 {
            canvas.area(&points, color, opacity);
        }
    }

    pub(super) fn places(&self, values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Point> {
        values
            .into_iter()
            .map(|(x, y)| self.at(x, y))
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect()
    }

    pub(super) fn holds(&self, (x, y): Point) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    fn clipped(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut runs: Vec<Vec<Point>> = Vec::new();
        for pair in points.windows(2) {
            let Some((from, to)) = self.segment(pair[0], pair[1]) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs
    }

    /// Liang and Barsky, 1984.
    fn segment(&self, (x, y): Point, (to_x, to_y): Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to_x - x, to_y - y);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let edges = [(-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y)];
        for (speed, room) in edges {
            if speed == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enter = enter.max(room / speed);
            } else {
                leave = leave.min(room / speed);
            }
        }
        // Unclipped ends stay exact, so that segments join exactly.
        let start = if enter > 0.0 { (x + enter * dx, y + enter * dy) } else { (x, y) };
        let end = if leave < 1.0 { (x + leave * dx, y + leave * dy) } else { (to_x, to_y) };
        (enter <= leave).then_some((start, end))
    }
}

/// Text cannot be measured here: widths are those of DejaVu Sans, the widest common font.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '/' | ' ' => 0.32,
        't' | 'f' | 'r' | '(' | ')' | '[' | ']' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '\u{2026}' => 0.95,
        'A'..='Z' => 0.72,
        '\u{202f}' => 0.2,
        // Ideographs and all characters after them are as wide as high.
        '\u{1100}'.. if !('\u{2000}'..='\u{2fff}').contains(&c) => 1.0,
        _ => 0.62,
    };
    text.chars().map(em).sum::<f64>() * size
}

pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    let letters = text.chars().count();
    let cut = (1..=letters).rev().map(|most| label(text, most)).find(|cut| width(cut, size) <= room);
    cut.unwrap_or_default()
}

const TICK: f64 = 14.0;
const BESIDE: f64 = 8.0;
const EDGE: f64 = 4.0;
const TITLE: f64 = 14.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        let scale = Scale::Linear { low: 0.0, high: 10.0 };
        Frame { left: 100.0, top: 0.0, right: 200.0, bottom: 50.0, x: scale, y: scale }
    }

    #[test]
    fn values_grow_to_the_right_and_upwards() {
        assert_eq!(frame().at(0.0, 0.0), (100.0, 50.0));
        assert_eq!(frame().at(2.5, 10.0), (125.0, 0.0));
    }

    #[test]
    fn a_line_that_leaves_and_returns_is_two() {
        // From (100, 50) to (110, -50): it crosses the upper edge half-way, at 105; back down at
        // 115.
        let runs = frame().clipped(&frame().places([(0.0, 0.0), (1.0, 20.0), (2.0, 0.0), (4.0, 0.0)]));
        assert_eq!(
            runs,
            [vec![(100.0, 50.0), (105.0, 0.0)], vec![(115.0, 0.0), (120.0, 50.0), (140.0, 50.0)]]
        );
        assert!(frame().clipped(&[(0.0, 0.0), (0.0, 50.0)]).is_empty());
    }

    #[test]
    fn numbers_have_the_room_that_they_need() {
        // Three characters of 0.62, 0.32 and 0.62, so 21.8 wide. With a gap of 36 in 50, two: 0,
        // 0.5, 1.
        let y = Scale::Linear { low: 0.0, high: 1.0 };
        let narrow = Frame { left: 10.0, y, ..frame() };
        assert!((narrow.roomy(0.0).left - (1.56 * 14.0 + 8.0 + 4.0)).abs() < 1e-9);
        assert_eq!(frame().roomy(0.0).left, 100.0);
    }

    #[test]
    fn a_text_without_room_loses_its_middle() {
        // Each n is 6.2 wide, the ellipsis 9.5: 4 x 6.2 + 9.5 = 34.3.
        assert_eq!(fitted("nnnnnnnn", 10.0, 35.0), "nn\u{2026}nn");
        assert_eq!(fitted("nnnn", 10.0, 24.8), "nnnn");
        assert_eq!(fitted("nnnn", 10.0, 1.0), "");
    }

    #[test]
    fn wide_letters_are_wider() {
        assert!(width("MMMM", 10.0) > width("nnnn", 10.0) && width("nnnn", 10.0) > width("iiii", 10.0));
        assert_eq!(width("\u{6771}\u{4eac}", 10.0), 20.0);
    }
}
