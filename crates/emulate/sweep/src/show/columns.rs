//! The columns of a sweep: its parameters and its figures.

use units::show::{count, digits, plain};

use crate::{Cell, Figures, Parameters};

pub(crate) struct Parameter {
    pub name: &'static str,
    show: fn(&Parameters) -> String,
}

pub(crate) struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    show: fn(&Figures) -> Option<String>,
}

impl Parameter {
    pub(crate) fn show(&self, parameters: &Parameters) -> String {
        plain(&(self.show)(parameters))
    }

    pub(crate) fn varies(&self, cells: &[Cell]) -> bool {
        let values =
            cells.windows(2).map(|pair| [&pair[0], &pair[1]].map(|cell| self.show(&cell.parameters)));
        values.into_iter().any(|[one, other]| one != other)
    }
}

impl Figure {
    pub(crate) fn show(&self, cell: &Cell) -> Option<String> {
        cell.figures.as_ref().and_then(self.show)
    }

    pub(crate) fn is_known(&self, cells: &[Cell]) -> bool {
        cells.iter().any(|cell| self.show(cell).is_some())
    }

    pub(crate) fn is_none(&self, cells: &[Cell]) -> bool {
        cells.iter().filter_map(|cell| self.show(cell)).all(|shown| shown == "0")
    }
}

pub(crate) fn titled(figure: &Figure) -> String {
    if figure.unit.is_empty() { figure.name.to_owned() } else { format!("{} ({})", figure.name, figure.unit) }
}

pub(crate) fn label(cell: &Cell, cells: &[Cell]) -> String {
    if cells.len() == 1 {
        return plain(&cell.parameters.to_string());
    }
    let varied = PARAMETERS.iter().filter(|parameter| parameter.varies(cells));
    let values: Vec<_> = varied.map(|parameter| parameter.show(&cell.parameters)).collect();
    values.join(", ")
}

pub(crate) const PARAMETERS: [Parameter; 7] = [
    Parameter { name: "rtt", show: |of| units::duration::show(of.rtt) },
    Parameter { name: "rate", show: |of| of.rate.to_string() },
    Parameter { name: "rmem", show: |of| of.rmem.to_string() },
    Parameter { name: "adv_win_scale", show: |of| of.adv_win_scale.to_string() },
    Parameter { name: "notsent_lowat", show: |of| of.notsent_lowat.to_string() },
    Parameter { name: "congestion", show: |of| of.congestion.to_string() },
    Parameter { name: "reader", show: |of| of.programme.name.clone() },
];

/// In the order of the published tables.
pub(crate) const FIGURES: [Figure; 11] = [
    Figure {
        name: "fast",
        unit: "Mbit/s",
        show: |of| of.fast_mbps.map(|[low, high]| format!("{} to {}", digits(low), digits(high))),
    },
    Figure { name: "mean", unit: "Mbit/s", show: |of| of.fast_mean_mbps.map(digits) },
    Figure { name: "slow", unit: "Mbit/s", show: |of| of.slow_mbps.map(digits) },
    Figure { name: "restart", unit: "s", show: restart },
    Figure { name: "pause", unit: "ms", show: |of| Some(digits(of.max_pause_ms)) },
    Figure { name: "prunes", unit: "", show: |of| of.prunes.map(count) },
    Figure { name: "collapsed", unit: "", show: |of| of.collapses.map(count) },
    Figure { name: "drops", unit: "", show: |of| of.drops.map(|drops| count(drops.into())) },
    Figure { name: "window", unit: "MiB", show: |of| of.window_bytes.map(mebibytes) },
    Figure { name: "buffer", unit: "MiB", show: |of| of.rcvbuf_bytes.map(mebibytes) },
    Figure { name: "memory/byte", unit: "", show: |of| of.metadata_ratio.map(digits) },
];

fn restart(of: &Figures) -> Option<String> {
    match (of.restart_s, of.restarts_missed) {
        (None, 0) => None,
        (None, _) => Some("never".to_owned()),
        (Some(seconds), 0) => Some(digits(seconds)),
        (Some(seconds), missed) => Some(format!("{}, {missed} never", digits(seconds))),
    }
}

fn mebibytes(bytes: u32) -> String {
    digits(f64::from(bytes) / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        let shown = [0.0, 0.0042, 0.99, 1.0, 9.949, 9.95, 42.04, 508.4, 1234.5].map(digits);
        assert_eq!(shown, ["0", "0.004", "0.990", "1.00", "9.95", "9.9", "42.0", "508", "1 234"]);
    }

    #[test]
    fn a_restart_that_never_was_is_no_zero() {
        let figures =
            |restart_s, restarts_missed| Figures { restart_s, restarts_missed, ..Figures::default() };
        assert_eq!(restart(&figures(None, 0)), None);
        assert_eq!(restart(&figures(None, 2)).unwrap(), "never");
        assert_eq!(restart(&figures(Some(4.849), 0)).unwrap(), "4.85");
        assert_eq!(restart(&figures(Some(4.849), 1)).unwrap(), "4.85, 1 never");
    }
}
