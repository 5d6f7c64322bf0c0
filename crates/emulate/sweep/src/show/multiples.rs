//! The charts of a sweep: small multiples, one per figure, over the parameter with the most values.

use std::collections::BTreeSet;

use report::figures::{Axis, Line, Multiples};
use units::show::digits;

use super::columns::{PARAMETERS, Parameter, label};
use crate::{Cell, Parameters, Size};

pub(super) fn panels(cells: &[Cell]) -> Vec<Multiples> {
    let Some(grid) = Grid::of(cells) else { return Vec::new() };
    CHARTS.iter().filter_map(|chart| grid.draw(chart, cells)).collect()
}

pub(super) fn headline(cells: &[Cell]) -> String {
    sentence(&CHARTS[0], cells)
}

struct Chart {
    title: &'static str,
    axis: &'static str,
    unit: &'static str,
    value: fn(&Cell) -> Option<f64>,
}

const CHARTS: [Chart; 5] = [
    Chart {
        title: "Throughput of a reader that reads as fast as it can",
        axis: "mean throughput",
        unit: "Mbit/s",
        value: |cell| cell.figures.as_ref()?.fast_mean_mbps,
    },
    Chart {
        title: "Until the network is as fast again after a slow phase",
        axis: "restart",
        unit: "s",
        value: |cell| cell.figures.as_ref()?.restart_s,
    },
    Chart {
        title: "The longest time in which the reader would have read and there was nothing",
        axis: "longest pause",
        unit: "ms",
        value: |cell| Some(cell.figures.as_ref()?.max_pause_ms),
    },
    Chart {
        title: "The largest receive buffer",
        axis: "buffer",
        unit: "MiB",
        value: |cell| Some(f64::from(cell.figures.as_ref()?.rcvbuf_bytes?) / f64::from(1 << 20)),
    },
    Chart {
        title: "Packets merged to make room in a full buffer",
        axis: "collapsed",
        unit: "packets",
        value: |cell| collapsed(cell).filter(|collapsed| *collapsed > 0.0),
    },
];

#[expect(clippy::cast_precision_loss, reason = "a count for a chart")]
fn collapsed(cell: &Cell) -> Option<f64> {
    Some(cell.figures.as_ref()?.collapses? as f64)
}

struct Grid {
    along: Along,
    row: Option<&'static Parameter>,
    column: Option<&'static Parameter>,
    line: Vec<&'static Parameter>,
}

#[derive(Clone, Copy)]
struct Along {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    value: fn(&Parameters) -> Option<f64>,
}

const NUMBERS: [Along; 4] = [
    Along { name: "rtt", title: "round trip", unit: "ms", value: |of| Some(of.rtt.as_secs_f64() * 1e3) },
    Along {
        name: "rate",
        title: "rate",
        unit: "Mbit/s",
        value: |of| Some(as_f64(of.rate.bits_per_second()) / 1e6),
    },
    Along {
        name: "rmem",
        title: "largest receive buffer",
        unit: "MiB",
        value: |of| of.rmem.value().copied().map(mebibytes),
    },
    Along {
        name: "notsent_lowat",
        title: "tcp_notsent_lowat",
        unit: "MiB",
        value: |of| of.notsent_lowat.value().copied().map(mebibytes),
    },
];

fn mebibytes(Size(bytes): Size) -> f64 {
    as_f64(bytes.0) / f64::from(1 << 20)
}

#[expect(clippy::cast_precision_loss, reason = "units bounds rates and amounts below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

impl Grid {
    fn of(cells: &[Cell]) -> Option<Self> {
        let values = |along: &Along| -> Option<usize> {
            let all: Option<Vec<f64>> = cells.iter().map(|cell| (along.value)(&cell.parameters)).collect();
            Some(all?.into_iter().map(f64::to_bits).collect::<BTreeSet<_>>().len())
        };
        // The first of several with the same count; `max_by_key` would return the last.
        let along = *NUMBERS.iter().rev().max_by_key(|along| values(along))?;
        cells.first()?;
        let mut varied: Vec<_> =
            PARAMETERS.iter().filter(|one| one.name != along.name && one.varies(cells)).collect();
        let mut take = |names: &[&str]| {
            let found = names.iter().find_map(|name| varied.iter().position(|one| one.name == *name))?;
            Some(varied.remove(found))
        };
        let row = take(&["reader"]);
        let column = take(&["rate", "rtt", "congestion", "notsent_lowat"]);
        Some(Self { along, row, column, line: varied })
    }

