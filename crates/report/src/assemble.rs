//! Puts a report together, from what was read or from what was run.

use experience::Page;
use recording::Metric;
use scenario::{Outcome, Plan};

use crate::{
    compare::{CHART_REQUESTS, SideInput, charts, compare},
    model::{Condition, REPORT_SCHEMA, Report},
};

/// A report on recordings. `warnings` are those of reading them.
///
/// # Errors
/// The times of a side's samples make no sense.
pub fn of_comparison(
    title: &str,
    metric: Metric,
    sides: &[SideInput],
    page: Page,
    warnings: Vec<String>,
) -> Result<Report, experience::Error> {
    let comparison = compare(metric, sides, page);
    Ok(Report {
        schema: REPORT_SCHEMA.to_owned(),
        title: title.to_owned(),
        summary: None,
        metric: metric.name().to_owned(),
        start: None,
        valid: comparison.valid,
        comparison,
        charts: charts(sides, CHART_REQUESTS.max(page.effective_requests()))?,
        claims: Vec::new(),
        faults: Vec::new(),
        fidelity: None,
        conditions: Vec::new(),
        warnings,
    })
}

/// A report on a scenario that was run.
///
/// # Errors
/// A side has no samples that make a distribution.
pub fn of_scenario(plan: &Plan, outcome: Outcome) -> Result<Report, experience::Error> {
    let mut warnings = Vec::new();
    let mut sides = Vec::new();
    for side in outcome.sides {
        warnings.extend(side.series.warnings.iter().map(|warning| format!("{}: {warning}", side.label)));
        sides.push(SideInput { label: side.label, ..SideInput::try_from(side.series)? });
    }
    let conditions = outcome.conditions.into_iter().map(|(name, value)| Condition { name, value });
    let compared = of_comparison(&plan.title, plan.metric, &sides, plan.page, warnings)?;
    Ok(Report {
        summary: plan.summary.clone(),
        start: outcome.start,
        valid: compared.valid && outcome.fidelity.valid,
        claims: outcome.claims,
        faults: outcome.faults,
        fidelity: Some(outcome.fidelity),
        conditions: conditions.collect(),
        ..compared
    })
}
