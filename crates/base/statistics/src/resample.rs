//! The certainty of statistics: how they would vary with other random samples of the same kind.
//!
//! The bootstrap draws n of n samples with replacement, [`Settings::resamples`] times. Here that
//! takes the same few thousand steps for any n:
//!
//! - `cells`: groups of neighbouring samples.
//! - `draw`: the number of draws in each cell, exactly multinomial, from `poisson` counts and
//!   `alias` tables; for correlated samples, whole blocks of time.
//! - `pass`: one walk over the cells gives every statistic of one resample, at the points of
//!   `grid`.
//! - `confidence`: BCa intervals of means; `rank_interval`: intervals of percentiles from order
//!   statistics, valid in a thin tail.
//! - `permutation`: relabels the samples of two sides, in the units of `grouping` or `windows`.
//! - `quarters`: intervals of a side with too few stretches.
//! - [`Resampled`] contains the results of one side, [`Pair`] of two sides (`difference`,
//!   `share_faster`, `crossing`).
//!
//! Each resample has its own generator, seeded by (seed, side, number), so results do not depend on
//! the number of threads.

use std::{num::NonZero, sync::OnceLock, thread};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Distribution, Error, limits::MOST_RESAMPLES};

mod alias;
pub(crate) mod beta;
mod binomial;
mod cells;
mod certainty;
mod chance;
mod confidence;
mod crossing;
mod difference;
pub(crate) mod draw;
mod grid;
mod grouping;
pub(crate) mod normal;
mod pair;
mod pass;
mod permutation;
pub(crate) mod poisson;
mod pooled;
mod quarters;
mod rank_interval;
mod relabel;
mod resampled;
mod scheme;
mod share_faster;
mod studentized;
mod windows;

pub use certainty::{Certainty, LIKELY};
pub use confidence::ConfidenceInterval;
pub use crossing::{DifferencePoint, PlacedCrossover};
pub use difference::Difference;
pub use pair::Pair;
pub use resampled::{BandPoint, FEWEST_MAXIMA, Resampled};
pub use scheme::{Scheme, Timed};
pub use share_faster::share_faster;

use {cells::Cells, draw::Draw, grid::Grid, pass::Pass, permutation::Permuted};

/// Number of resamples, seed, and confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Resamples of each side, 100..=[`MOST_RESAMPLES`]. The ends of a 95 % interval from 1000 are
    /// themselves known to about a twentieth of their distance from the middle: sqrt(0.025 x 0.975/1000) is
    /// 0.08 standard errors there.
    pub resamples: u32,
    /// The same seed gives the same numbers.
    pub seed: u64,
    /// The coverage of an interval, 0.5..=0.999.
    pub level: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { resamples: 1000, seed: 1, level: 0.95 }
    }
}

/// All sides of one comparison, resampled at the same percentiles and latencies.
#[derive(Debug, Clone)]
pub struct Resamples<'d> {
    sides: Vec<Resampled<'d>>,
    /// Per pair of sides, computed on first use; a row for each first side.
    permuted: Vec<OnceLock<Permuted>>,
}

impl<'d> Resamples<'d> {
    /// The sides, in the order in which they were given.
    pub fn sides(&self) -> &[Resampled<'d>] {
        &self.sides
    }

    /// The side `first` against the side `second`, by index in [`Self::sides`]; `None` if an index
    /// is out of range.
    pub fn pair(&self, first: usize, second: usize) -> Option<Pair<'_>> {
        let permuted = self.permuted.get(first * self.sides.len() + second)?;
        Some(Pair::new(self.sides.get(first)?, self.sides.get(second)?, permuted))
    }
}

/// Resamples all sides of one comparison for a page of `requests` effective requests
/// ([`crate::Page::effective_requests`]; 0 counts as 1).
///
/// A resample of a side takes less than 0.2 ms of one processor, whatever n is; by blocks it takes n steps.
/// Memory is about 1200 numbers a resample and side.
///
/// # Errors
/// Settings out of their ranges. For [`Scheme::Blocks`]: a side from counts, values that are not the side's
/// samples, a block of no samples or of more than all.
pub fn resample<'d>(
    sides: &[(&'d Distribution, Scheme<'d>)],
    requests: u32,
    settings: &Settings,
) -> Result<Resamples<'d>, Error> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    resample_on(threads, sides, requests, settings)
}

fn resample_on<'d>(
    threads: usize,
    sides: &[(&'d Distribution, Scheme<'d>)],
    requests: u32,
    settings: &Settings,
) -> Result<Resamples<'d>, Error> {
    let Settings { resamples, level, .. } = *settings;
    if !(100..=MOST_RESAMPLES).contains(&resamples) || !(0.5..=0.999).contains(&level) {
        return Err(Error::Resamples { resamples, level });
    }
    let requests = requests.max(1);
    let distributions: Vec<&Distribution> = sides.iter().map(|(side, _)| *side).collect();
    let grid = Grid::new(&distributions, requests);
    let one = |(number, &(side, scheme)): (usize, &(&'d Distribution, Scheme<'d>))| {
        if let Some(timed) = scheme.timed() {
            let refused =
                || Error::Blocks { length: timed.length, values: timed.values_ms.len(), samples: side.n() };
            let is_whole = side.relative_error().is_none() && timed.values_ms.len() == side.n();
            let times = timed.started_s.map_or(side.n(), <[f64]>::len);
            (is_whole && times == side.n()).then_some(()).ok_or_else(refused)?;
        }
        let cells = Cells::new(side);
        let draw = Draw::new(side, &cells, scheme)?;
        let pass = Pass::new(side, &cells, &grid, requests, scheme);
        let rows = rows(threads, &pass, &draw, settings, number);
        Ok(Resampled::new((side, scheme), *settings, &draw, &pass, grid.shares.clone(), rows))
    };
    let permuted = vec![OnceLock::new(); sides.len() * sides.len()];
    Ok(Resamples { sides: sides.iter().enumerate().map(one).collect::<Result<_, Error>>()?, permuted })
}

fn rows(threads: usize, pass: &Pass, draw: &Draw, settings: &Settings, side: usize) -> Vec<f64> {
    let resamples = settings.resamples as usize;
    let mut rows = vec![0.0; resamples * pass.width()];
    let part = resamples.div_ceil(threads.max(1));
    thread::scope(|scope| {
        for (number, rows) in rows.chunks_mut(part * pass.width()).enumerate() {
            scope.spawn(move || {
                let (mut counts, mut cumulative) = (vec![0; draw.cells()], Vec::new());
                for (offset, row) in rows.chunks_mut(pass.width()).enumerate() {
                    let mut random = generator(settings.seed, side, number * part + offset);
                    draw.draw(&mut random, &mut counts);
                    pass.fill(&counts, &mut cumulative, row);
                }
            });
        }
    });
    rows
}

/// The numbers are mixed by SplitMix64's finisher, so that neighbouring numbers give unrelated
/// streams.
fn generator(seed: u64, side: usize, resample: usize) -> Xoshiro256PlusPlus {
    let mixed = [side as u64, resample as u64].into_iter().fold(mix(seed), |state, part| mix(state ^ part));
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
