//! The distance of two equal sides by chance, from permutations of their samples.
//!
//! The bootstrap is too sure if a statistic depends on few requests. A permutation test is exact if
//! both sides have one source (Fisher 1935; Pitman 1937).
//!
//! The statistic is the difference over its standard error, both of the deal (Janssen 1997; Chung
//! and Romano 2013). The interval excludes 0 if and only if the test is sure.
//!
//! Correlated samples are dealt out by stretches of time ([`super::grouping`]). Sides that were
//! measured in the same minutes exchange the halves of windows ([`super::windows`]).

use std::{num::NonZero, ops::Range, thread};

use super::{
    Scheme, Settings,
    chance::{Chance, Dealt},
    generator,
    grouping::{Grouping, Statistic},
    pooled::Pooled,
    quarters::has_quarters,
    relabel::{Deal, Labels, Relabel, Single, Stretches},
    scheme::Side,
    studentized::{Estimate, Estimates, Studentizer, per_draw},
    windows::Windows,
};
use crate::{Distribution, distribution::as_f64};

#[derive(Debug, Clone)]
pub(crate) enum Evidence {
    Deals(Chance),
    /// Marks the sides with too few stretches.
    Quarters([bool; 2]),
    SideIntervals,
}

/// Except for differences of quantiles.
#[derive(Debug, Clone)]
pub(crate) struct Permuted {
    pub(crate) mean: Evidence,
    pub(crate) expected: Evidence,
    /// For the share of requests, and of pages, for which the first side is faster, less 1/2.
    pub(crate) shares: [Evidence; 2],
}

/// If the sides are exchanged, the result has opposite signs.
pub(crate) fn permuted(first: Side<'_>, second: Side<'_>, requests: u32, settings: &Settings) -> Permuted {
    if comes_later(first.0, second.0) {
        return permuted(second, first, requests, settings).turned();
    }
    let pooled = Pooled::new(first.0, second.0);
    let grouping = |statistic| Grouping::new([first, second], statistic);
    let of_means = grouping(Statistic::ExpectedMaximum(1));
    let of_maxima =
        if requests == 1 { of_means.clone() } else { grouping(Statistic::ExpectedMaximum(requests)) };
    let groupings = [of_means, of_maxima, grouping(Statistic::Ranks(&pooled))];
    let mut runs: Vec<(&Grouping, Run)> = Vec::new();
    for grouping in &groupings {
        if runs.iter().all(|(done, _)| *done != grouping) {
            runs.push((grouping, Run::new(&pooled, grouping, [first, second], requests, settings)));
        }
    }
    let run = |place: usize| {
        let found = runs.iter().find(|(grouping, _)| **grouping == groupings[place]);
        found.map_or(&Run::Sides, |(_, run)| run)
    };
    let apart = |[first, second]: [Estimate; 2]| {
        (second.value_ms - first.value_ms, (first.variance + second.variance).sqrt())
    };
    Permuted {
        mean: run(0).evidence(0, |measured| apart(measured.means)),
        expected: run(1).evidence(1, |measured| apart(measured.expected)),
        shares: [
            run(2).evidence(2, |measured| (measured.shares[0] - 0.5, 1.0)),
            run(1).evidence(3, |measured| (measured.shares[1] - 0.5, 1.0)),
        ],
    }
}

impl Permuted {
    fn turned(self) -> Self {
        Self {
            mean: self.mean.turned(),
            expected: self.expected.turned(),
            shares: self.shares.map(Evidence::turned),
        }
    }
}

impl Evidence {
    fn turned(self) -> Self {
        match self {
            Self::Deals(chance) => Self::Deals(chance.turned()),
            Self::Quarters([first, second]) => Self::Quarters([second, first]),
            Self::SideIntervals => Self::SideIntervals,
        }
    }
}

