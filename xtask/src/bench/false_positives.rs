//! False positive rate of comparisons: how often a comparison of a source with itself reports a sure
//! difference, over a grid of sources, sizes and dependence.
//!
//! `cargo xtask bench sure` runs the whole grid, which takes hours on two cores.

mod peers;
mod source;

use std::{num::NonZero, thread};

use anyhow::ensure;
use statistics::{
    Certainty, Distribution, Pair, Resamples, Scheme, Settings, Timed, independent_stretch, resample,
};

use self::source::{Dependence, Shape, samples};

const WHAT: [&str; 10] = [
    "median",
    "p99",
    "mean",
    "E[max of 10]",
    "E[max of 90]",
    "E[max of 400]",
    "share of requests",
    "share of pages of 90",
    "crossover",
    "gate",
];

const SIZES: [[usize; 2]; 9] = [
    [50, 50],
    [200, 200],
    [500, 500],
    [4000, 4000],
    [20_000, 20_000],
    [50, 500],
    [500, 5000],
    [50, 1500],
    [600, 18_000],
];

#[derive(Debug, Clone, Copy)]
struct Place {
    shape: Shape,
    dependence: Dependence,
    sizes: [usize; 2],
    is_common: bool,
}

pub(crate) use peers::bench as peers;

pub(crate) fn bench(repeats: u64, wanted: &str) -> anyhow::Result<()> {
    ensure!(repeats > 0, "no repeats");
    let places = places().filter(|place| place.row().contains(wanted)).collect::<Vec<_>>();
    ensure!(!places.is_empty(), "no place's row contains \"{wanted}\"");
    println!(
        "Comparisons of a source with itself that are called sure, in percent; {repeats} of each place."
    );
    println!(
        "Of a true 5 %, 95 % of places show at most {:.1} %.\n",
        5.0 + 164.5 * (0.05 * 0.95 / repeats as f64).sqrt()
    );
    println!("| shape | in time | samples | minutes | {} |", WHAT.join(" | "));
    println!("|{}", " --- |".repeat(WHAT.len() + 4));
    for place in places {
        let shares = false_alarms(place, repeats).map(|count| count as f64 * 100.0 / repeats as f64);
        let cells: Vec<String> = shares.iter().map(|share| format!("{share:.1}")).collect();
        println!("| {} | {} |", place.row(), cells.join(" | "));
    }
    Ok(())
}

fn places() -> impl Iterator<Item = Place> {
    Dependence::ALL.into_iter().flat_map(|dependence| {
        Shape::ALL
            .into_iter()
            .flat_map(move |shape| SIZES.into_iter().map(move |sizes| (shape, sizes)))
            .flat_map(move |(shape, sizes)| {
                [false, true].map(|is_common| Place { shape, dependence, sizes, is_common })
            })
    })
}

impl Place {
    fn row(self) -> String {
        let Self { shape, dependence, sizes: [first, second], is_common } = self;
        let minutes = if is_common { "same" } else { "others" };
        format!("{} | {} | {first} x {second} | {minutes}", shape.name(), dependence.name())
    }
}

fn false_alarms(place: Place, repeats: u64) -> [u64; WHAT.len()] {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |thread: usize| {
        let mut counts = [0; WHAT.len()];
        for seed in (0..repeats).skip(thread).step_by(threads) {
            let sure = called_sure(place, 1.0, seed);
            counts.iter_mut().zip(sure).for_each(|(count, sure)| *count += u64::from(sure));
        }
        counts
    };
    let part = &part;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut total = [0; WHAT.len()];
        for counts in workers.into_iter().filter_map(|worker| worker.join().ok()) {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
        total
    })
}

fn pair(place: Place, factor: f64, seed: u64) -> [Vec<f64>; 2] {
    let Place { shape, dependence, sizes: [first, second], .. } = place;
    let first = samples(shape, dependence, first, 2 * seed);
    let mut second = samples(shape, dependence, second, 2 * seed + 1);
    second.iter_mut().for_each(|value| *value *= factor);
    [first, second]
}

