//! Timelines one above the other: a common time axis, and the phases as bands through all of them.

use super::{LETTERS, draw_line, finish, headed, name_end, name_room, on, scale, write_panel_heading};
use crate::{
    model::figures::{Axis, Figures, Phase, Timeline},
    svg::{
        axis,
        canvas::{Anchor, Canvas, Lettering, Stroke},
        frame::{Frame, width},
        labels::end_labels,
        palette::{MUTED, side},
        panels::{Panel, rows_of},
    },
    text::label,
};

pub(super) fn draw(figures: &Figures, panels: &[&Timeline]) -> Option<String> {
    let panels: Vec<&Timeline> = panels
        .iter()
        .copied()
        .filter(|panel| panel.lines.iter().any(|line| line.points().next().is_some()))
        .collect();
    let first = panels.first()?;
    let statement = if panels.len() == 1 { &first.title } else { &figures.title };
    let places = rows_of(panels.len(), 1, HEIGHT);
    let bottom = places.last()?.bottom + AXIS;
    let mut canvas = headed(figures, statement, "", bottom);
    let time = span(&panels);
    let room = name_room(panels.iter().flat_map(|panel| panel.lines.iter().map(|line| line.name.as_str())));
    let headed_panels: Vec<(&Timeline, Frame)> = panels
        .iter()
        .zip(&places)
        .map(|(panel, place)| (*panel, framed(&mut canvas, panel, place, time, room)))
        .collect();
    // All begin where the one with the longest numbers does.
    let left = headed_panels.iter().map(|(_, frame)| frame.left).fold(0.0, f64::max);
    for ((panel, frame), place) in headed_panels.into_iter().zip(&places) {
        draw_one(&mut canvas, panel, place, &Frame { left, ..frame });
    }
    Some(finish(figures, canvas, statement, panels.iter().map(|panel| panel.sentence.as_str())))
}

fn framed(canvas: &mut Canvas, panel: &Timeline, place: &Panel, time: axis::Scale, room: f64) -> Frame {
    let top = write_panel_heading(canvas, place, &panel.title, &panel.y, &panel.sentence);
    let values = panel.lines.iter().flat_map(|line| line.points().map(|(_, value)| on(&panel.y, value)));
    let frame = Frame {
        left: place.left + 70.0,
        top: top + PHASES,
        right: place.right - room,
        bottom: place.bottom - 28.0,
        x: time,
        y: scale(&panel.y, values),
    };
    frame.roomy(place.left)
}

fn draw_one(canvas: &mut Canvas, panel: &Timeline, place: &Panel, frame: &Frame) {
    shade(canvas, frame, &panel.phases);
    frame.axes(canvas, if place.is_last_row { "time since the start (s)" } else { "" }, ("", ""));
    let seconds = Axis::linear("", "s");
    for (index, line) in panel.lines.iter().enumerate() {
        draw_line(canvas, frame, line, (&seconds, &panel.y), Stroke::new(side(index), 1.8));
    }
    let ends = panel.lines.iter().enumerate().filter_map(|(index, line)| {
        let (height, name) = name_end(frame, line, &panel.y)?;
        Some((height, name, Some(side(index))))
    });
    end_labels(canvas, frame, &ends.collect::<Vec<_>>(), place.right);
}

/// The first phase stays pale, unless it is the only one.
fn shade(canvas: &mut Canvas, frame: &Frame, phases: &[Phase]) {
    let names: Vec<&str> = firsts(phases).iter().map(|phase| phase.label.as_str()).collect();
    for phase in phases {
        let [left, right] = ends(frame, phase);
        let rank = names.iter().position(|name| *name == phase.label).unwrap_or(0);
        let opacity = 0.12 * (rank.min(3) + usize::from(names.len() == 1)) as f64;
        let corners = [(left, frame.top), (right, frame.top), (right, frame.bottom), (left, frame.bottom)];
        canvas.area(&corners, MUTED, opacity);
    }
    let all = places(frame, phases.iter());
    let placed = if all.len() == phases.len() { all } else { places(frame, firsts(phases).into_iter()) };
    for (middle, name) in placed {
        let lettering = Lettering { anchor: Anchor::Middle, ..Lettering::muted(13.0) };
        canvas.text((middle, frame.top - 9.0), &name, lettering);
    }
}

fn firsts(phases: &[Phase]) -> Vec<&Phase> {
    let is_first = |at: &usize| phases[..*at].iter().all(|before| before.label != phases[*at].label);
    (0..phases.len()).filter(is_first).map(|at| &phases[at]).collect()
}

fn places<'p>(frame: &Frame, phases: impl Iterator<Item = &'p Phase>) -> Vec<(f64, String)> {
    let mut free = f64::NEG_INFINITY;
    let place = |phase: &Phase| {
        let [left, right] = ends(frame, phase);
        let name = label(&phase.label, LETTERS);
        let half = width(&name, 13.0) / 2.0;
        let middle = f64::midpoint(left, right).max(free + half);
        let fits = middle <= right && right > left;
        if fits {
            free = middle + half + 5.0;
        }
        fits.then_some((middle, name))
    };
    phases.filter_map(place).collect()
}

fn ends(frame: &Frame, phase: &Phase) -> [f64; 2] {
    [phase.from_s, phase.to_s].map(|at| frame.at(at, 0.0).0.clamp(frame.left, frame.right))
}

fn span(panels: &[&Timeline]) -> axis::Scale {
    let lines =
        panels.iter().flat_map(|panel| panel.lines.iter().flat_map(|line| line.points().map(|(x, _)| x)));
    let phases =
        panels.iter().flat_map(|panel| panel.phases.iter().flat_map(|phase| [phase.from_s, phase.to_s]));
    let (low, high) = lines
        .chain(phases)
        .filter(|at| at.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let high = if high > low { high } else { low + 1.0 };
    axis::Scale::Linear { low, high }
}

const HEIGHT: f64 = 206.0;
const AXIS: f64 = 26.0;
const PHASES: f64 = 20.0;
