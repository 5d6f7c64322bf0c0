//! A page of figures of a measurement: for each strategy, the latency of connect() against the
//! share of used ports.

use report::figures::{Axis, Column, Figures, Line, Scatter, Table};
use trafficgen::ports::{Fill, Measurement, Run, Sample};
use units::show::{digits, share};

use super::render;

pub(super) fn figures(measurement: &Measurement) -> Figures {
    let Measurement { ports, port_low, port_high, kernel, destination, .. } = measurement;
    let findings: Vec<_> =
        measurement.strategies.iter().map(|run| format!("{}: {}.", render::name(run), run.finding)).collect();
    let figures = Figures::new("What a source port costs", findings.join(" "))
        .condition("kernel", format!("Linux {kernel}"))
        .condition("ports", format!("{ports}, {port_low}-{port_high}"))
        .condition("to", destination.to_string());
    let figures = measurement.doubts.iter().cloned().fold(figures, Figures::doubt);
    let figures = measurement.strategies.iter().map(scatter).fold(figures, Figures::panel);
    measurement.strategies.iter().fold(figures.table(table(&measurement.strategies)), judged)
}

fn scatter(run: &Run) -> Scatter {
    let connects = |odd: bool| {
        let of_parity = run.samples.iter().filter(move |sample| sample.odd == Some(odd));
        of_parity.map(|Sample { used_share, latency_us, .. }| (*used_share, *latency_us))
    };
    let failed = run.samples.iter().filter(|sample| sample.error.is_some()).map(|sample| sample.used_share);
    let starts = std::iter::once(0.0).chain(run.by_fill.iter().map(|fill| fill.used_share));
    let middles = std::iter::zip(starts, &run.by_fill)
        .map(|(start, fill)| (f64::midpoint(start, fill.used_share), fill.p50_us));
    let scatter = Scatter::new(render::name(run), Axis::share("ports used"), Axis::log("connect", "\u{b5}s"))
        .says(format!("{}.", run.finding))
        .class("even", connects(false))
        .class("odd", connects(true))
        .line(Line::new("p50", middles));
    if run.errors.is_empty() { scatter } else { scatter.marks("failed", failed) }
}

fn table(runs: &[Run]) -> Table {
    let columns = ["connects a second", "first half, p50 (\u{b5}s)", "second half, p50 (\u{b5}s)"];
    let columns = columns.into_iter().chain(["odd in the first half", "odd in the second", "failed"]);
    let table =
        Table::new("Strategies", std::iter::once(Column::text("")).chain(columns.map(Column::number)));
    runs.iter().fold(table, |table, run| {
        let written = |value: Option<f64>| value.map_or_else(String::new, digits);
        let odd = |fill: &Fill| fill.odd_share.map_or_else(String::new, share);
        table.row([
            render::name(run),
            written(run.connects_per_s),
            written(run.first_half.p50_us),
            written(run.second_half.p50_us),
            odd(&run.first_half),
            odd(&run.second_half),
            run.errors.values().sum::<u64>().to_string(),
        ])
    })
}

fn judged(figures: Figures, run: &Run) -> Figures {
    let name = render::name(run);
    run.doubts.iter().cloned().fold(figures, |figures, doubt| figures.doubt(doubt.of(&name)))
}
