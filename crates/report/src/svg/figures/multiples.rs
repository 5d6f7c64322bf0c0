//! Small charts of the same axes, side by side: a line of the same name has the same colour in all of them.

use super::{MARGIN, draw_line, finish, headed, name_end, name_room, on, scale};
use crate::{
    model::figures::{Figures, Line, Look, Multiples, Small},
    svg::{
        axis,
        canvas::{Canvas, Lettering, Stroke},
        frame::Frame,
        labels::end_labels,
        palette::side,
        panels::{Panel, rows_of},
    },
    text::label,
};

/// The drawing, if there is anything in it.
pub(super) fn draw(figures: &Figures, panel: &Multiples) -> Option<String> {
    let lines = || panel.charts.iter().flat_map(|chart| &chart.lines);
    lines().find(|line| line.points().next().is_some())?;
    let statement = if panel.sentence.is_empty() { &panel.title } else { &panel.sentence };
    let places = rows_of(panel.charts.len(), columns(panel), HEIGHT);
    let mut canvas = headed(figures, statement, &panel.title, places.last()?.bottom + 26.0);
    let mut names: Vec<&str> = Vec::new();
    for line in lines() {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let x = scale(&panel.x, lines().flat_map(|line| line.points().map(|(at, _)| on(&panel.x, at))));
    let y = scale(&panel.y, lines().flat_map(|line| line.points().map(|(_, value)| on(&panel.y, value))));
    for (chart, place) in panel.charts.iter().zip(&places) {
        let frame = draw_frame(&mut canvas, panel, chart, place, (x, y, name_room(names.iter().copied())));
        draw_lines(&mut canvas, &frame, panel, &chart.lines, &names);
    }
    Some(finish(figures, canvas, statement, [panel.title.as_str()]))
}

/// As many as there are names of columns; a row of more than can be read is broken.
fn columns(panel: &Multiples) -> usize {
    let mut names: Vec<&str> = panel.charts.iter().map(|chart| chart.column.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if (2..=4).contains(&names.len()) { names.len() } else { 3 }
}

/// The frame of a chart with its name and its axes, which have their titles at the edges of the drawing.
fn draw_frame(
    canvas: &mut Canvas,
    panel: &Multiples,
    chart: &Small,
    place: &Panel,
    (x, y, room): (axis::Scale, axis::Scale, f64),
) -> Frame {
    let names = [&chart.row, &chart.column].map(String::as_str);
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let title = label(&names.join(" \u{b7} "), 36);
    let at = (place.left + MARGIN, place.top + 14.0);
    canvas.text(at, &title, Lettering { weight: 600, ..Lettering::new(15.0) });
    let frame = Frame {
        left: place.left + 62.0,
        top: place.top + 56.0,
        right: place.right - room,
        bottom: place.bottom - 24.0,
        x,
        y,
    };
    let x_title = if place.is_last_row { panel.x.text() } else { String::new() };
    frame.axes(canvas, &x_title, &panel.y.text());
    frame
}

fn draw_lines(canvas: &mut Canvas, frame: &Frame, panel: &Multiples, lines: &[Line], names: &[&str]) {
    let color = |line: &Line| side(names.iter().position(|name| *name == line.name).unwrap_or(0));
    for line in lines {
        draw_line(canvas, frame, line, (&panel.x, &panel.y), Stroke::new(color(line), 1.8));
        if line.look != Look::Dashed {
            let values = line.points().map(|(x, y)| (on(&panel.x, x), on(&panel.y, y)));
            canvas.spots(&frame.places(values), 6.0, color(line), 1.0);
        }
    }
    let ends = lines.iter().filter_map(|line| {
        let (height, name) = name_end(frame, line, &panel.y)?;
        Some((height, name, Some(color(line))))
    });
    end_labels(canvas, frame, &ends.collect::<Vec<_>>());
}

/// Height of a chart with its name.
const HEIGHT: f64 = 232.0;
