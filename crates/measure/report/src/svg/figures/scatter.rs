//! Events as points in classes, with their summaries on top; panels with the same axes share their
//! limits.

use std::collections::BTreeSet;

use super::{draw_line, finish, headed, name_end, name_room, on, scale, write_panel_heading};
use crate::{
    model::figures::{Figures, Line, Look as LineLook, Marks, Points, Scatter},
    svg::{
        axis,
        canvas::{Canvas, Lettering, Point, Stroke},
        frame::{Frame, fitted},
        heading::INVALID,
        labels::{Labels, Look, dense, end_labels},
        palette::{INK, SURFACE, side},
        panels::{Panel, rows_of},
    },
    text::{count, plain},
};

pub(super) fn draw(figures: &Figures, panels: &[&Scatter]) -> Option<String> {
    let panels: Vec<&Scatter> = panels.iter().copied().filter(|panel| holds_something(panel)).collect();
    let first = panels.first()?;
    let statement = if panels.len() == 1 { &first.title } else { &figures.title };
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let places = rows_of(panels.len(), columns, if columns == 1 { 420.0 } else { 300.0 });
    let mut canvas = headed(figures, statement, "", places.last()?.bottom + 26.0);
    let scales = (x_scale(&panels), y_scale(&panels));
    let names = panels.iter().flat_map(|panel| {
        let lines = panel.lines.iter().map(|line| line.name.clone());
        lines.chain(panel.marks.iter().map(mark_name))
    });
    let names: Vec<String> = names.collect();
    let room = name_room(names.iter().map(String::as_str));
    let rows = panels.iter().map(|panel| panel.marks.len()).max().unwrap_or(0);
    for (panel, place) in panels.iter().zip(&places) {
        draw_one(&mut canvas, panel, place, scales, (room, rows));
    }
    Some(finish(figures, canvas, statement, panels.iter().map(|panel| panel.sentence.as_str())))
}

fn holds_something(panel: &Scatter) -> bool {
    panel.classes.iter().any(|class| !class.x.is_empty())
        || panel.lines.iter().any(|line| line.points().next().is_some())
        || panel.marks.iter().any(|marks| !marks.x.is_empty())
}

fn draw_one(
    canvas: &mut Canvas,
    panel: &Scatter,
    place: &Panel,
    (x, y): (axis::Scale, axis::Scale),
    room: (f64, usize),
) {
    let top = write_panel_heading(canvas, place, &panel.title, &panel.y, &panel.sentence);
    let frame = Frame {
        left: place.left + 62.0,
        top: top + 8.0 + ROW * room.1 as f64,
        right: place.right - room.0,
        bottom: place.bottom - 24.0,
        x,
        y,
    };
    let frame = frame.roomy(place.left);
    frame.axes(canvas, if place.is_last_row { panel.x.text() } else { String::new() }.as_str(), ("", ""));
    let classes: Vec<Vec<Point>> = panel.classes.iter().map(|class| spots(&frame, panel, class)).collect();
    for (index, spots) in classes.iter().enumerate() {
        canvas.spots(spots, SPOT, side(index), 0.6);
    }
    for line in &panel.lines {
        // A pale rim without dashes keeps the line visible on points of any colour.
        let look = if line.look == LineLook::Dashed { LineLook::Solid } else { line.look };
        let rim = Line { look, ..line.clone() };
        draw_line(canvas, &frame, &rim, (&panel.x, &panel.y), Stroke::new(SURFACE, 4.5));
        draw_line(canvas, &frame, line, (&panel.x, &panel.y), Stroke::new(INK, 1.8));
    }
    let ends = panel.lines.iter().filter_map(|line| name_end(&frame, line, &panel.y));
    let ends: Vec<_> = ends.map(|(height, name)| (height, name, None)).collect();
    end_labels(canvas, &frame, &ends, place.right);
    draw_marks(canvas, &frame, panel, place.right);
    name_classes(canvas, &frame, panel, &classes);
}

/// Points that round to the same spot are drawn once.
fn spots(frame: &Frame, panel: &Scatter, class: &Points) -> Vec<Point> {
    let values = class.x.iter().zip(&class.y).map(|(&x, &y)| (on(&panel.x, x), on(&panel.y, y)));
    let mut taken = BTreeSet::new();
    let mut places = frame.places(values);
    places.retain(|&(x, y)| taken.insert([x, y].map(spot)));
    places.into_iter().map(|(x, y)| (x.round(), y.round())).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "places in a drawing of 960, and NaN is filtered out")]
fn spot(at: f64) -> i64 {
    (at / SPOT) as i64
}

fn draw_marks(canvas: &mut Canvas, frame: &Frame, panel: &Scatter, edge: f64) {
    for (row, marks) in panel.marks.iter().rev().enumerate() {
        let middle = frame.top - ROW * (row as f64 + 0.5);
        let mut last = f64::NEG_INFINITY;
        for &at in &marks.x {
            let (x, _) = frame.at(on(&panel.x, at), 0.0);
            if x - last >= 1.0 {
                canvas.line(&[(x, middle - 5.0), (x, middle + 5.0)], Stroke::new(INVALID, 1.0));
                last = x;
            }
        }
        let lettering = Lettering { color: INVALID, ..Lettering::new(14.0) };
        let left = frame.right + 10.0;
        canvas.text((left, middle), &fitted(&mark_name(marks), 14.0, edge - left), lettering);
    }
}

fn mark_name(marks: &Marks) -> String {
    plain(&format!("{} {}", count(marks.count), marks.name))
}

fn name_classes(canvas: &mut Canvas, frame: &Frame, panel: &Scatter, classes: &[Vec<Point>]) {
    let lines = panel.lines.iter().map(|line| {
        let values = line.points().map(|(x, y)| (on(&panel.x, x), on(&panel.y, y)));
        dense(&frame.places(values))
    });
    let points = classes.iter().flat_map(|class| some(class, 1500)).map(|point| vec![point]);
    let obstacles: Vec<Vec<Point>> = points.chain(lines).collect();
    let mut labels = Labels::new(frame, &obstacles);
    for (index, class) in panel.classes.iter().enumerate() {
        let others: Vec<Point> = classes
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .flat_map(|(_, points)| some(points, 1500))
            .collect();
        let look = Look { dot: Some(side(index)), is_muted: false };
        labels.place(canvas, &plain(&class.name), &some(&classes[index], 60), look, &others);
    }
}

fn some(points: &[Point], most: usize) -> Vec<Point> {
    points.iter().step_by(points.len().div_ceil(most).max(1)).copied().collect()
}

fn x_scale(panels: &[&Scatter]) -> axis::Scale {
    let of = |panel: &Scatter| {
        let classes = panel.classes.iter().flat_map(|class| class.x.clone());
        let lines = panel.lines.iter().flat_map(|line| line.x.clone());
        let marks = panel.marks.iter().flat_map(|marks| marks.x.clone());
        classes.chain(lines).chain(marks).collect::<Vec<_>>()
    };
    scale(&panels[0].x, panels.iter().flat_map(|panel| of(panel)))
}

fn y_scale(panels: &[&Scatter]) -> axis::Scale {
    let of = |panel: &Scatter| {
        let classes = panel.classes.iter().flat_map(|class| class.y.clone());
        let lines = panel.lines.iter().flat_map(|line| line.points().map(|(_, y)| y));
        classes.chain(lines).collect::<Vec<_>>()
    };
    scale(&panels[0].y, panels.iter().flat_map(|panel| of(panel)))
}

const SPOT: f64 = 3.0;
const ROW: f64 = 16.0;
