//! What requests spend their time on, by percentile: which phase makes the difference?

use experience::{Error, Part, PhaseMix, phase_difference, phase_mix, phase_stack};
use recording::Metric;

use super::{PERCENTILES, SideInput, side::Columns};
use crate::model::{PhaseColumn, PhaseDifference, PhaseShare, PhaseStack};

/// The phases of the first two sides around each percentile; empty if one of them knows none.
pub(super) fn difference(metric: Metric, sides: &[SideInput]) -> Result<Vec<PhaseDifference>, Error> {
    let [first, second, ..] = sides else { return Ok(Vec::new()) };
    let shares: Vec<f64> = PERCENTILES.iter().map(|&(_, share)| share).take(SHOWN).collect();
    let mixes = |side: &SideInput| -> Result<Option<Vec<PhaseMix>>, Error> {
        let Some((columns, phases)) = measured(metric, side) else { return Ok(None) };
        phase_mix(&columns.values_ms, &phases, &shares).map(Some)
    };
    let (Some(first), Some(second)) = (mixes(first)?, mixes(second)?) else { return Ok(Vec::new()) };
    let names = names(metric);
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

/// The phases of one side over all percentiles, if it knows any.
pub(super) fn stack(metric: Metric, side: &SideInput) -> Result<Option<PhaseStack>, Error> {
    let Some((columns, phases)) = measured(metric, side) else { return Ok(None) };
    let mixes = phase_stack(&columns.values_ms, &phases)?;
    let column = |(place, phase): (usize, &str)| PhaseColumn {
        phase: phase.to_owned(),
        mean_ms: mixes.iter().filter_map(|mix| parts(mix).nth(place)).collect(),
    };
    Ok(Some(PhaseStack {
        share: mixes.iter().map(|mix| mix.share).collect(),
        phases: names(metric).into_iter().enumerate().map(column).collect(),
    }))
}

/// The columns of a side's phases that are a part of the metric.
fn measured(metric: Metric, side: &SideInput) -> Option<(&Columns, Vec<&[f32]>)> {
    let columns = side.columns.as_ref()?;
    let phases = columns.phases.as_ref()?;
    let parts = Metric::PHASES.into_iter().zip(phases).filter(|(phase, _)| metric.contains(*phase));
    let parts: Vec<&[f32]> = parts.map(|(_, column)| column.as_slice()).collect();
    (!parts.is_empty()).then_some((columns, parts))
}

/// What the columns are called, and the rest.
fn names(metric: Metric) -> Vec<&'static str> {
    let phases = Metric::PHASES.into_iter().filter(|&phase| metric.contains(phase)).map(Metric::name);
    phases.chain([REST]).collect()
}

fn parts(mix: &PhaseMix) -> impl Iterator<Item = f64> {
    mix.phases_ms.iter().copied().chain([mix.rest_ms])
}

const REST: &str = "rest";

/// Percentiles in the table: the last two of all need more samples than most recordings have.
const SHOWN: usize = 6;