/// The first side less the second.
pub(crate) fn quantile(first: Side<'_>, second: Side<'_>, share: f64, settings: &Settings) -> Evidence {
    if [first, second].iter().all(|(_, scheme)| *scheme == Scheme::Independent) {
        return Evidence::SideIntervals;
    }
    if comes_later(first.0, second.0) {
        return quantile(second, first, share, settings).turned();
    }
    let pooled = Pooled::new(first.0, second.0);
    let wanted = share * as_f64(pooled.sizes.iter().sum());
    let mut up_to = 0;
    let place = pooled.sizes.iter().position(|&size| {
        up_to += size;
        as_f64(up_to) >= wanted
    });
    let place = place.unwrap_or(pooled.len() - 1);
    let grouping = Grouping::new([first, second], Statistic::Share(pooled.tops[place]));
    if grouping == Grouping::Single {
        return Evidence::SideIntervals;
    }
    // A window has too few samples in the tail to show clusters.
    let windows = first.1.timed().zip(second.1.timed()).filter(|_| (0.1..=0.9).contains(&share));
    if let Some(halves) =
        windows.and_then(|(first, second)| Windows::counts_up_to_quantile([first, second], share))
    {
        let windows = halves.len() / 2;
        let dealt = Dealt { draws: [as_f64(windows); 2], is_open: false, is_paired: true };
        return Evidence::Deals(of_share(
            &halves,
            &Labels { first: windows, is_paired: true },
            dealt,
            settings,
        ));
    }
    let Some(Relabel::Stretches(stretches)) = relabel(&pooled, &grouping, [first, second], settings.seed)
    else {
        return Evidence::SideIntervals;
    };
    let supply = supply(&stretches, &grouping, [first, second]);
    if let Supply::Quarters(short) = supply {
        return Evidence::Quarters(short);
    }
    let up_to = |cells: &[u32]| as_f64(cells.iter().filter(|&&cell| cell as usize <= place).count());
    let sums: Vec<(f64, f64)> = stretches.iter().map(|cells| (up_to(cells), as_f64(cells.len()))).collect();
    let is_open = supply == Supply::None;
    let dealt = Dealt { draws: stretches.of_sides().map(as_f64), is_open, is_paired: false };
    Evidence::Deals(of_share(&sums, stretches.labels(), dealt, settings))
}

/// `sums` are the samples that count in each stretch, and all.
fn of_share(sums: &[(f64, f64)], labels: &Labels, dealt: Dealt, settings: &Settings) -> Chance {
    let of_sides = [labels.first, sums.len() - labels.first];
    let distance = |is_first: &[bool]| by_stretches(sums, is_first, of_sides);
    let mut is_first: Vec<bool> = (0..sums.len()).map(|number| number < labels.first).collect();
    let (estimate, error) = distance(&is_first);
    let mut deals = Vec::new();
    let affordable = u32::try_from(MOST_STEPS / 8 / sums.len()).unwrap_or(u32::MAX).max(FEWEST_DEALS);
    for number in 0..if dealt.is_open { 0 } else { settings.resamples.min(affordable) } {
        labels.deal(&mut generator(settings.seed, PERMUTATIONS, number as usize), &mut is_first);
        let (difference, error) = distance(&is_first);
        deals.push(if difference == 0.0 { 0.0 } else { difference / error });
    }
    Chance::new(estimate, error, deals, dealt)
}

fn by_stretches(sums: &[(f64, f64)], labels: &[bool], of_sides: [usize; 2]) -> (f64, f64) {
    let mut sides = [(0.0, 0.0); 2];
    for (&(sum, size), &label) in sums.iter().zip(labels) {
        let side = &mut sides[usize::from(!label)];
        *side = (side.0 + sum, side.1 + size);
    }
    let means = sides.map(|(sum, size)| sum / size);
    let mut squares = [0.0; 2];
    for (&(sum, size), &label) in sums.iter().zip(labels) {
        let side = usize::from(!label);
        squares[side] += (sum - size * means[side]).powi(2);
    }
    let variance = |side: usize| per_draw(squares[side], of_sides[side]) / sides[side].1.powi(2);
    (means[0] - means[1], (variance(0) + variance(1)).sqrt())
}

