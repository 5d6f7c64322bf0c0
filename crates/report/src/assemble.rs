//! Puts a report together, from what was read or from what was run.

use scenario::{Outcome, Partial, Plan};

use crate::{
    compare::{Analysis, Question, SideInput, compare},
    model::{Condition, REPORT_SCHEMA, Report},
};

/// A report on recordings that were compared. `warnings` are those of reading them.
///
/// # Errors
/// The times of a side's samples make no sense.
pub fn of_comparison(
    title: &str,
    analysis: &Analysis<'_>,
    warnings: Vec<String>,
) -> Result<Report, experience::Error> {
    let comparison = analysis.comparison.clone();
    Ok(Report {
        schema: REPORT_SCHEMA.to_owned(),
        title: title.to_owned(),
        summary: None,
        metric: comparison.metric.clone(),
        start: None,
        valid: comparison.valid,
        charts: analysis.charts()?,
        differences: analysis.differences(),
        comparison,
        outages: Vec::new(),
        transfers: Vec::new(),
        pings: Vec::new(),
        commands: Vec::new(),
        claims: Vec::new(),
        faults: Vec::new(),
        partial: None,
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
    let (title, mut warnings) = (title(plan, &outcome), outcome.warnings);
    if outcome.partial.is_some() && !plan.claims.is_empty() {
        warnings.insert(0, "No claim is judged, because the run is not whole.".to_owned());
    }
    let mut sides = Vec::new();
    for side in outcome.sides {
        warnings.extend(side.series.warnings.iter().map(|warning| format!("{}: {warning}", side.label)));
        sides.push(SideInput { label: side.label, ..SideInput::try_from(side.series)? });
    }
    let conditions = outcome.conditions.into_iter().map(|(name, value)| Condition { name, value });
    let question = Question::new(plan.metric, plan.page);
    let compared = of_comparison(&title, &compare(&question, &sides)?, warnings)?;
    Ok(Report {
        summary: plan.summary.clone(),
        start: outcome.start,
        valid: compared.valid && outcome.fidelity.valid,
        outages: outcome.outages,
        transfers: outcome.transfers,
        pings: outcome.pings,
        commands: outcome.commands,
        claims: outcome.claims,
        faults: outcome.faults,
        partial: outcome.partial,
        fidelity: Some(outcome.fidelity),
        conditions: conditions.collect(),
        ..compared
    })
}

/// What the report is called: of a run that is not whole it says so, wherever it is shown.
fn title(plan: &Plan, outcome: &Outcome) -> String {
    match outcome.partial {
        Some(Partial { after_s, of_s }) => {
            format!("{} (PARTIAL: interrupted after {after_s:.1} s of {of_s:.1} s)", plan.title)
        }
        None => plan.title.clone(),
    }
}
