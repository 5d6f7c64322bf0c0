//! Which phase makes the difference between the first two sides.

use super::table::table;
use crate::{
    model::{Comparison, PhaseDifference},
    text::{difference_beside, label},
};

/// The second side's phases less the first's: a row a phase, a column a percentile.
pub(super) fn phases(comparison: &Comparison) -> String {
    let ([first, second, ..], [any, ..]) = (&comparison.sides[..], &comparison.phases[..]) else {
        return String::new();
    };
    let differences = comparison.phases.iter().flat_map(|column| &column.phases);
    let largest = differences.map(|share| (share.second_ms - share.first_ms).abs()).fold(0.0, f64::max);
    let cell = |column: &PhaseDifference, phase: &str| {
        let Some(share) = column.phases.iter().find(|share| share.phase == phase) else {
            return String::new();
        };
        let is_decisive = column.decisive.as_deref() == Some(phase);
        let difference = difference_beside(share.second_ms - share.first_ms, largest);
        format!("{difference}{}", if is_decisive { " *" } else { "  " })
    };
    let rows = any.phases.iter().map(|one| {
        let cells = comparison.phases.iter().map(|column| cell(column, &one.phase));
        std::iter::once(one.phase.clone()).chain(cells).collect::<Vec<_>>()
    });
    let header = comparison.phases.iter().map(|column| format!("p{}  ", column.percentile));
    let table = table(std::iter::once("phase".to_owned()).chain(header), rows);
    let (first, second) = (label(&first.label, LABEL), label(&second.label, LABEL));
    format!("{second} less {first} by phase, ms; * makes most of the difference\n{table}")
}

const LABEL: usize = 18;
