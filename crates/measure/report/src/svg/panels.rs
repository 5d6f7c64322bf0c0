//! Places panels side by side or one below the other: one per side, all with the same scales.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Panel {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) is_last_row: bool,
}

pub(super) fn panels(sides: usize, columns: usize) -> Vec<Panel> {
    let rows = sides.div_ceil(columns.clamp(1, sides.max(1))).max(1);
    rows_of(sides, columns, (BOTTOM - TOP) / rows as f64)
}

pub(super) fn rows_of(sides: usize, columns: usize, height: f64) -> Vec<Panel> {
    let columns = columns.min(sides).max(1);
    let width = (RIGHT - LEFT) / columns as f64;
    let panel = |index: usize| {
        let (row, column) = (index / columns, index % columns);
        let (left, top) = (LEFT + width * column as f64, TOP + height * row as f64);
        Panel { left, top, right: left + width, bottom: top + height, is_last_row: index + columns >= sides }
    };
    (0..sides).map(panel).collect()
}

/// More panels cannot be read on a slide.
pub(super) const MOST: usize = 6;

const LEFT: f64 = 16.0;
const RIGHT: f64 = 950.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 500.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_share_the_drawing() {
        let two = panels(2, 1);
        // (500 - 76)/2 = 212.
        assert_eq!((two[0].top, two[0].bottom, two[1].bottom), (76.0, 288.0, 500.0));
        assert_eq!((two[0].is_last_row, two[1].is_last_row), (false, true));
        let three = panels(3, 2);
        assert_eq!((three[1].left, three[2].left, three[2].top), (483.0, 16.0, 288.0));
        assert_eq!(three.iter().map(|panel| panel.is_last_row).collect::<Vec<_>>(), [false, true, true]);
        assert!(panels(0, 3).is_empty());
    }
}
