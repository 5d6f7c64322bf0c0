//! The time that requests spend in each phase, by percentile.

use recording::Metric;
use statistics::{Error, Part, PhaseMix, phase_difference, phase_mix, phase_stack};

use super::{PERCENTILES, SideInput, side::Columns};
use crate::model::{PhaseColumn, PhaseDifference, PhaseShare, PhaseStack};

pub(super) fn difference(metric: Metric, sides: &[SideInput]) -> Result<Vec<PhaseDifference>, Error> {
    let [first, second, ..] = sides else { return Ok(Vec::new()) };
    let phases = happened(metric, &[first, second]);
    let shares: Vec<f64> = PERCENTILES.iter().map(|&(_, share)| share).take(SHOWN).collect();
    let mixes = |side: &SideInput| -> Result<Option<Vec<PhaseMix>>, Error> {
        let Some((columns, phases)) = measured(side, &phases) else { return Ok(None) };
        phase_mix(&columns.values_ms, &phases, &shares).map(Some)
    };
    let (Some(first), Some(second)) = (mixes(first)?, mixes(second)?) else { return Ok(Vec::new()) };
    let names = names(&phases);
    let of = |((first, second), (percentile, _)): ((&PhaseMix, &PhaseMix), &(&str, f64))| {
        let difference = phase_difference(first, second)?;
        let share = |(phase, (first_ms, second_ms)): (&&str, (f64, f64))| PhaseShare {
            phase: (*phase).to_owned(),
            first_ms,
            second_ms,
        };
        Ok(PhaseDifference {
            percentile: (*percentile).to_owned(),
            phases: names.iter().zip(parts(first).zip(parts(second))).map(share).collect(),
            decisive: difference.decisive.map(|part| match part {
                Part::Phase(place) => names[place].to_owned(),
                Part::Rest => REST.to_owned(),
            }),
        })
    };
    first.iter().zip(&second).zip(&PERCENTILES).map(of).collect()
}

pub(super) fn stack(metric: Metric, side: &SideInput) -> Result<Option<PhaseStack>, Error> {
    let phases = happened(metric, &[side]);
    let Some((columns, measured)) = measured(side, &phases) else { return Ok(None) };
    let mixes = phase_stack(&columns.values_ms, &measured)?;
    let column = |(place, phase): (usize, &str)| PhaseColumn {
        phase: phase.to_owned(),
        mean_ms: mixes.iter().filter_map(|mix| parts(mix).nth(place)).collect(),
    };
    Ok(Some(PhaseStack {
        share: mixes.iter().map(|mix| mix.share).collect(),
        phases: names(&phases).into_iter().enumerate().map(column).collect(),
    }))
}

/// Indices into [`Metric::PHASES`].
fn happened(metric: Metric, sides: &[&SideInput]) -> Vec<usize> {
    let columns = || sides.iter().filter_map(|side| side.columns.as_ref()?.phases.as_ref());
    let is_there = |&place: &usize| columns().any(|phases| phases[place].iter().any(|ms| !ms.is_nan()));
    (0..Metric::PHASES.len())
        .filter(|&place| metric.contains(Metric::PHASES[place]))
        .filter(is_there)
        .collect()
}

fn measured<'s>(side: &'s SideInput, places: &[usize]) -> Option<(&'s Columns, Vec<&'s [f32]>)> {
    let columns = side.columns.as_ref()?;
    let phases = columns.phases.as_ref()?;
    let chosen = places.iter().map(|&place| phases[place].as_slice()).collect();
    (!places.is_empty()).then_some((columns, chosen))
}

fn names(places: &[usize]) -> Vec<&'static str> {
    places.iter().map(|&place| Metric::PHASES[place].name()).chain([REST]).collect()
}

fn parts(mix: &PhaseMix) -> impl Iterator<Item = f64> {
    // Phases have the seven digits of an f32: a smaller rest is rounding.
    let rest = if mix.rest_ms.abs() < mix.mean_ms * 1e-6 { 0.0 } else { mix.rest_ms };
    mix.phases_ms.iter().copied().chain([rest])
}

const REST: &str = "rest";

/// The last two of all percentiles need more samples than most recordings have.
const SHOWN: usize = 6;
