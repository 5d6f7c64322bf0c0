//! The heading of a chart: its statement, and the conditions of the measurement.

use super::{
    canvas::{Canvas, Lettering, WIDTH},
    frame::width,
    palette::{INK, MUTED},
};
use crate::{
    model::{Report, Side},
    text::{count, label, percent, plain, plural},
};

/// `intervals` is how intervals are drawn ("bands"); empty if they are not.
pub(super) fn headed(report: &Report, title: &str, intervals: &str) -> Canvas {
    let level = report.comparison.intervals.as_ref().filter(|_| !intervals.is_empty());
    let level = level
        .map_or_else(String::new, |one| format!("{intervals}: {} % intervals", percent(one.level * 100.0)));
    let page = page(report);
    headed_with(report, title, &if level.is_empty() { page } else { format!("{page}; {level}") })
}

pub(super) fn headed_with(report: &Report, title: &str, remark: &str) -> Canvas {
    let mut canvas = Canvas::default();
    write_heading(&mut canvas, title, &conditions(report, remark), report.valid);
    canvas
}

pub(super) fn write_heading(canvas: &mut Canvas, title: &str, conditions: &str, is_valid: bool) {
    let color = if is_valid { INK } else { INVALID };
    let (size, title) = shrunk(title, 22.0, 15.0, BOLD);
    canvas.text((MARGIN, 32.0), &title, Lettering { weight: 600, color, ..Lettering::new(size) });
    let (size, conditions) = shrunk(conditions, 15.0, 12.0, 1.0);
    canvas.text((MARGIN, 60.0), &conditions, Lettering { color: MUTED, ..Lettering::new(size) });
}

pub(super) fn wrapped(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => *line += &format!(" {word}"),
            Some(line) if is_full => {
                line.push('\u{2026}');
                break;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(super) fn finish(report: &Report, canvas: Canvas, title: &str, figures: &str) -> String {
    let gap = if figures.is_empty() { "" } else { " " };
    canvas.finish(title, &format!("{}. {figures}{gap}{}.", plain(title), conditions(report, &page(report))))
}

fn conditions(report: &Report, remark: &str) -> String {
    let comparison = &report.comparison;
    let invalid = if report.valid { "" } else { INVALID_RUN };
    let metric = plain(&comparison.metric);
    let without = if comparison.excluded_phases.is_empty() {
        String::new()
    } else {
        format!(" without {}", plain(&comparison.excluded_phases.join(", ")))
    };
    let gap = if remark.is_empty() { "" } else { ", " };
    format!("{invalid}{metric}{without}{gap}{remark}; n = {}", samples(&comparison.sides))
}

fn samples(sides: &[Side]) -> String {
    let all_alike = sides.windows(2).all(|pair| pair[0].n == pair[1].n);
    match sides {
        [one] => count(one.n),
        [first, ..] if all_alike => format!("{} a side", count(first.n)),
        _ => {
            let named =
                sides.iter().take(SIDES).map(|side| format!("{} {}", count(side.n), label(&side.label, 16)));
            let more = sides.len().saturating_sub(SIDES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            named.collect::<Vec<_>>().join(", ") + &more
        }
    }
}

fn page(report: &Report) -> String {
    let page = &report.comparison.page;
    let requests = plural(page.requests.into(), "request");
    if page.effective_requests == page.requests {
        return format!("page of {requests}");
    }
    format!("page of {requests}, {} required", count(page.effective_requests.into()))
}

/// Reduces the size first, then cuts. `weight` is the width relative to the normal weight.
fn shrunk(text: &str, size: f64, least: f64, weight: f64) -> (f64, String) {
    let room = WIDTH - 2.0 * MARGIN;
    let needed = width(text, size) * weight;
    if needed <= room {
        return (size, text.to_owned());
    }
    let size = (size * room / needed).max(least);
    let mut kept: Vec<char> = text.chars().collect();
    while kept.len() > 1 && width(&kept.iter().collect::<String>(), size) * weight > room + ROUNDING {
        kept.pop();
    }
    let is_cut = kept.len() < text.chars().count();
    let text: String = kept.into_iter().collect();
    (size, if is_cut { format!("{}\u{2026}", text.trim_end()) } else { text })
}

/// In units of the drawing.
const ROUNDING: f64 = 0.01;
const BOLD: f64 = 1.1;
const SIDES: usize = 4;
pub(super) const MARGIN: f64 = 24.0;
pub(super) const INVALID: &str = "#9c2a00";
pub(super) const INVALID_RUN: &str = "INVALID: the tool shaped these numbers. ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_wrapped_and_then_cut() {
        // Five n are 5 x 0.62 x 10 = 31 wide, two such words 62 and a space of 3.2.
        let text = "nnnnn nnnnn nnnnn";
        assert_eq!(wrapped(text, 10.0, 66.0, 3), ["nnnnn nnnnn", "nnnnn"]);
        assert_eq!(wrapped(text, 10.0, 65.0, 2), ["nnnnn", "nnnnn\u{2026}"]);
        assert_eq!(wrapped("", 10.0, 65.0, 2), [""; 0]);
    }

    #[test]
    fn what_is_too_long_becomes_smaller_and_then_shorter() {
        assert_eq!(shrunk("short", 23.0, 16.0, 1.1), (23.0, "short".to_owned()));
        // 80 n: 80 x 0.62 x 1.1 x 23 = 1255 for 912, so 16.72.
        let (size, text) = shrunk(&"n".repeat(80), 23.0, 16.0, 1.1);
        assert!((size - 16.716).abs() < 0.01 && text.len() == 80);
        for length in 60..83 {
            assert_eq!(shrunk(&"n".repeat(length), 23.0, 16.0, 1.1).1.len(), length);
        }
        // 912/(16 x 0.62 x 1.1) = 83.6.
        let (size, text) = shrunk(&"n".repeat(200), 23.0, 16.0, 1.1);
        assert_eq!((size, text), (16.0, "n".repeat(83) + "\u{2026}"));
    }
}
