//! Confidence intervals: chooses how to resample each side, and brings intervals into the model's form.

use experience::{ConfidenceInterval, Error, Resamples, Scheme, Settings, automatic_block_length, resample};

use super::{Question, SideInput};
use crate::model::{Ci, Shift};

/// Which neighbours in time are drawn together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// As many as are alike, where samples carry times.
    Automatic,
    /// None: samples are independent.
    None,
    /// So many, where samples carry times.
    Length(usize),
}

/// How many resamples are worth their time: the default, or fewer where blocks of time of many samples would take minutes.
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

/// What resampling found.
pub(super) struct Inferred<'s> {
    pub resamples: Option<Resamples<'s>>,
    /// For each side, how many neighbours were drawn together, if more than one.
    pub block_lengths: Vec<Option<usize>>,
}

/// Resamples all sides.
pub(super) fn infer<'s>(question: &Question, sides: &'s [SideInput]) -> Result<Inferred<'s>, Error> {
    let Some(settings) = question.intervals else {
        return Ok(Inferred { resamples: None, block_lengths: vec![None; sides.len()] });
    };
    let block_lengths: Vec<Option<usize>> =
        sides.iter().map(|side| block_length(side, question.blocks)).collect();
    let scheme = |(side, length): (&'s SideInput, &Option<usize>)| {
        let blocks = length.zip(side.in_time());
        let scheme = blocks
            .map_or(Scheme::Independent, |(length, (_, in_time_ms))| Scheme::Blocks { in_time_ms, length });
        (&side.distribution, scheme)
    };
    let schemes: Vec<_> = sides.iter().zip(&block_lengths).map(scheme).collect();
    let resamples = resample(&schemes, question.page.effective_requests(), &settings)?;
    Ok(Inferred { resamples: Some(resamples), block_lengths })
}

fn block_length(side: &SideInput, blocks: Blocks) -> Option<usize> {
    let (_, values) = side.in_time()?;
    let length = match blocks {
        Blocks::None => return None,
        Blocks::Automatic => automatic_block_length(values),
        Blocks::Length(length) => length.min(values.len()),
    };
    Some(length).filter(|&length| length > 1)
}

/// Moments at which a side's latency changed.
pub(super) fn shifts(side: &SideInput) -> Result<Vec<Shift>, Error> {
    let Some((started_s, values_ms)) = side.in_time() else { return Ok(Vec::new()) };
    let model = |shift: experience::Shift| Shift {
        at_s: shift.at_s,
        before_ms: shift.before_ms,
        after_ms: shift.after_ms,
        sure: shift.sure,
    };
    Ok(experience::time_shifts(started_s, values_ms, SHIFT_SEED)?.into_iter().map(model).collect())
}

/// An interval as the model has it.
pub(super) fn ci(interval: ConfidenceInterval) -> Ci {
    [interval.low, interval.high]
}

/// An interval of a share, if it has both ends.
pub(super) fn share_ci(interval: ConfidenceInterval) -> Option<[f64; 2]> {
    Some([interval.low?, interval.high?])
}

/// Steps of resampling by blocks that take some seconds.
const MOST_STEPS: usize = 2_000_000_000;

/// Fewer make intervals rough.
const FEWEST_RESAMPLES: u32 = 200;

/// The permutations that say how sure a shift is need a seed; which one does not matter.
const SHIFT_SEED: u64 = 1;
