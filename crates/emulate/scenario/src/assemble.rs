//! Builds the report of a completed scenario.

use std::{collections::BTreeMap, sync::Arc};

use claim::{Caveat, Doubt};
use report::{Condition, FaultMark, Partial, Question, Report, SideInput, compare, of_comparison};
use serde_json::Value;
use units::show::time;

use crate::{kind, outcome::Outcome, plan::Plan};

/// Builds the report of a scenario from its plan and its outcome.
///
/// # Errors
/// A side has no samples that form a distribution.
pub fn report(plan: &Plan, outcome: Outcome) -> Result<Report, statistics::Error> {
    let title = title(plan, outcome.partial);
    let mut doubts = outcome.doubts;
    if outcome.partial.is_some() && !plan.claims.is_empty() {
        doubts.insert(0, Doubt::NoClaimJudged);
    }
    let mut details: BTreeMap<String, Value> =
        kind::lists().into_iter().map(|list| (list.name.to_owned(), Value::Array(Vec::new()))).collect();
    for one in outcome.measured {
        let list = kind::lists().into_iter().find(|list| list.source == one.kind);
        let list = list.and_then(|list| details.get_mut(list.name)?.as_array_mut());
        if let Some(list) = list {
            list.push(Arc::unwrap_or_clone(one.detail));
        }
    }
    let conditions = outcome.conditions.into_iter().map(|(name, value)| Condition { name, value });
    let question = Question::new(plan.metric, plan.page);
    let planned_faults_s: Vec<_> = outcome.faults.iter().map(FaultMark::stretch_s).collect();
    let with_plan = |side: SideInput| SideInput { planned_faults_s: planned_faults_s.clone(), ..side };
    let sides: Vec<SideInput> = outcome.sides.into_iter().map(with_plan).collect();
    let compared = of_comparison(&title, &compare(&question, &sides)?, &doubts)?;
    let doubts: Vec<Caveat> = outcome.fidelity.doubts.iter().cloned().chain(compared.doubts).collect();
    Ok(Report {
        summary: plan.summary.clone(),
        start: outcome.start,
        valid: claim::is_valid(&doubts),
        experiments: outcome.experiments,
        details,
        claims: outcome.claims,
        faults: outcome.faults,
        partial: outcome.partial,
        fidelity: Some(outcome.fidelity),
        conditions: conditions.collect(),
        doubts,
        ..compared
    })
}

/// Contains the mark of a partial run, so that each display shows it.
fn title(plan: &Plan, partial: Option<Partial>) -> String {
    match partial {
        Some(Partial { after_s, of_s }) => {
            format!("{} (PARTIAL: interrupted after {} of {})", plan.title, time(after_s), time(of_s))
        }
        None => plan.title.clone(),
    }
}
