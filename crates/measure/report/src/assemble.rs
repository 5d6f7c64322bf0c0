//! Builds a report from recordings.

use std::collections::BTreeMap;

use claim::{Caveat, Doubt};

use crate::{
    compare::Analysis,
    model::{REPORT_SCHEMA, Report},
};

/// A report that compares recordings. `doubts` come from reading them.
///
/// # Errors
/// The times of a side's samples are invalid.
pub fn of_comparison(
    title: &str,
    analysis: &Analysis<'_>,
    doubts: &[Doubt],
) -> Result<Report, statistics::Error> {
    let comparison = analysis.comparison.clone();
    let of_sides = comparison.doubts.iter().filter(|doubt| doubt.invalid).cloned();
    let doubts: Vec<Caveat> = of_sides.chain(doubts.iter().map(Caveat::from)).collect();
    Ok(Report {
        schema: REPORT_SCHEMA.to_owned(),
        title: title.to_owned(),
        summary: None,
        metric: comparison.metric.clone(),
        start: None,
        valid: claim::is_valid(&doubts),
        charts: analysis.charts()?,
        differences: analysis.differences(),
        comparison,
        experiments: Vec::new(),
        details: BTreeMap::new(),
        claims: Vec::new(),
        faults: Vec::new(),
        partial: None,
        fidelity: None,
        conditions: Vec::new(),
        warnings: claim::warnings(&doubts),
        doubts,
    })
}
