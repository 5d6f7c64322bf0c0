//! Lines and tables whose parts have styles, and which can be cut to a window's width.

use std::fmt;

use anstyle::Style;

use crate::output::{PLAIN, paint};

/// A few words in one style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    text: String,
    style: Style,
}

impl<T: Into<String>> From<T> for Words {
    fn from(text: T) -> Self {
        Self::styled(text, PLAIN)
    }
}

impl Words {
    /// Words that stand out. Nothing in them moves a cursor or rings a bell.
    pub(super) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into().replace(char::is_control, "\u{fffd}"), style }
    }

    pub(super) fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A line of a terminal.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line(Vec<Words>);

impl Line {
    pub(super) fn new(words: impl IntoIterator<Item = Words>) -> Self {
        Self(words.into_iter().collect())
    }

    /// At most `width` characters; of a longer line the last of them says so.
    pub(super) fn cut(&self, width: usize) -> Self {
        if self.0.iter().map(Words::width).sum::<usize>() <= width {
            return self.clone();
        }
        let mut room = width.saturating_sub(1);
        let cut = |words: &Words| {
            let text: String = words.text.chars().take(room).collect();
            room = room.saturating_sub(words.width());
            Words { text, style: words.style }
        };
        Self(self.0.iter().map(cut).chain((width > 0).then(|| "…".into())).collect())
    }

    /// Without blanks at its end.
    fn trimmed(mut self) -> Self {
        while let Some(last) = self.0.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }
}

impl<T: Into<Words>> From<T> for Line {
    fn from(words: T) -> Self {
        Self(vec![words.into()])
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for words in &self.0 {
            if words.style == PLAIN {
                f.write_str(&words.text)?;
            } else {
                f.write_str(&paint(&words.text, words.style))?;
            }
        }
        Ok(())
    }
}

/// Columns below their names, the first ones to the left and the others, which are numbers, to the right.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    left: usize,
    header: [&'static str; N],
    rows: Vec<[Words; N]>,
}

impl<const N: usize> Table<N> {
    /// A table whose first `left` columns are text.
    pub(super) fn new(left: usize, header: [&'static str; N]) -> Self {
        Self { left, header, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, row: [Words; N]) {
        self.rows.push(row);
    }

    /// Its lines: header, rule and rows.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut widths = self.header.map(|name| name.chars().count());
        for row in &self.rows {
            for (width, words) in std::iter::zip(&mut widths, row) {
                *width = words.width().max(*width);
            }
        }
        let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * (N - 1));
        let header = self.line(self.header.map(Words::from), widths);
        let rows = self.rows.iter().map(|row| self.line(row.clone(), widths));
        [header, rule.into()].into_iter().chain(rows).collect()
    }

    fn line(&self, row: [Words; N], widths: [usize; N]) -> Line {
        let mut line = Vec::with_capacity(N);
        for (column, (words, width)) in std::iter::zip(row, widths).enumerate() {
            let gap = if column == 0 { 0 } else { GAP };
            let missing = width - words.width();
            let (before, after) = if column < self.left { (gap, missing) } else { (gap + missing, 0) };
            let text = format!("{:before$}{}{:after$}", "", words.text, "");
            line.push(Words { text, style: words.style });
        }
        Line(line).trimmed()
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::RED;

    fn table() -> Table<3> {
        let mut table = Table::new(2, ["link", "what", "rate"]);
        table.row(["london → paris".into(), "".into(), "1.00 Gbit/s".into()]);
        table.row(["a".into(), Words::styled("down", RED), "7 bit/s".into()]);
        table
    }

    #[test]
    fn text_is_on_the_left_and_numbers_on_the_right() {
        let lines: Vec<_> = table()
            .lines()
            .iter()
            .map(|line| anstream::adapter::strip_str(&line.to_string()).to_string())
            .collect();
        assert_eq!(
            lines,
            [
                "link            what         rate",
                "─────────────────────────────────",
                "london → paris        1.00 Gbit/s",
                "a               down      7 bit/s",
            ]
        );
    }

    #[test]
    fn a_line_is_cut_by_what_is_seen() {
        let line = Line::new(["valid ".into(), Words::styled("INVALID", RED)]);
        assert_eq!(line.cut(8), Line::new(["valid ".into(), Words::styled("I", RED), "…".into()]));
        assert_eq!(line.cut(0), Line::new(["".into(), Words::styled("", RED)]));
        assert_eq!(line.cut(80), line);
        assert_eq!(Line::from("a\u{1b}[2Jb").to_string(), "a\u{fffd}[2Jb");
    }
}
