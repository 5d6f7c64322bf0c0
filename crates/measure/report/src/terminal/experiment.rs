//! Shows an experiment: its tables with notes, and its timelines as rows of bars with the phases
//! below.

use std::fmt::Write;

use super::{Detail, caveats, table::table};
use crate::{
    figures::{Figures, Line, Panel, Table, Timeline},
    text::{digits, label, plain, time},
};

pub(super) fn experiment(figures: &Figures, detail: Detail) -> String {
    let mut text: String = figures.tables.iter().map(|table| rows(table, detail)).collect();
    text += &caveats(&figures.doubts);
    for panel in &figures.panels {
        if let Panel::Timeline(timeline) = panel {
            text += &Bars::new(timeline).map_or_else(String::new, |bars| bars.draw(timeline));
        }
    }
    text
}

fn rows(shown: &Table, detail: Detail) -> String {
    if shown.rows.is_empty() {
        return String::new();
    }
    let is_shown: Vec<bool> =
        shown.columns.iter().map(|column| !column.wide || detail == Detail::Wide).collect();
    let header = shown.columns.iter().zip(&is_shown).filter(|(_, is_shown)| **is_shown);
    let header = header.map(|(column, _)| plain(&column.title));
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&is_shown).filter(|(_, is_shown)| **is_shown);
        cells.map(|(cell, _)| label(cell, CELL)).collect::<Vec<_>>()
    };
    table(header, shown.rows.iter().map(row))
}

struct Bars {
    bar_s: f64,
    bars: usize,
    top: f64,
}

impl Bars {
    fn new(timeline: &Timeline) -> Option<Self> {
        let steps = timeline.lines.iter().filter_map(|line| Some(line.x.get(1)? - line.x.first()?));
        let step = steps.reduce(f64::max).filter(|step| *step > 0.0)?;
        let ends = timeline.lines.iter().filter_map(|line| line.x.last().copied());
        // A little less, because 3 * 0.1 is more than 0.3.
        let steps = (ends.fold(0.0, f64::max) / step - 1e-9).ceil();
        // Whole steps, so that no bar has one more than others.
        let merged = (steps / MOST_BARS).ceil().max(1.0);
        let mut bars = Self { bar_s: step * merged, bars: whole((steps / merged).ceil()), top: 0.0 };
        bars.top = timeline.lines.iter().flat_map(|line| bars.means(line)).fold(0.0, f64::max);
        (bars.top > 0.0).then_some(bars)
    }

    fn means(&self, line: &Line) -> Vec<f64> {
        let mut sums = vec![0.0; self.bars];
        for (span, value) in line.x.windows(2).zip(&line.y) {
            let (&[from, to], &Some(value)) = (span, value) else { continue };
            for (bar, sum) in (0_u32..).zip(&mut sums) {
                let begins = f64::from(bar) * self.bar_s;
                let overlap = to.min(begins + self.bar_s) - from.max(begins);
                *sum += value * overlap.max(0.0) / self.bar_s;
            }
        }
        let end = line.x.last().copied().unwrap_or_default();
        sums.truncate(whole((end / self.bar_s - 1e-9).ceil()));
        sums
    }

    fn draw(&self, timeline: &Timeline) -> String {
        let mut text = "\n".to_owned();
        for line in &timeline.lines {
            let bars: String = self.means(line).into_iter().map(|mean| bar(mean / self.top)).collect();
            let _ = writeln!(text, " {:LABEL$} {bars}", label(&line.name, LABEL));
        }
        for phase in timeline.phases.iter().take(PHASES) {
            let [from, until] = [phase.from_s, phase.to_s].map(|at| self.column(at));
            let (before, during) = (" ".repeat(from), "━".repeat((until - from).max(1)));
            let _ = writeln!(text, " {:LABEL$} {before}{during} {}", "", label(&phase.label, PHASE));
        }
        let (bar, top, unit) = (time(self.bar_s), digits(self.top), &timeline.y.unit);
        text + &format!(" {:LABEL$} {bar} per bar; the highest is {top} {unit}\n", "")
    }

    fn column(&self, at_s: f64) -> usize {
        // A little more, because 0.3 / 0.1 is less than 3.
        whole((at_s / self.bar_s + 1e-9).floor()).min(self.bars)
    }
}

fn bar(share: f64) -> char {
    BARS[whole((share * 8.0 - 1e-9).ceil()).min(8)]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, and clamped to 0")]
fn whole(number: f64) -> usize {
    number.clamp(0.0, 1e6) as usize
}

const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const MOST_BARS: f64 = 61.0;
const PHASES: usize = 4;
const PHASE: usize = 40;
const LABEL: usize = 14;
/// Wider than any figure needs.
const CELL: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Axis, Column};

    /// One step per second: ten at 8 Mbit/s, five at 0, the rest at half.
    fn throughput() -> Timeline {
        let rate = |second: u32| match second {
            0..10 => 8.0,
            10..15 => 0.0,
            _ => 4.0,
        };
        Timeline::new("Throughput", Axis::linear("arrived", "Mbit/s"))
            .line(Line::steps("two lines", 0.0, 1.0, (0..=60).map(rate)))
            .phase("phone's cable: down", 10.0, 15.0)
    }

    fn drawn(timeline: Timeline) -> Vec<String> {
        let text = experiment(&Figures::new("", "").panel(timeline), Detail::Short);
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn phases_lie_beneath_what_they_did() {
        let lines = drawn(throughput());
        // 61 s on 61 bars: a second each; half of the highest is four eighths.
        let bars = "█".repeat(10) + &"·".repeat(5) + &"▄".repeat(46);
        assert_eq!(lines[1], format!(" two lines      {bars}"));
        assert_eq!(lines[2], format!("{}━━━━━ phone's cable: down", " ".repeat(16 + 10)));
        assert_eq!(lines[3], format!("{}1.00 s per bar; the highest is 8.00 Mbit/s", " ".repeat(16)));
    }

    #[test]
    fn a_long_line_has_bars_of_several_steps() {
        let long = Timeline::new("", Axis::linear("arrived", "Mbit/s")).line(Line::steps(
            "x",
            0.0,
            0.1,
            (0..122).map(|step| if step % 2 == 0 { 3.0 } else { 1.0 }),
        ));
        let lines = drawn(long);
        assert_eq!(lines[1], format!(" x              {}", "█".repeat(61)));
        assert!(lines[2].contains("200 ms per bar; the highest is 2.00 Mbit/s"), "{}", lines[2]);
        assert!(drawn(Timeline::new("", Axis::linear("", ""))).is_empty());
    }

    #[test]
    fn wide_columns_need_room() {
        let columns = [Column::text("side"), Column::text("from").wide(), Column::number("took")];
        let table = Table::new("", columns).row(["bulk", "a", "3 s"].map(str::to_owned));
        let figures = Figures::new("", "").table(table);
        assert!(!experiment(&figures, Detail::Short).contains("from"));
        assert!(experiment(&figures, Detail::Wide).contains("from"));
    }
}
