//! Small charts of the same axes, side by side: a line of the same name has the same colour in all
//! of them.

use super::{MARGIN, draw_line, finish, headed, name_end, name_room, on, scale};
use crate::{
    model::figures::{Figures, Line, Look as LookOfLine, Multiples, Small},
    svg::{
        axis,
        canvas::{Canvas, Lettering, Stroke, WIDTH},
        frame::{Frame, fitted, width},
        labels::{Look, end_labels, write},
        palette::side,
        panels::{Panel, rows_of},
    },
    text::plain,
};

pub(super) fn draw(figures: &Figures, panel: &Multiples) -> Option<String> {
    let lines = || panel.charts.iter().flat_map(|chart| &chart.lines);
    lines().find(|line| line.points().next().is_some())?;
    let statement = if panel.sentence.is_empty() { &panel.title } else { &panel.sentence };
    let mut names: Vec<&str> = Vec::new();
    for line in lines() {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let is_long = |name: &&str| width(name, 15.0) > LONG;
    let named_above: &[&str] = if names.iter().any(is_long) { &names } else { &[] };
    let has_crosses = lines().any(|line| line.look == LookOfLine::Crosses && line.points().next().is_some());
    let legend = legend(named_above, has_crosses);
    let down = legend.last().map_or(0.0, |(row, ..)| ROW * (*row as f64 + 1.0) + 4.0);
    let places = rows_of(panel.charts.len(), columns(panel), HEIGHT);
    let places: Vec<Panel> = places
        .into_iter()
        .map(|place| Panel { top: place.top + down, bottom: place.bottom + down, ..place })
        .collect();
    let mut canvas = headed(figures, statement, &panel.title, places.last()?.bottom + 26.0);
    draw_legend(&mut canvas, &legend, places.first()?.top - down);
    let x = scale(&panel.x, lines().flat_map(|line| line.points().map(|(at, _)| on(&panel.x, at))));
    let y = scale(&panel.y, lines().flat_map(|line| line.points().map(|(_, value)| on(&panel.y, value))));
    let at_ends = named_above.is_empty();
    let room = if at_ends { name_room(names.iter().copied()) } else { 24.0 };
    for (chart, place) in panel.charts.iter().zip(&places) {
        let frame = draw_frame(&mut canvas, panel, chart, place, (x, y, room));
        draw_lines(&mut canvas, &frame, panel, &chart.lines, &names);
        if at_ends {
            name_ends(&mut canvas, &frame, panel, &chart.lines, &names, place.right);
        }
    }
    Some(finish(figures, canvas, statement, [panel.title.as_str()]))
}

type Entry = (usize, f64, String, Option<&'static str>);

fn legend(names: &[&str], has_crosses: bool) -> Vec<Entry> {
    let named = names.iter().enumerate().map(|(index, name)| (plain(name), Some(side(index))));
    let crosses = has_crosses.then(|| (INVALID.to_owned(), None));
    let (mut row, mut left) = (0, LEFT);
    let mut entries = Vec::new();
    for (text, dot) in named.chain(crosses) {
        let text = fitted(&text, SIZE, WIDTH - 2.0 * LEFT - DOT);
        let taken = width(&text, SIZE) + if dot.is_some() { DOT } else { 0.0 };
        if left > LEFT && left + taken > WIDTH - LEFT {
            (row, left) = (row + 1, LEFT);
        }
        entries.push((row, left, text, dot));
        left += taken + 24.0;
    }
    entries
}

fn draw_legend(canvas: &mut Canvas, entries: &[Entry], top: f64) {
    for (row, left, text, dot) in entries {
        let middle = top + ROW * (*row as f64 + 0.5) + 4.0;
        write(canvas, text, (*left, middle), Look { dot: *dot, is_muted: false });
    }
}

fn columns(panel: &Multiples) -> usize {
    let mut names: Vec<&str> = panel.charts.iter().map(|chart| chart.column.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if (2..=4).contains(&names.len()) { names.len() } else { 3 }
}

fn draw_frame(
    canvas: &mut Canvas,
    panel: &Multiples,
    chart: &Small,
    place: &Panel,
    (x, y, right): (axis::Scale, axis::Scale, f64),
) -> Frame {
    let names = [&chart.row, &chart.column].map(String::as_str);
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let room = place.right - place.left - 2.0 * MARGIN;
    let title = fitted(&names.join(" \u{b7} "), 15.0, room / 1.1);
    let at = (place.left + MARGIN, place.top + 14.0);
    canvas.text(at, &title, Lettering { weight: 600, ..Lettering::new(15.0) });
    let frame = Frame {
        left: place.left + 62.0,
        top: place.top + 56.0,
        right: place.right - right,
        bottom: place.bottom - 24.0,
        x,
        y,
    };
    let frame = frame.roomy(place.left);
    let x_title = if place.is_last_row { panel.x.text() } else { String::new() };
    frame.axes(canvas, &x_title, (&panel.y.text(), ""));
    frame
}

fn color(line: &Line, names: &[&str]) -> &'static str {
    side(names.iter().position(|name| *name == line.name).unwrap_or(0))
}

fn draw_lines(canvas: &mut Canvas, frame: &Frame, panel: &Multiples, lines: &[Line], names: &[&str]) {
    for line in lines {
        let color = color(line, names);
        draw_line(canvas, frame, line, (&panel.x, &panel.y), Stroke::new(color, 1.8));
        if !matches!(line.look, LookOfLine::Dashed | LookOfLine::Crosses) {
            let values = line.points().map(|(x, y)| (on(&panel.x, x), on(&panel.y, y)));
            canvas.spots(&frame.places(values), 6.0, color, 1.0);
        }
    }
}

fn name_ends(
    canvas: &mut Canvas,
    frame: &Frame,
    panel: &Multiples,
    lines: &[Line],
    names: &[&str],
    edge: f64,
) {
    let end = |name: &&str| {
        let mut own: Vec<&Line> = lines.iter().filter(|line| line.name == **name).collect();
        own.sort_by_key(|line| line.look == LookOfLine::Crosses);
        let (line, (height, text)) =
            own.into_iter().find_map(|line| Some((line, name_end(frame, line, &panel.y)?)))?;
        Some((height, text, Some(color(line, names))))
    };
    end_labels(canvas, frame, &names.iter().filter_map(end).collect::<Vec<_>>(), edge);
}

const HEIGHT: f64 = 232.0;
const INVALID: &str = "\u{2715} INVALID: the tool affected this measurement";
const LONG: f64 = 110.0;
const LEFT: f64 = 24.0;
const SIZE: f64 = 15.0;
const ROW: f64 = 22.0;
const DOT: f64 = 15.0;
