//! How far apart two sides would be by chance, were they the same: by dealing their samples out again.
//!
//! The bootstrap trusts that samples stand for what they were taken of. Where a mean hangs on requests of which a side has
//! met one or none, or `E[max of N]` on the slowest few, they do not, and its intervals are too short: of two sides of one
//! source, 90 requests a page and 500 samples against 5000, it calls one in five clearly different. A permutation test
//! needs no such trust. Had both sides one source, each way of dealing their samples out to the two would have been
//! as likely as the one that was measured; so the share of deals that put the sides at least as far apart is the chance of that
//! being chance, exactly, whatever the source is and however many samples each side has (Fisher 1935; Pitman 1937).
//!
//! The statistic is the difference over its standard error, both of the deal (Janssen, "Studentized permutation tests for
//! non-i.i.d. hypotheses and the generalized Behrens-Fisher problem", 1997; Chung and Romano, "Exact and asymptotically
//! robust permutation tests", 2013). So the test stays right for large samples also where the sources differ in all but
//! the statistic. The interval is the difference less what that statistic reaches by chance, in units of its standard error: it
//! excludes 0 if and only if the test is sure.
//!
//! Samples that resemble their predecessors are dealt out by stretches of time that are long enough to be independent
//! of each other ([`crate::independent_stretch`]), and standard errors are those of stretches.

use std::{num::NonZero, ops::Range, thread};

use super::{
    ConfidenceInterval, Scheme, Settings, generator,
    pooled::Pooled,
    relabel::{Deal, Relabel, Single, Stretches},
    studentized::{Estimate, Estimates, Studentizer, per_draw},
};
use crate::{Distribution, distribution::as_f64};

/// What chance does to every difference of two sides.
#[derive(Debug, Clone)]
pub(crate) struct Permuted {
    pub(crate) mean: Chance,
    pub(crate) expected: Chance,
    /// To the share of requests, and of pages, for which the first side is faster, less 1/2.
    pub(crate) shares: [Chance; 2],
    /// For quantiles of samples that go by stretches of time.
    stretched: Option<Stretched>,
}

/// Stretches of two sides that can be dealt out again for any quantile.
#[derive(Debug, Clone)]
struct Stretched {
    stretches: Stretches,
    totals: Vec<usize>,
    settings: Settings,
    is_turned: bool,
    is_open: bool,
}

impl Permuted {
    /// What chance does to the share of samples up to the quantile of all samples at a share: the first side less the second,
    /// so above 0 where the second is slower. `None` of independent samples, whose order statistics say it exactly.
    pub(crate) fn quantile(&self, share: f64) -> Option<Chance> {
        let Stretched { stretches, totals, settings, is_turned, is_open } = self.stretched.as_ref()?;
        let wanted = share * as_f64(totals.iter().sum());
        let mut up_to = 0;
        let place = totals.iter().position(|&total| {
            up_to += total;
            as_f64(up_to) >= wanted
        })?;
        let sum = |cells: &[u32]| as_f64(cells.iter().filter(|&&cell| cell as usize <= place).count());
        let sums: Vec<(f64, f64)> = stretches.iter().map(|cells| (sum(cells), as_f64(cells.len()))).collect();
        let measured = stretches.labels();
        let distance = |labels: &[bool]| by_stretches(&sums, labels, stretches.of_sides());
        let (difference, error) = distance(&measured);
        let mut deals = Vec::new();
        let mut labels = vec![false; sums.len()];
        let affordable = u32::try_from(MOST_STEPS / 8 / sums.len()).unwrap_or(u32::MAX).max(FEWEST_DEALS);
        for number in 0..if *is_open { 0 } else { settings.resamples.min(affordable) } {
            stretches.deal_labels(&mut generator(settings.seed, PERMUTATIONS, number as usize), &mut labels);
            let (difference, error) = distance(&labels);
            deals.push(if difference == 0.0 { 0.0 } else { difference / error });
        }
        deals.sort_unstable_by(f64::total_cmp);
        let chance = Chance { estimate: difference, error, deals, is_open: *is_open };
        Some(if *is_turned { chance.turned() } else { chance })
    }
}

