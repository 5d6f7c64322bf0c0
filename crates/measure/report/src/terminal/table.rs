//! The table layout for terminals, and styled lines that can be cut to the width of a window.

use std::fmt;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::look::{PLAIN, paint};

/// A table from its header and rows: the first column left-aligned, numbers right-aligned. Ends in
/// a newline.
pub fn table<Row: IntoIterator<Item = String>>(
    header: impl IntoIterator<Item = String>,
    rows: impl IntoIterator<Item = Row>,
) -> String {
    let mut table = Table::new(1, header);
    rows.into_iter().for_each(|row| table.row(row.into_iter().map(Words::from)));
    table.to_string()
}

/// A few words in one style.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    text: String,
    style: Style,
}

impl<T: Into<String>> From<T> for Words {
    fn from(text: T) -> Self {
        Self::styled(text, PLAIN)
    }
}

impl Words {
    /// Words in a style, without control characters that move a cursor or ring a bell.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into().replace(char::is_control, "\u{fffd}"), style }
    }

    /// The width in terminal columns.
    pub fn width(&self) -> usize {
        self.text.width()
    }
}

/// A line of a terminal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line(Vec<Words>);

impl Line {
    /// A line of these words, one after the other.
    pub fn new(words: impl IntoIterator<Item = Words>) -> Self {
        Self(words.into_iter().collect())
    }

    /// Cut to at most `width` terminal columns; a longer line ends in an ellipsis.
    #[must_use]
    pub fn cut(&self, width: usize) -> Self {
        if self.0.iter().map(Words::width).sum::<usize>() <= width {
            return self.clone();
        }
        let mut room = width.saturating_sub(1);
        let cut = |words: &Words| {
            let text: String = words.text.chars().take_while(|letter| take(&mut room, *letter)).collect();
            Words { text, style: words.style }
        };
        Self(self.0.iter().map(cut).chain((width > 0).then(|| "…".into())).collect())
    }

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

/// Returns whether the character fits. After the first that does not, there is no room left.
fn take(room: &mut usize, letter: char) -> bool {
    let width = letter.width().unwrap_or(0);
    let fits = width <= *room;
    *room = if fits { *room - width } else { 0 };
    fits
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

/// Columns below their names and a rule: the first are left-aligned, the others are right-aligned
/// numbers.
#[derive(Debug, Clone)]
pub struct Table {
    left: usize,
    header: Vec<Words>,
    rows: Vec<Vec<Words>>,
}

impl Table {
    /// A table whose first `left` columns are text.
    pub fn new<T: Into<Words>>(left: usize, header: impl IntoIterator<Item = T>) -> Self {
        Self { left, header: header.into_iter().map(T::into).collect(), rows: Vec::new() }
    }

    /// One more row, with a cell for each column.
    pub fn row(&mut self, row: impl IntoIterator<Item = Words>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Its lines: header, rule and rows.
    pub fn lines(&self) -> Vec<Line> {
        let mut widths: Vec<usize> = self.header.iter().map(Words::width).collect();
        for row in &self.rows {
            for (width, words) in std::iter::zip(&mut widths, row) {
                *width = words.width().max(*width);
            }
        }
        let length = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) + 2 * MARGIN;
        let header = self.line(&self.header, &widths);
        let rows = self.rows.iter().map(|row| self.line(row, &widths));
        [header, "─".repeat(length).into()].into_iter().chain(rows).collect()
    }

    fn line(&self, row: &[Words], widths: &[usize]) -> Line {
        let cells = std::iter::zip(row, widths).enumerate().map(|(column, (words, width))| {
            let before = if column == 0 { MARGIN } else { GAP };
            let missing = width - words.width();
            let (before, after) = if column < self.left { (before, missing) } else { (before + missing, 0) };
            Words { text: format!("{:before$}{}{:after$}", "", words.text, ""), style: words.style }
        });
        Line(cells.collect()).trimmed()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

const GAP: usize = 3;

/// On either side; the rule goes over them.
const MARGIN: usize = 1;

#[cfg(test)]
mod tests {
    use super::{super::look::RED, *};

    fn table() -> Table {
        let mut table = Table::new(2, ["link", "what", "rate"]);
        table.row(["london → paris", "", "1.00 Gbit/s"].map(Words::from));
        table.row(["a".into(), Words::styled("down", RED), "7 bit/s".into()]);
        table
    }

    #[test]
    fn text_is_on_the_left_and_numbers_on_the_right() {
        let lines: Vec<_> = table()
            .lines()
            .iter()
            .map(|line| {
                let words: Vec<_> = line.0.iter().map(|words| words.text.as_str()).collect();
                words.concat()
            })
            .collect();
        assert_eq!(
            lines,
            [
                " link             what          rate",
                "─────────────────────────────────────",
                " london → paris          1.00 Gbit/s",
                " a                down       7 bit/s",
            ]
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(1, ["side", "ms"]);
        table.row(["東京", "1"].map(Words::from));
        table.row(["oslo", "2"].map(Words::from));
        let lines: Vec<_> = table.lines().iter().map(ToString::to_string).collect();
        assert_eq!(lines[2..], [" 東京    1", " oslo    2"]);
        assert_eq!(Line::from("東京").cut(2).to_string(), "…", "half of a character is not shown");
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
