//! Which phase makes the difference between the first two sides.

use super::table::table;
use crate::{
    model::{Comparison, PhaseDifference},
    text::{difference_beside, label},
};

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
    let thin = [first, second].into_iter().filter_map(|side| side.figures.as_ref());
    let thin_above = thin.map(|figures| figures.thin_above).fold(100.0, f64::min);
    let is_thin = |column: &PhaseDifference| {
        column.percentile.parse::<f64>().is_ok_and(|percent| percent >= thin_above)
    };
    let header = comparison
        .phases
        .iter()
        .map(|column| format!("p{}{} ", column.percentile, if is_thin(column) { '~' } else { ' ' }));
    let table = table(std::iter::once("phase".to_owned()).chain(header), rows);
    let (first, second) = (label(&first.label, LABEL), label(&second.label, LABEL));
    let mark = if comparison.phases.iter().any(is_thin) { "; ~ fewer than 10 samples beyond" } else { "" };
    format!("{second} less {first} by phase, ms; * makes most of the difference{mark}\n{table}")
}

const LABEL: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::example;

    #[test]
    fn a_column_of_few_samples_is_marked() {
        let mut comparison = example::report().comparison;
        let of_many = phases(&comparison);
        assert!(of_many.contains("p99") && !of_many.contains('~'), "{of_many}");
        comparison.sides[1].figures.as_mut().unwrap().thin_above = 95.0;
        let of_few = phases(&comparison);
        assert!(!of_few.contains("p90~") && of_few.contains("p99~"), "{of_few}");
        assert!(of_few.lines().next().is_some_and(|line| line.ends_with("; ~ fewer than 10 samples beyond")));
    }
}