/// The difference of two sides' means by sums and sizes of stretches, and its standard error.
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

/// What chance does to a difference, the second side less the first.
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    /// The difference that was measured.
    estimate: f64,
    /// Its standard error.
    error: f64,
    /// Differences over their standard errors, ascending, of all permutations except the measured one.
    deals: Vec<f64>,
    /// Whether a side has too few stretches to be dealt out.
    is_open: bool,
}

/// The result of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Test {
    pub(crate) interval: ConfidenceInterval,
    /// 1 less the chance that the better side is so much better by chance.
    pub(crate) sure: f64,
    /// The standard error of `sure` that the number of deals leaves.
    pub(crate) noise: f64,
    /// The difference over its standard error, without its sign.
    pub(crate) distance: f64,
}

impl Chance {
    /// The test of a difference.
    pub(crate) fn test(&self, difference_ms: f64, level: f64) -> Test {
        let open = ConfidenceInterval { low: None, high: None };
        let distance = difference_ms.abs() / self.error;
        if self.is_open {
            return Test { interval: open, sure: 0.5, noise: 0.0, distance };
        }
        let measured = difference_ms / self.error;
        let all = as_f64(self.deals.len() + 1);
        // The measured permutation is one of them. Values that are equal except for rounding are equal.
        let slack = 1e-9 * measured.abs();
        let as_far = if measured > 0.0 {
            self.deals.len() - self.deals.partition_point(|&deal| deal < measured - slack)
        } else {
            self.deals.partition_point(|&deal| deal <= measured + slack)
        };
        let chance = as_f64(as_far + 1) / all;
        let allowed = crate::distribution::floor((1.0 - level) / 2.0 * all + 1e-9);
        let end = |deal: Option<&f64>| {
            deal.map(|deal| difference_ms - deal * self.error).filter(|end| end.is_finite())
        };
        let interval = match allowed.checked_sub(1) {
            Some(place) => ConfidenceInterval {
                low: end(self.deals.get(self.deals.len().wrapping_sub(1 + place))),
                high: end(self.deals.get(place)),
            },
            None => open,
        };
        let sure = (1.0 - chance).max(0.5);
        Test { interval, sure, noise: (sure * (1.0 - sure) / all).sqrt(), distance }
    }

    /// The result of the test with these permutations.
    pub(crate) fn own_test(&self, level: f64) -> Test {
        self.test(self.estimate, level)
    }

    fn turned(mut self) -> Self {
        self.estimate = -self.estimate;
        self.deals.iter_mut().for_each(|deal| *deal = -*deal);
        self.deals.reverse();
        self
    }
}

/// A side: its samples, and in time, if neighbours resemble each other.
pub(crate) type Side<'s> = (&'s Distribution, Scheme<'s>);