fn called_sure(place: Place, factor: f64, seed: u64) -> [bool; WHAT.len()] {
    let [first, second] = pair(place, factor, seed);
    let times = [&first, &second].map(|series| {
        let n = series.len() as f64;
        (0..series.len()).map(|number| number as f64 / n).collect::<Vec<f64>>()
    });
    let sides = [first.as_slice(), second.as_slice()].into_iter().zip(&times).map(|(series, times)| {
        let length = independent_stretch(series, None);
        let started_s = place.is_common.then_some(times.as_slice());
        let scheme = Scheme::Timed(Timed { values_ms: series, started_s, offset_s: 0.0, step: None, length });
        // The sources yield positive numbers.
        (Distribution::new(series.to_vec()).expect("latencies"), scheme)
    });
    let sides: Vec<(Distribution, Scheme<'_>)> = sides.collect();
    let sides: Vec<(&Distribution, Scheme<'_>)> =
        sides.iter().map(|(side, scheme)| (side, *scheme)).collect();
    let of = |requests: u32, ask: &dyn Fn(Pair<'_>) -> Vec<bool>| {
        let settings = Settings { resamples: 400, seed, level: 0.95 };
        let resamples: Resamples<'_> =
            resample(&sides, requests, &settings).expect("settings in their ranges");
        resamples.pair(0, 1).map(ask).unwrap_or_default()
    };
    let is_sure = |difference: statistics::Difference| difference.certainty == Certainty::Sure;
    let [ten, ninety, many] = [
        of(10, &|pair| {
            vec![
                is_sure(pair.quantile(0.5)),
                is_sure(pair.quantile(0.99)),
                is_sure(pair.mean()),
                is_sure(pair.expected_experienced()),
                !pair.share_faster(1).1.contains(0.5),
                !pair.crossovers().is_empty(),
            ]
        }),
        of(90, &|pair| {
            let page = pair.expected_experienced();
            let is_worse = page.interval.low.is_some_and(|low| low > 0.0);
            vec![is_sure(page), !pair.share_faster(90).1.contains(0.5), is_worse]
        }),
        of(400, &|pair| vec![is_sure(pair.expected_experienced())]),
    ];
    [ten[0], ten[1], ten[2], ten[3], ninety[0], many[0], ten[4], ninety[1], ten[5], ninety[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum number of sure differences in 60 comparisons of a source with itself: at a true rate of 6 %,
    /// more than 11 have a probability of 0.0006, and the test checks 80 numbers.
    const MOST: u64 = 11;

    #[test]
    fn a_source_is_rarely_surely_different_from_itself() {
        let ar = Dependence::Autoregressive;
        for (number, (shape, dependence, sizes)) in [
            (Shape::Bimodal(0.01), Dependence::Independent, [100, 100]),
            (Shape::LogNormal(1.5), Dependence::Independent, [500, 5000]),
            (Shape::Pareto, Dependence::Independent, [50, 1500]),
            (Shape::Exponential, ar(0.8), [1000, 1000]),
            (Shape::LogNormal(1.0), ar(0.95), [50, 50]),
            (Shape::LogNormal(1.0), Dependence::Bursts, [2000, 2000]),
            (Shape::Exponential, ar(0.95), [50, 50]),
            (Shape::Exponential, ar(0.9), [200, 200]),
        ]
        .into_iter()
        .enumerate()
        {
            let place = Place { shape, dependence, sizes, is_common: number % 2 == 1 };
            let found = false_alarms(place, 60);
            assert!(found.iter().all(|&count| count <= MOST), "{place:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_there_is_found() {
        // The standard error of a mean of 1000 exponentials is 1/sqrt(1000) = 3.2 %, that of a difference 4.5
        // %: 20 % is 4.5 standard errors, detected in more than 99 of 100 cases. The median: ln 2 with 1/(2 f
        // sqrt(n)) = 3.2 %, 4.6 % of ln 2, times sqrt 2.
        let place = Place {
            shape: Shape::Exponential,
            dependence: Dependence::Independent,
            sizes: [1000, 1000],
            is_common: true,
        };
        let found: Vec<_> = (0..20).map(|seed| called_sure(place, 1.25, seed)).collect();
        for what in [0, 2, 3, 6] {
            let count = found.iter().filter(|sure| sure[what]).count();
            assert!(count >= 17, "{}: {count} of 20", WHAT[what]);
        }
    }
}