/// `None` if a histogram would have to be cut into stretches of time.
fn relabel(pooled: &Pooled, grouping: &Grouping, sides: [Side<'_>; 2], seed: u64) -> Option<Relabel> {
    if *grouping == Grouping::Single {
        return Some(Relabel::Single(Single::new(pooled)));
    }
    let [first, second] = sides.map(|side| in_time(side, seed));
    let series = [&first?[..], &second?[..]];
    Some(Relabel::Stretches(match grouping {
        Grouping::Windows(windows) => Stretches::paired(pooled, series, windows),
        Grouping::Stretches(lengths) => Stretches::new(pooled, series, lengths[0].max(lengths[1])),
        Grouping::Single => Stretches::new(pooled, series, 1),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Supply {
    Stretches,
    Quarters([bool; 2]),
    None,
}

fn supply(stretches: &Stretches, grouping: &Grouping, sides: [Side<'_>; 2]) -> Supply {
    let fewest = stretches.of_sides().into_iter().min().unwrap_or(0);
    if fewest >= ENOUGH_STRETCHES {
        return Supply::Stretches;
    }
    by_quarters(grouping, sides).unwrap_or(match fewest {
        0..FEWEST_STRETCHES => Supply::None,
        _ => Supply::Stretches,
    })
}

/// The other side keeps its own interval. `None` unless each short side has quarters.
fn by_quarters(grouping: &Grouping, sides: [Side<'_>; 2]) -> Option<Supply> {
    let Grouping::Stretches(lengths) = grouping else { return None };
    let short = [0, 1].map(|side| sides[side].0.n() / lengths[side] < ENOUGH_STRETCHES);
    let has_parts = |side: usize| {
        !short[side] || sides[side].1.timed().is_some_and(|timed| has_quarters(timed.values_ms))
    };
    (short != [false; 2] && has_parts(0) && has_parts(1)).then_some(Supply::Quarters(short))
}

enum Run {
    Dealt { measured: Estimates, deals: Vec<[f64; STATISTICS]>, dealt: Dealt },
    Quarters([bool; 2]),
    Sides,
}

impl Run {
    fn new(
        pooled: &Pooled,
        grouping: &Grouping,
        sides: [Side<'_>; 2],
        requests: u32,
        settings: &Settings,
    ) -> Self {
        let Some(relabel) = relabel(pooled, grouping, sides, settings.seed) else { return Self::Sides };
        let (supply, draws, is_paired) = match &relabel {
            Relabel::Single(_) => (Supply::Stretches, sides.map(|(side, _)| side.n()), false),
            Relabel::Stretches(stretches) => {
                (supply(stretches, grouping, sides), stretches.of_sides(), stretches.labels().is_paired)
            }
        };
        if let Supply::Quarters(short) = supply {
            return Self::Quarters(short);
        }
        let measured = Studentizer::new(pooled, &relabel, requests).estimates(&relabel.measured(pooled));
        let mut deals: Vec<[f64; STATISTICS]> = Vec::new();
        let steps = match &relabel {
            Relabel::Single(_) => pooled.len(),
            Relabel::Stretches(stretches) => stretches.samples(),
        };
        let affordable = u32::try_from(MOST_STEPS / steps).unwrap_or(u32::MAX).max(FEWEST_DEALS);
        let most = affordable.min(10 * settings.resamples);
        let is_open = supply == Supply::None;
        let (mut done, mut wanted) = (0, if is_open { 0 } else { settings.resamples.min(affordable) });
        while done < wanted {
            deals.extend(dealt(pooled, &relabel, requests, settings.seed, done..wanted));
            done = wanted;
            if is_close(studentized(measured), &deals, settings.level) {
                wanted = (2 * wanted).min(most);
            }
        }
        Self::Dealt { measured, deals, dealt: Dealt { draws: draws.map(as_f64), is_open, is_paired } }
    }

    /// `difference` returns the measured difference with its standard error.
    fn evidence(&self, statistic: usize, difference: impl Fn(&Estimates) -> (f64, f64)) -> Evidence {
        match self {
            Self::Dealt { measured, deals, dealt } => {
                let (estimate, error) = difference(measured);
                let deals = deals.iter().map(|deal| deal[statistic]).collect();
                Evidence::Deals(Chance::new(estimate, error, deals, *dealt))
            }
            Self::Quarters(short) => Evidence::Quarters(*short),
            Self::Sides => Evidence::SideIntervals,
        }
    }
}

/// On all processors.
fn dealt(
    pooled: &Pooled,
    relabel: &Relabel,
    requests: u32,
    seed: u64,
    numbers: Range<u32>,
) -> Vec<[f64; STATISTICS]> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |thread: usize| {
        let mut studentizer = Studentizer::new(pooled, relabel, requests);
        let mut deal = Deal::default();
        let studentized = |number: u32| {
            relabel.deal(&mut generator(seed, PERMUTATIONS, number as usize), &mut deal);
            studentized(studentizer.estimates(&deal))
        };
        numbers.clone().skip(thread).step_by(threads).map(studentized).collect::<Vec<_>>()
    };
    let part = &part;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    })
}

fn is_close(measured: [f64; STATISTICS], deals: &[[f64; STATISTICS]], level: f64) -> bool {
    let (count, allowed) = (as_f64(deals.len()), (1.0 - level) / 2.0);
    // The two with words.
    (0..2).any(|statistic| {
        let as_far = |deal: &&[f64; STATISTICS]| {
            deal[statistic] * measured[statistic].signum() >= measured[statistic].abs()
        };
        let share = as_f64(deals.iter().filter(as_far).count()) / count;
        (share - allowed).abs() < 3.5 * (allowed * (1.0 - allowed) / count).sqrt()
    })
}

/// The mean and the expected maximum, studentized, and both shares less 1/2.
const STATISTICS: usize = 4;

fn studentized(estimates: Estimates) -> [f64; STATISTICS] {
    let of = |[first, second]: [Estimate; 2]| {
        let difference = second.value_ms - first.value_ms;
        // Sides without any spread.
        if difference == 0.0 { 0.0 } else { difference / (first.variance + second.variance).sqrt() }
    };
    let [requests, pages] = estimates.shares;
    [of(estimates.means), of(estimates.expected), requests - 0.5, pages - 0.5]
}

/// A side without times is shuffled. `None` of a histogram.
fn in_time(side: Side<'_>, seed: u64) -> Option<Vec<f64>> {
    match side {
        (_, Scheme::Blocks { in_time_ms, .. }) => Some(in_time_ms.to_vec()),
        (_, Scheme::Timed(timed)) => Some(timed.values_ms.to_vec()),
        (samples, Scheme::Independent) if samples.relative_error().is_none() => {
            let mut shuffled = samples.values().to_vec();
            let mut random = generator(seed, PERMUTATIONS, usize::MAX);
            for last in (1..shuffled.len()).rev() {
                shuffled.swap(last, super::draw::below(last + 1, &mut random));
            }
            Some(shuffled)
        }
        _ => None,
    }
}

fn comes_later(first: &Distribution, second: &Distribution) -> bool {
    let by_values = || {
        first.values().iter().zip(second.values()).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne())
    };
    first.n().cmp(&second.n()).then_with(|| by_values().unwrap_or(std::cmp::Ordering::Equal)).is_gt()
}

/// The side number in the seed of permutations.
const PERMUTATIONS: usize = usize::MAX;

/// Cells dealt in about a second: 10 000 deals know a chance of 0.025 to 0.0016.
const MOST_STEPS: usize = 200_000_000;

/// Fewer deals could not show a chance of 0.025.
const FEWEST_DEALS: u32 = 120;

/// Three stretches a side have 20 deals, too few for a 95 % interval.
const FEWEST_STRETCHES: usize = 4;

/// Six have 924 deals.
const ENOUGH_STRETCHES: usize = 6;
