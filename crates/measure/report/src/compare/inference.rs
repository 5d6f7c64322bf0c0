//! Confidence intervals: chooses how to resample each side, and converts intervals to the model's
//! form.

use std::collections::{BTreeMap, BTreeSet};

use recording::NO_GROUP;
use statistics::{
    ConfidenceInterval, Error, Resamples, Scheme, Settings, Timed, independent_stretch, resample,
};

use super::{SideInput, step};
use crate::model::{Ci, Shift};

/// Which neighbours in time are resampled together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// As many as depend on each other, if samples carry times.
    Automatic,
    /// None: samples are independent.
    None,
    /// This many, if samples carry times.
    Length(usize),
}

/// The number of resamples: the default, or fewer if large blocks would take minutes.
pub fn fitting_resamples(sides: &[SideInput], blocks: Blocks) -> u32 {
    let default = Settings::default().resamples;
    let longest = sides.iter().filter_map(SideInput::in_time).map(|(_, values)| values.len()).max();
    match longest.filter(|_| blocks != Blocks::None) {
        Some(samples) => {
            u32::try_from(MOST_STEPS / samples.max(1)).unwrap_or(default).clamp(FEWEST_RESAMPLES, default)
        }
        None => default,
    }
}

pub(super) struct Inferred<'s> {
    pub resamples: Option<Resamples<'s>>,
    /// Of each side, if more than one.
    pub block_lengths: Vec<Option<usize>>,
    /// For each side, the moments at which its latency changed.
    pub shifts: Vec<Vec<Shift>>,
}

pub(super) fn infer(
    sides: &[SideInput],
    requests: u32,
    blocks: Blocks,
    settings: Option<Settings>,
) -> Result<Inferred<'_>, Error> {
    let found: Vec<Vec<statistics::Shift>> = sides.iter().map(step::shifts).collect::<Result<_, _>>()?;
    let shifts = found.iter().map(|shifts| shifts.iter().map(shift).collect()).collect();
    let Some(settings) = settings else {
        return Ok(Inferred { resamples: None, block_lengths: vec![None; sides.len()], shifts });
    };
    let offsets_s = offsets_s(sides);
    let outside_faults: Option<Vec<_>> = sides.iter().map(SideInput::outside_planned_faults).collect();
    let are_disjoint = outside_faults.is_some_and(|values| are_ranges_disjoint(&values));
    let schemes: Vec<Scheme<'_>> = sides
        .iter()
        .zip(&found)
        .zip(offsets_s)
        .map(|((side, shifts), offset_s)| match blocks {
            Blocks::Automatic if are_disjoint && page_size(side).is_none_or(|size| size <= 1) => {
                Scheme::Independent
            }
            blocks => scheme(side, offset_s, shifts, blocks),
        })
        .collect();
    let block_lengths = schemes.iter().copied().map(block_length).collect();
    let schemes = sides.iter().map(|side| &*side.distribution).zip(schemes);
    let resamples = resample(&schemes.collect::<Vec<_>>(), requests, &settings)?;
    Ok(Inferred { resamples: Some(resamples), block_lengths, shifts })
}

/// From the earliest start of all recordings; 0 where a recording has no date.
fn offsets_s(sides: &[SideInput]) -> Vec<f64> {
    let starts: Option<Vec<f64>> = sides.iter().map(|side| side.start_unix_s).collect();
    let Some(starts) = starts else { return vec![0.0; sides.len()] };
    let earliest = starts.iter().copied().fold(f64::INFINITY, f64::min);
    starts.into_iter().map(|start| start - earliest).collect()
}

/// Without an overlap, dependence in time changes neither which side is faster nor by how much.
fn are_ranges_disjoint(sides: &[Vec<f64>]) -> bool {
    let range = |values: &Vec<f64>| {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let cut = sorted.len() / TAIL;
        [sorted[cut], sorted[sorted.len() - 1 - cut]]
    };
    let mut ranges: Vec<[f64; 2]> = sides.iter().map(range).collect();
    ranges.sort_by(|one, other| one[0].total_cmp(&other[0]));
    ranges.windows(2).all(|pair| pair[0][1] < pair[1][0])
}

fn scheme<'s>(
    side: &'s SideInput,
    offset_s: f64,
    shifts: &[statistics::Shift],
    blocks: Blocks,
) -> Scheme<'s> {
    let in_time = side.in_time();
    let Some(series) = in_time.map(|(_, values)| values).or_else(|| page_by_page(side)) else {
        return Scheme::Independent;
    };
    let in_blocks = |length: usize| match length.min(series.len()) {
        0 | 1 => Scheme::Independent,
        length => Scheme::Blocks { in_time_ms: series, length },
    };
    match blocks {
        Blocks::None => Scheme::Independent,
        Blocks::Length(length) => in_blocks(length),
        Blocks::Automatic => {
            if let Some(rest) = in_time.and_then(|_| side.outside_planned_faults()) {
                // Planned faults are the same in each run: only other dependence counts.
                return in_blocks(independent_stretch(&rest, None).max(page_size(side).unwrap_or(1)));
            }
            let step = step::first_after(side, shifts);
            let length = independent_stretch(series, step);
            // Blocks cut pages at their ends: in a block of a few pages most samples keep their
            // page.
            let of_pages = page_size(side).filter(|size| *size > 1).map_or(1, |size| size * PAGES_IN_BLOCK);
            let of_pages = of_pages.min(series.len() / 3);
            if of_pages > length || in_time.is_none() {
                return in_blocks(length.max(of_pages));
            }
            let started_s = in_time.map(|(started_s, _)| started_s);
            Scheme::Timed(Timed { values_ms: series, started_s, offset_s, step, length })
        }
    }
}

pub(super) fn block_length(scheme: Scheme<'_>) -> Option<usize> {
    match scheme {
        Scheme::Independent => None,
        Scheme::Blocks { length, .. } | Scheme::Timed(Timed { length, .. }) => Some(length),
    }
    .filter(|&length| length > 1)
}

fn page_by_page(side: &SideInput) -> Option<&[f64]> {
    let columns = side.columns.as_ref()?;
    let mut seen = BTreeSet::new();
    let is_together = columns.pages.as_ref()?.chunk_by(|a, b| a == b).all(|page| seen.insert(page[0]));
    is_together.then_some(&columns.values_ms[..])
}

fn page_size(side: &SideInput) -> Option<usize> {
    let pages = side.columns.as_ref()?.pages.as_ref()?;
    let mut sizes = BTreeMap::<u32, usize>::new();
    for page in pages.iter().filter(|page| **page != NO_GROUP) {
        *sizes.entry(*page).or_default() += 1;
    }
    let mut sizes: Vec<_> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied()
}

fn shift(found: &statistics::Shift) -> Shift {
    Shift { at_s: found.at_s, before_ms: found.before_ms, after_ms: found.after_ms, sure: found.sure }
}

pub(super) fn ci(interval: ConfidenceInterval) -> Ci {
    [interval.low, interval.high]
}

pub(super) fn share_ci(interval: ConfidenceInterval) -> Option<[f64; 2]> {
    Some([interval.low?, interval.high?])
}

/// The reciprocal of the share of samples that a range excludes at each end.
const TAIL: usize = 20;

const PAGES_IN_BLOCK: usize = 3;

/// This many steps take a few seconds.
const MOST_STEPS: usize = 2_000_000_000;

/// Fewer resamples make intervals rough.
const FEWEST_RESAMPLES: u32 = 200;
