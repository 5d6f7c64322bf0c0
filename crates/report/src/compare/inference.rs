//! Confidence intervals: chooses how to resample each side, and converts intervals to the model's form.

use experience::{ConfidenceInterval, Error, Resamples, Scheme, Settings, resample};

use super::{Question, SideInput, stretch};
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

/// Resamples all sides.
pub(super) fn infer<'s>(question: &Question, sides: &'s [SideInput]) -> Result<Inferred<'s>, Error> {
    let found: Vec<Vec<experience::Shift>> = sides.iter().map(stretch::shifts).collect::<Result<_, _>>()?;
    let shifts = found.iter().map(|shifts| shifts.iter().map(shift).collect()).collect();
    let Some(settings) = question.intervals else {
        return Ok(Inferred { resamples: None, block_lengths: vec![None; sides.len()], shifts });
    };
    let length = |(side, shifts): (&SideInput, &Vec<_>)| block_length(side, shifts, question.blocks);
    let block_lengths: Vec<Option<usize>> = sides.iter().zip(&found).map(length).collect();
    let scheme = |(side, length): (&'s SideInput, &Option<usize>)| {
        let blocks = length.zip(side.in_time());
        let scheme = blocks
            .map_or(Scheme::Independent, |(length, (_, in_time_ms))| Scheme::Blocks { in_time_ms, length });
        (&*side.distribution, scheme)
    };
    let schemes: Vec<_> = sides.iter().zip(&block_lengths).map(scheme).collect();
    let resamples = resample(&schemes, question.page.effective_requests(), &settings)?;
    Ok(Inferred { resamples: Some(resamples), block_lengths, shifts })
}

fn block_length(side: &SideInput, shifts: &[experience::Shift], blocks: Blocks) -> Option<usize> {
    let (_, values) = side.in_time()?;
    let length = match blocks {
        Blocks::None => return None,
        Blocks::Automatic => stretch::stretch(values, stretch::step(side, shifts)),
        Blocks::Length(length) => length.min(values.len()),
    };
    Some(length).filter(|&length| length > 1)
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

/// Steps of resampling in blocks that take a few seconds.
const MOST_STEPS: usize = 2_000_000_000;

/// Fewer resamples make intervals rough.
const FEWEST_RESAMPLES: u32 = 200;
