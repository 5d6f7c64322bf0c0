//! Figures for tests: an oscillating reader, four ways to choose a port and a sweep. Made up, by
//! formulas.

use crate::model::figures::{Axis, Bars, Column, Figures, Line, Multiples, Scatter, Table, Timeline};

pub(crate) fn figures() -> Figures {
    let document =
        Figures::new("An oscillating reader", "941 Mbit/s while it reads fast, and 4 s to return there.")
            .condition("kernel", "6.18")
            .condition("round trip", "300 ms")
            .warning("One run: how much it varies is not known.")
            .table(table());
    let document = timelines().into_iter().fold(document, Figures::panel);
    let document = scatters().into_iter().fold(document, Figures::panel);
    document.panel(sweep()).panel(limits())
}

fn table() -> Table {
    Table::new("What each setting gave", [Column::number("tcp_rmem (MiB)"), Column::number("PruneCalled")])
        .row(["512", "0"].map(str::to_owned))
        .row(["170", "24"].map(str::to_owned))
        .note("Three rounds.")
}

fn rounds(timeline: Timeline) -> Timeline {
    [0.0, 20.0, 40.0].into_iter().fold(timeline, |timeline, from| {
        timeline.phase("fast", from, from + 5.0).phase("slow", from + 5.0, from + 20.0)
    })
}

fn timelines() -> [Timeline; 3] {
    let opening = [4.0, 40.0, 402.0, 508.0, 941.0];
    let read = (0..60_usize).map(|second| opening.get(second % 20).copied().unwrap_or(47.0));
    let filled = |at: f64| if at % 20.0 < 5.0 { 0.1 } else { (at % 20.0 / 9.0).min(1.0) };
    let open = |at: f64| (at * 4.0).exp2().min(1024.0) / 8.0;
    let sampled = |value: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..=6000_u32).map(|i| f64::from(i) / 100.0).map(|at| (at, value(at))).collect()
    };
    [
        rounds(Timeline::new("Throughput", Axis::linear("read", "Mbit/s")))
            .says("Each fast phase takes four seconds to reach the rate of the path.")
            .line(Line::steps("read", 0.0, 1.0, read)),
        rounds(Timeline::new("Window", Axis::linear("window", "MiB")))
            .says("The window opens to 128 MiB and closes when the queue is full.")
            .line(Line::new("rcv_wnd", sampled(&|at| open(at) * (1.0 - 0.9 * filled(at)))))
            .line(Line::new("rcv_ssthresh", sampled(&open)))
            .line(Line::new(
                "snd_cwnd",
                sampled(&|at| if (30.0..32.0).contains(&at) { f64::NAN } else { 0.8 * open(at) }),
            )),
        rounds(Timeline::new("Receive queue", Axis::linear("memory", "MiB")))
            .says("The queue is full after nine seconds of slow reading.")
            .line(Line::new("rmem", sampled(&|at| 512.0 * filled(at) * (0.96 + 0.04 * (9.0 * at).sin()))))
            .line(Line::new("rcvbuf", [(0.0, 512.0), (60.0, 512.0)]).dashed()),
    ]
}

fn scatters() -> [Scatter; 2] {
    let errors = (0..868_u32).map(|i| 1.0 - (f64::from(i) / 868.0).powi(2) * 0.25);
    [
        scatter("kernel default", |fill| if fill < 0.5 { 12.0 } else { 246.0 }, |i| i >= 2000)
            .says("From half the range on, a connect costs 20 times as much."),
        scatter("random window of 500", |_| 11.0, |i| i * 7919 % 13 < 6)
            .says("Always quick; a connect that finds no free port in its window fails.")
            .marks("errors", errors),
    ]
}

fn scatter(title: &str, us: impl Fn(f64) -> f64 + Copy, is_odd: impl Fn(u32) -> bool + Copy) -> Scatter {
    let connect = move |i: u32| {
        let fill = f64::from(i) / 4000.0;
        (fill, us(fill) * (0.4 * (f64::from(i) * 12.9898).sin()).exp())
    };
    let class = |odd: bool| (0..4000).filter(move |&i| is_odd(i) == odd).map(connect);
    let middles = || (0..20_u32).map(|bin| (f64::from(bin) + 0.5) / 20.0);
    Scatter::new(title, Axis::share("ports used"), Axis::log("connect time", "\u{b5}s"))
        .class("even", class(false))
        .class("odd", class(true))
        .line(Line::new("p50", middles().map(|fill| (fill, us(fill)))))
        .line(Line::new("p99", middles().map(|fill| (fill, 1.5 * us(fill)))).dashed())
}

fn sweep() -> Multiples {
    let axes = (Axis::log("round trip", "ms"), Axis::log("throughput", "Mbit/s"));
    let empty = Multiples::new("Throughput by round trip", axes.0, axes.1)
        .says("A window of 4 MiB caps every path longer than 36 ms at 1 Gbit/s");
    [(1000.0, "1 Gbit/s"), (10_000.0, "10 Gbit/s")].into_iter().fold(empty, |all, (rate, row)| {
        ["cubic", "bbr"].into_iter().fold(all, |all, column| {
            let lines = [4.0, 16.0, 128.0].map(|mib: f64| {
                // MiB x 8.388608 is Mbit; the rate without headers is 0.94.
                let at = |rtt: f64| (rtt, (mib * 8388.608 / rtt).min(rate * 0.94));
                Line::new(format!("{mib} MiB"), [0.3, 20.0, 121.0, 300.0].map(at))
            });
            all.chart(row, column, lines)
        })
    })
}

fn limits() -> Bars {
    Bars::new("What limited the connection", Axis::linear("time", "s"))
        .says("The receiver's window limited it for two thirds of the time")
        .bar("receiver's window", 40.2)
        .bar("congestion window", 15.0)
        .bar("send buffer", 0.0)
}
