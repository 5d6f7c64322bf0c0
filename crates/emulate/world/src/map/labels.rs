//! Places labels next to dots without overlap. A label without room is omitted.

use super::projection::Point;

pub(super) struct Labels {
    top: f64,
    right: f64,
    bottom: f64,
    taken: Vec<Area>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) anchor: Anchor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Labels {
    pub(super) fn new(top: f64, right: f64, bottom: f64) -> Self {
        Self { top, right, bottom, taken: Vec::new() }
    }

    pub(super) fn reserve(&mut self, Point { x, y }: Point, radius: f64) {
        self.taken.push(Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
    }

    pub(super) fn place(&mut self, text: &str, Point { x, y }: Point, radius: f64) -> Option<Label> {
        let gap = radius + 2.0;
        let middle = y + ASCENT / 2.0 - 0.5;
        let sides = [
            Label { at: Point { x: x + gap, y: middle }, anchor: Anchor::Start },
            Label { at: Point { x: x - gap, y: middle }, anchor: Anchor::End },
            Label { at: Point { x, y: y - gap - 1.0 }, anchor: Anchor::Middle },
            Label { at: Point { x, y: y + gap + ASCENT - 1.0 }, anchor: Anchor::Middle },
        ];
        let width = text_width(text);
        let (label, area) =
            sides.map(|label| (label, label.area(width))).into_iter().find(|(_, area)| self.is_free(area))?;
        self.taken.push(area);
        Some(label)
    }

    fn is_free(&self, area: &Area) -> bool {
        let is_inside = area.left >= 0.0
            && area.top >= self.top
            && area.right <= self.right
            && area.bottom <= self.bottom;
        let is_apart = |other: &Area| {
            area.right <= other.left
                || other.right <= area.left
                || area.bottom <= other.top
                || other.bottom <= area.top
        };
        is_inside && self.taken.iter().all(is_apart)
    }
}

impl Label {
    fn area(&self, width: f64) -> Area {
        let Point { x, y } = self.at;
        let left = match self.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        Area { left, top: y - ASCENT, right: left + width, bottom: y + DESCENT }
    }
}

/// Approximate, for a wide sans-serif font such as DejaVu.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c| match c {
        'm' | 'w' | 'M' | 'W' | '%' => 0.95,
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | ' ' | '-' | '.' | '(' | ')' => 0.38,
        c if c.is_ascii() => 0.63,
        _ => 1.0,
    };
    text.chars().map(|c| width(c) * FONT_SIZE).sum()
}

pub(super) const FONT_SIZE: f64 = 11.0;
const ASCENT: f64 = 9.0;
const DESCENT: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_step_aside_and_then_stay_away() {
        let mut labels = Labels::new(0.0, 200.0, 100.0);
        let at = Point { x: 100.0, y: 50.0 };
        labels.reserve(at, 6.0);
        let [right, left, above, below] = [(); 4].map(|()| labels.place("rome", at, 6.0).unwrap());
        assert!(right.anchor == Anchor::Start && right.at.x > 106.0);
        assert!(left.anchor == Anchor::End && left.at.x < 94.0);
        assert!(above.at.y < 44.0 && below.at.y > 56.0);
        assert_eq!(labels.place("rome", at, 6.0), None);
    }

    #[test]
    fn names_stay_in_the_picture() {
        let mut labels = Labels::new(0.0, 100.0, 100.0);
        let name = labels.place("oslo", Point { x: 98.0, y: 50.0 }, 2.0).unwrap();
        assert!(name.anchor == Anchor::End && name.at.x < 96.0);
        assert_eq!(
            labels.place("a name that is wider than all of it", Point { x: 50.0, y: 50.0 }, 2.0),
            None
        );
    }
}
