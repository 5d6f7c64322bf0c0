//! Confidence intervals: chooses how to resample each side, and converts intervals to the model's form.

use std::collections::{BTreeMap, BTreeSet};

use experience::{ConfidenceInterval, Error, Resamples, Scheme, Settings, resample};
use recording::NO_GROUP;

use super::{SideInput, stretch};
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

/// How many resamples to take: the default, or fewer if large blocks would take minutes.
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

/// The result of resampling.
pub(super) struct Inferred<'s> {
    pub resamples: Option<Resamples<'s>>,
    /// For each side, how many neighbours were resampled together, if more than one.
    pub block_lengths: Vec<Option<usize>>,
    /// For each side, the moments at which its latency changed.
    pub shifts: Vec<Vec<Shift>>,
}

/// Resamples all sides for a page of so many requests, in blocks of samples that depend on each other. Every verdict goes by this:
/// those of a whole recording and those of its groups.
pub(super) fn infer(
    sides: &[SideInput],
    requests: u32,
    blocks: Blocks,
    settings: Option<Settings>,
) -> Result<Inferred<'_>, Error> {
    let found: Vec<Vec<experience::Shift>> = sides.iter().map(stretch::shifts).collect::<Result<_, _>>()?;
    let shifts = found.iter().map(|shifts| shifts.iter().map(shift).collect()).collect();
    let Some(settings) = settings else {
        return Ok(Inferred { resamples: None, block_lengths: vec![None; sides.len()], shifts });
    };
    let length = |(side, shifts): (&SideInput, &Vec<_>)| block_length(side, shifts, blocks);
    let block_lengths: Vec<Option<usize>> = sides.iter().zip(&found).map(length).collect();
    let schemes = sides.iter().zip(&block_lengths).map(|(side, length)| {
        let blocks = length.zip(in_order(side));
        let scheme =
            blocks.map_or(Scheme::Independent, |(length, in_time_ms)| Scheme::Blocks { in_time_ms, length });
        (&*side.distribution, scheme)
    });
    let resamples = resample(&schemes.collect::<Vec<_>>(), requests, &settings)?;
    Ok(Inferred { resamples: Some(resamples), block_lengths, shifts })
}

/// The samples of a side such that those which depend on each other are neighbours: in time, or else page by page where the
/// recording has them so.
fn in_order(side: &SideInput) -> Option<&[f64]> {
    if let Some((_, values)) = side.in_time() {
        return Some(values);
    }
    let columns = side.columns.as_ref()?;
    let mut seen = BTreeSet::new();
    let is_together = columns.pages.as_ref()?.chunk_by(|a, b| a == b).all(|page| seen.insert(page[0]));
    is_together.then_some(&columns.values_ms[..])
}

fn block_length(side: &SideInput, shifts: &[experience::Shift], blocks: Blocks) -> Option<usize> {
    let in_order = in_order(side)?;
    let length = match blocks {
        Blocks::None => return None,
        Blocks::Automatic => {
            let stretch = stretch::stretch(in_order, stretch::step(side, shifts));
            // Blocks cut pages at their ends: of a block of a few pages, most samples have their page with them.
            let of_pages = page_size(side).filter(|size| *size > 1).map_or(1, |size| size * PAGES_IN_BLOCK);
            stretch.max(of_pages.min(in_order.len() / 3))
        }
        Blocks::Length(length) => length.min(in_order.len()),
    };
    Some(length).filter(|&length| length > 1)
}

/// How many samples of a side the median page has.
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

fn shift(found: &experience::Shift) -> Shift {
    Shift { at_s: found.at_s, before_ms: found.before_ms, after_ms: found.after_ms, sure: found.sure }
}

/// An interval in the model's form.
pub(super) fn ci(interval: ConfidenceInterval) -> Ci {
    [interval.low, interval.high]
}

/// An interval of a share, if both its ends are bounded.
pub(super) fn share_ci(interval: ConfidenceInterval) -> Option<[f64; 2]> {
    Some([interval.low?, interval.high?])
}

/// Pages in the shortest block of a side with page ids.
const PAGES_IN_BLOCK: usize = 3;

/// Steps of resampling in blocks that take a few seconds.
const MOST_STEPS: usize = 2_000_000_000;

/// Fewer resamples make intervals rough.
const FEWEST_RESAMPLES: u32 = 200;
