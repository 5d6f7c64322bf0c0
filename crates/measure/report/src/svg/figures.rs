//! Figures as SVG files: adjacent charts of one kind are in one file, as on the page.

use super::{
    axis,
    canvas::{Canvas, Lettering, Stroke},
    frame::{Frame, fitted, width},
    heading::{INVALID_RUN, wrapped, write_heading},
    panels::Panel as Place,
};
use crate::{
    model::figures::{Axis, Figures, Line, Look, Multiples, Panel, Scale, Scatter, Timeline},
    text::{label, plain},
};

mod bars;
mod multiples;
mod scatter;
mod timeline;

/// File names ("timeline.svg", "timeline-2.svg") and contents of the charts. Empty charts have no
/// file.
pub fn figures(figures: &Figures) -> Vec<(String, String)> {
    let mut used = std::collections::BTreeSet::new();
    let mut files = Vec::new();
    for group in groups(&figures.panels) {
        let (name, file) = match group {
            Group::Timelines(panels) => ("timeline", timeline::draw(figures, &panels)),
            Group::Scatters(panels) => ("scatter", scatter::draw(figures, &panels)),
            Group::Multiples(panel) => ("multiples", multiples::draw(figures, panel)),
            Group::Bars(panel) => ("bars", bars::draw(figures, panel)),
        };
        files.extend(file.map(|file| (super::unused(name, &mut used), file)));
    }
    files
}

enum Group<'f> {
    Timelines(Vec<&'f Timeline>),
    Scatters(Vec<&'f Scatter>),
    Multiples(&'f Multiples),
    Bars(&'f crate::model::figures::Bars),
}

fn groups(panels: &[Panel]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for panel in panels {
        match (groups.last_mut(), panel) {
            (Some(Group::Timelines(group)), Panel::Timeline(next)) => group.push(next),
            (Some(Group::Scatters(group)), Panel::Scatter(next)) if alike(group, next) => group.push(next),
            (_, Panel::Timeline(first)) => groups.push(Group::Timelines(vec![first])),
            (_, Panel::Scatter(first)) => groups.push(Group::Scatters(vec![first])),
            (_, Panel::Multiples(one)) => groups.push(Group::Multiples(one)),
            (_, Panel::Bars(one)) => groups.push(Group::Bars(one)),
        }
    }
    groups
}

fn alike(group: &[&Scatter], next: &Scatter) -> bool {
    group.iter().all(|one| (&one.x, &one.y) == (&next.x, &next.y))
}

fn headed(figures: &Figures, statement: &str, what: &str, height: f64) -> Canvas {
    let mut canvas = Canvas::of_height(height);
    let conditions = conditions(figures, what);
    write_heading(&mut canvas, &plain(statement), &conditions, figures.valid);
    canvas
}

fn finish<'s>(
    figures: &Figures,
    canvas: Canvas,
    statement: &str,
    sentences: impl IntoIterator<Item = &'s str>,
) -> String {
    let sentences: Vec<&str> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    let description = format!("{} {} {}", figures.summary, sentences.join(" "), conditions(figures, ""));
    canvas.finish(&plain(statement), plain(&description).trim())
}

fn conditions(figures: &Figures, what: &str) -> String {
    let named = figures.conditions.iter().map(|one| format!("{} {}", one.name, one.value));
    let what = (!what.is_empty()).then(|| what.to_owned());
    let all: Vec<String> = what.into_iter().chain(named).collect();
    let invalid = if figures.valid { "" } else { INVALID_RUN };
    plain(&format!("{invalid}{}", all.join("; ")))
}

fn write_panel_heading(canvas: &mut Canvas, place: &Place, title: &str, y: &Axis, sentence: &str) -> f64 {
    let left = place.left + MARGIN;
    let title = fitted(title, 15.0, (place.right - left - MARGIN) / 1.1);
    canvas.text((left, place.top + 14.0), &title, Lettering { weight: 600, ..Lettering::new(15.0) });
    let beside = left + width(&title, 15.0) * 1.1 + 10.0;
    let axis = y.text();
    if beside + width(&axis, 13.0) < place.right {
        canvas.text((beside, place.top + 14.0), &plain(&axis), Lettering::muted(13.0));
    }
    let lines = wrapped(&plain(sentence), 13.0, place.right - left - MARGIN, SENTENCE_LINES);
    let mut bottom = place.top + 24.0;
    for line in lines {
        canvas.text((left, bottom + 10.0), &line, Lettering::muted(13.0));
        bottom += 18.0;
    }
    bottom
}

fn scale(of: &Axis, values: impl IntoIterator<Item = f64>) -> axis::Scale {
    match of.scale {
        Scale::Linear => axis::Scale::linear(values),
        Scale::Log => axis::Scale::log(values),
        Scale::Share => axis::Scale::Linear { low: 0.0, high: 100.0 },
    }
}

fn on(of: &Axis, value: f64) -> f64 {
    if of.scale == Scale::Share { value * 100.0 } else { value }
}

fn draw_line(canvas: &mut Canvas, frame: &Frame, line: &Line, (x, y): (&Axis, &Axis), stroke: Stroke) {
    if line.look == Look::Crosses {
        let places = frame.places(line.points().map(|(at, value)| (on(x, at), on(y, value))));
        canvas.open("crosses");
        canvas.crosses(&places, 10.0, stroke.color);
        return canvas.close();
    }
    let stroke = if line.look == Look::Dashed { Stroke { dashes: "6 4", ..stroke } } else { stroke };
    let line = line.thinned(COLUMNS);
    let points: Vec<_> = line.x.iter().zip(&line.y).collect();
    for run in points.split(|(_, value)| value.is_none()) {
        let run = run.iter().filter_map(|&(&at, &value)| Some((on(x, at), on(y, value?))));
        let run: Vec<_> = run.collect();
        if line.look == Look::Steps {
            frame.line(canvas, stairs(&run), stroke);
        } else {
            frame.line(canvas, run, stroke);
        }
    }
}

fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let corners = points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    corners.chain(points.last().copied()).collect()
}

fn name_end(frame: &Frame, line: &Line, y: &Axis) -> Option<(f64, String)> {
    let (_, last) = line.points().last()?;
    Some((frame.at(0.0, on(y, last)).1.clamp(frame.top, frame.bottom), label(&line.name, LETTERS)))
}

fn name_room<'n>(names: impl IntoIterator<Item = &'n str>) -> f64 {
    let widest = names.into_iter().map(|name| width(&label(name, LETTERS), 15.0)).fold(20.0, f64::max);
    widest.min(WIDEST_NAME) + 34.0
}

const LETTERS: usize = 14;
const WIDEST_NAME: f64 = 150.0;
/// A drawing is 912 wide, and lines are about 2 wide.
const COLUMNS: f64 = 450.0;
const MARGIN: f64 = 8.0;
const SENTENCE_LINES: usize = 2;

#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod tests;