/// Deals two sides out again. `None` where that cannot be done: a histogram against samples that go by stretches.
///
/// The result has the same size, with opposite signs, if the sides are exchanged.
pub(crate) fn permuted(
    first: Side<'_>,
    second: Side<'_>,
    requests: u32,
    settings: &Settings,
) -> Option<Permuted> {
    if comes_later(first.0, second.0) {
        return permuted(second, first, requests, settings).map(Permuted::turned);
    }
    let pooled = Pooled::new(first.0, second.0);
    let relabel = match stretch(first.1).max(stretch(second.1)) {
        1 => Relabel::Single(Single::new(&pooled)),
        length => {
            let [ours, theirs] = [first, second].map(|side| in_time(side, settings.seed));
            Relabel::Stretches(Stretches::new(&pooled, [&ours?, &theirs?], length))
        }
    };
    let is_open = match &relabel {
        Relabel::Single(_) => false,
        Relabel::Stretches(stretches) => {
            stretches.of_sides().into_iter().any(|number| number < FEWEST_STRETCHES)
        }
    };
    let measured = Studentizer::new(&pooled, &relabel, requests).estimates(&relabel.measured(&pooled));
    let mut deals: Vec<[f64; STATISTICS]> = Vec::new();
    // Stretches are dealt sample by sample, single samples cell by cell.
    let steps = match &relabel {
        Relabel::Single(_) => pooled.len(),
        Relabel::Stretches(stretches) => stretches.samples(),
    };
    let affordable = u32::try_from(MOST_STEPS / steps).unwrap_or(u32::MAX).max(FEWEST_DEALS);
    let most = affordable.min(10 * settings.resamples);
    let (mut done, mut wanted) = (0, if is_open { 0 } else { settings.resamples.min(affordable) });
    while done < wanted {
        deals.extend(dealt(&pooled, &relabel, requests, settings.seed, done..wanted));
        done = wanted;
        if is_close(studentized(measured), &deals, settings.level) {
            wanted = (2 * wanted).min(most);
        }
    }
    let chance = |statistic: usize, estimate: f64, error: f64| {
        let mut deals: Vec<f64> = deals.iter().map(|deal| deal[statistic]).collect();
        deals.sort_unstable_by(f64::total_cmp);
        Chance { estimate, error, deals, is_open }
    };
    let of_estimates = |statistic: usize, [first, second]: [Estimate; 2]| {
        chance(statistic, second.value_ms - first.value_ms, (first.variance + second.variance).sqrt())
    };
    Some(Permuted {
        mean: of_estimates(0, measured.means),
        expected: of_estimates(1, measured.expected),
        shares: [0, 1].map(|pages| chance(2 + pages, measured.shares[pages] - 0.5, 1.0)),
        stretched: match relabel {
            Relabel::Single(_) => None,
            Relabel::Stretches(stretches) => Some(Stretched {
                totals: stretches.totals().to_vec(),
                stretches,
                settings: *settings,
                is_turned: false,
                is_open,
            }),
        },
    })
}

impl Permuted {
    /// The same with the sides exchanged.
    fn turned(self) -> Self {
        let turned = |stretched: Stretched| Stretched { is_turned: !stretched.is_turned, ..stretched };
        Self {
            mean: self.mean.turned(),
            expected: self.expected.turned(),
            shares: self.shares.map(Chance::turned),
            stretched: self.stretched.map(turned),
        }
    }
}

/// The studentized differences of deals with these numbers, on all processors.
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

/// Whether so many deals leave it open on which side of the boundary the measured one lies: within 3.5 standard errors.
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
        // Sides without any spread: as far apart as can be, or not at all.
        if difference == 0.0 { 0.0 } else { difference / (first.variance + second.variance).sqrt() }
    };
    let [requests, pages] = estimates.shares;
    [of(estimates.means), of(estimates.expected), requests - 0.5, pages - 0.5]
}

fn stretch(scheme: Scheme<'_>) -> usize {
    match scheme {
        Scheme::Independent => 1,
        Scheme::Blocks { length, .. } => length,
    }
}

/// The samples in time; of a side that has no times, in any order, shuffled. `None` of a histogram.
fn in_time(side: Side<'_>, seed: u64) -> Option<Vec<f64>> {
    match side {
        (_, Scheme::Blocks { in_time_ms, .. }) => Some(in_time_ms.to_vec()),
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

/// An order of sides that does not depend on which was named first.
fn comes_later(first: &Distribution, second: &Distribution) -> bool {
    let by_values = || {
        first.values().iter().zip(second.values()).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne())
    };
    first.n().cmp(&second.n()).then_with(|| by_values().unwrap_or(std::cmp::Ordering::Equal)).is_gt()
}

/// The "side" of the generators of permutations.
const PERMUTATIONS: usize = usize::MAX;

/// Cells dealt in about a second. With 10 000 deals, ten times the default, a chance of 0.025 is known to 0.0016.
const MOST_STEPS: usize = 200_000_000;

/// Fewer deals could not show a chance of 0.025: three of 120 are.
const FEWEST_DEALS: u32 = 120;

/// With three stretches a side there are 20 deals, too few for any 95 % interval.
const FEWEST_STRETCHES: usize = 4;