    fn draw(&self, chart: &Chart, cells: &[Cell]) -> Option<Multiples> {
        if cells.iter().all(|cell| (chart.value)(cell).is_none()) {
            return None;
        }
        let place = |cell: &Cell| {
            [self.row, self.column].map(|of| of.map_or_else(String::new, |of| of.show(&cell.parameters)))
        };
        let empty = Multiples::new(chart.title, self.axis(cells), Axis::linear(chart.axis, chart.unit));
        let charts = groups(cells.iter(), place);
        let draw = |multiples: Multiples, ([row, column], here): ([String; 2], Vec<&Cell>)| {
            multiples.chart(row, column, self.lines(chart, here))
        };
        Some(charts.into_iter().fold(empty.says(sentence(chart, cells)), draw))
    }

    /// Logarithmic if the values span more than a factor of ten.
    fn axis(&self, cells: &[Cell]) -> Axis {
        let values: Vec<_> = cells.iter().filter_map(|cell| (self.along.value)(&cell.parameters)).collect();
        let (least, most) =
            values.iter().fold((f64::MAX, 0.0_f64), |(least, most), x| (least.min(*x), most.max(*x)));
        if most > 10.0 * least {
            Axis::log(self.along.title, self.along.unit)
        } else {
            Axis::linear(self.along.title, self.along.unit)
        }
    }

    fn lines(&self, chart: &Chart, cells: Vec<&Cell>) -> Vec<Line> {
        let setting = |cell: &Cell| {
            let values: Vec<_> = self.line.iter().map(|one| one.show(&cell.parameters)).collect();
            values.join(" ")
        };
        let point = |cell: &Cell| Some(((self.along.value)(&cell.parameters)?, (chart.value)(cell)));
        let of_setting = |(setting, cells): (String, Vec<&Cell>)| {
            let (valid, invalid): (Vec<&Cell>, Vec<&Cell>) = cells.into_iter().partition(|cell| cell.valid);
            let valid = Line::new(setting.clone(), valid.into_iter().filter_map(point));
            [valid, Line::new(setting, invalid.into_iter().filter_map(point)).crosses()]
        };
        let lines = groups(cells, setting).into_iter().flat_map(of_setting);
        lines.filter(|line| line.y.iter().any(Option::is_some)).collect()
    }
}

fn groups<'c, K: PartialEq>(
    cells: impl IntoIterator<Item = &'c Cell>,
    key: impl Fn(&Cell) -> K,
) -> Vec<(K, Vec<&'c Cell>)> {
    let mut groups: Vec<(K, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let own = key(cell);
        match groups.iter_mut().find(|(key, _)| *key == own) {
            Some((_, group)) => group.push(cell),
            None => groups.push((own, vec![cell])),
        }
    }
    groups
}

fn sentence(chart: &Chart, cells: &[Cell]) -> String {
    let mut known: Vec<_> = cells
        .iter()
        .filter(|cell| cell.valid)
        .filter_map(|cell| Some(((chart.value)(cell)?, label(cell, cells))))
        .collect();
    known.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let Some(((least, low), (most, high))) = known.first().zip(known.last()) else {
        return "No measurement is valid.".to_owned();
    };
    let Chart { unit, .. } = chart;
    let range = format!("From {} {unit} ({low}) to {} {unit} ({high}).", digits(*least), digits(*most));
    let is_whole = cells.iter().all(|cell| cell.valid || (chart.value)(cell).is_none());
    if is_whole { range } else { format!("{range} Crosses are INVALID measurements.") }
}
