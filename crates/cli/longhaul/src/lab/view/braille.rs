//! A canvas of dots: each character has two columns and four rows of them (Unicode's Braille
//! patterns).

use anstyle::Style;
use report::terminal::table::{Line, Words};

use crate::output::{CYAN, DIM, PLAIN, RED, YELLOW};

pub(super) type Dot = (f64, f64);

/// A character has the colour of its highest layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Coast,
    Moving,
    Losing,
    Down,
}

impl Layer {
    pub(super) fn style(self) -> Style {
        match self {
            Self::Coast => DIM,
            Self::Moving => CYAN,
            Self::Losing => YELLOW,
            Self::Down => RED,
        }
    }
}

#[derive(Debug)]
pub(super) struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy)]
enum Cell {
    Dots(u8, Layer),
    Letter(char, Style),
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, cells: vec![Cell::Dots(0, Layer::Coast); columns * rows] }
    }

    pub(super) fn dot(&mut self, (x, y): Dot, layer: Layer) {
        let Some((x, y)) = whole(x).zip(whole(y)) else { return };
        if let Some(Cell::Dots(dots, seen)) = self.cell(x / ACROSS, y / DOWN) {
            *dots |= BITS[y % DOWN][x % ACROSS];
            *seen = layer.max(*seen);
        }
    }

    pub(super) fn mark(&mut self, dot: Dot, style: Style) {
        if let Some((column, row)) = character(dot) {
            self.letter(column, row, MARK, style);
        }
    }

    /// Covers neither a mark nor another name.
    pub(super) fn name(&mut self, dot: Dot, name: &str, style: Style) {
        let Some((column, row)) = character(dot) else { return };
        // A blank on both sides separates adjacent names.
        let letters: Vec<char> = format!(" {name} ").chars().collect();
        let places = [Some(column + 1), column.checked_sub(letters.len())];
        if let Some(start) =
            places.into_iter().flatten().find(|&start| self.is_free(start, letters.len(), row))
        {
            for (column, letter) in (start..).zip(letters) {
                self.letter(column, row, letter, style);
            }
        }
    }

    /// The last letter may be a blank beyond the edge.
    fn is_free(&self, start: usize, length: usize, row: usize) -> bool {
        let end = start + length;
        let is_dots = |column| matches!(self.cells.get(row * self.columns + column), Some(Cell::Dots(..)));
        end <= self.columns + 1 && (start..end.min(self.columns)).all(is_dots)
    }

    fn letter(&mut self, column: usize, row: usize, letter: char, style: Style) {
        if let Some(cell) = self.cell(column, row) {
            *cell = Cell::Letter(letter, style);
        }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get_mut(row * self.columns + column)
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        self.cells.chunks(self.columns.max(1)).map(|row| Line::new(row.iter().map(Cell::words))).collect()
    }
}

impl Cell {
    fn words(&self) -> Words {
        match *self {
            Self::Dots(0, _) => Words::styled(" ", PLAIN),
            Self::Dots(dots, layer) => {
                let pattern = char::from_u32(u32::from('\u{2800}') + u32::from(dots)).unwrap_or(' ');
                Words::styled(pattern, layer.style())
            }
            Self::Letter(letter, style) => Words::styled(letter, style),
        }
    }
}

fn character((x, y): Dot) -> Option<(usize, usize)> {
    Some((whole(x)? / ACROSS, whole(y)? / DOWN))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "terminals have thousands of dots"
)]
fn whole(coordinate: f64) -> Option<usize> {
    (0.0..1e6).contains(&coordinate).then_some(coordinate as usize)
}

pub(super) const MARK: char = '●';

pub(super) const ACROSS: usize = 2;
pub(super) const DOWN: usize = 4;

/// Braille counts down the left column, down the right one, and along the fourth row.
const BITS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(canvas: &Canvas) -> Vec<String> {
        let lines = canvas.lines();
        lines.iter().map(|line| anstream::adapter::strip_str(&line.to_string()).to_string()).collect()
    }

    #[test]
    fn eight_dots_fill_a_character() {
        let mut canvas = Canvas::new(2, 1);
        for (x, y) in (0..2_u8).flat_map(|x| (0..4_u8).map(move |y| (x, y))) {
            canvas.dot((f64::from(x), f64::from(y)), Layer::Coast);
        }
        canvas.dot((2.0, 0.0), Layer::Coast);
        assert_eq!(text(&canvas), ["\u{28ff}\u{2801}"]);
    }

    #[test]
    fn what_is_beside_the_canvas_is_left_out() {
        let mut canvas = Canvas::new(2, 1);
        for dot in [(-0.5, 0.0), (4.0, 0.0), (0.0, 4.0), (f64::NAN, 0.0)] {
            canvas.dot(dot, Layer::Coast);
            canvas.mark(dot, PLAIN);
            canvas.name(dot, "a", PLAIN);
        }
        assert_eq!(text(&canvas), ["  "]);
    }

    #[test]
    fn a_name_stands_where_it_covers_no_other() {
        let mut canvas = Canvas::new(20, 2);
        let cities = [
            ((4.0, 0.0), "oslo"),
            ((38.0, 0.0), "kiev"),
            ((8.0, 5.0), "far too long a name"),
            ((20.0, 4.0), "bonn"),
        ];
        for (dot, _) in cities {
            canvas.mark(dot, PLAIN);
        }
        for (dot, name) in cities {
            canvas.name(dot, name, PLAIN);
        }
        assert_eq!(text(&canvas), ["  ● oslo      kiev ●", "    ●     ● bonn    "]);
    }

    #[test]
    fn the_worst_in_a_character_is_seen() {
        let mut canvas = Canvas::new(1, 1);
        canvas.dot((0.0, 0.0), Layer::Down);
        canvas.dot((1.0, 0.0), Layer::Moving);
        assert_eq!(canvas.lines(), [Line::new([Words::styled('\u{2809}', RED)])]);
    }
}
