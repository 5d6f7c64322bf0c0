//! Reads the files that a run wrote, judges the claims, and returns the outcome.

use std::fs;

use claim::{Doubt, Fidelity, Measured, judge};
use report::{FaultMark, Partial};

use crate::{
    emulator::Emulator,
    error::Error,
    folder::Folder,
    kind,
    measurement::{Findings, Gaps, Inputs},
    outcome::Outcome,
    plan::Plan,
};

pub(crate) fn evaluate(
    plan: &Plan,
    fidelity: Fidelity,
    emulator: &Emulator,
    folder: &Folder<'_>,
    partial: Option<Partial>,
) -> Result<Outcome, Error> {
    let mark = |timed: &world::Timed| FaultMark {
        label: timed.fault.to_string(),
        at_s: timed.at.as_secs_f64(),
        until_s: timed.lasts.map(|lasts| (timed.at + lasts).as_secs_f64()),
    };
    let faults: Vec<FaultMark> = plan.faults.iter().map(mark).collect();
    let reading = Inputs {
        folder,
        metric: plan.metric,
        claims: &plan.claims,
        faults: &faults,
        layout: &plan.layout,
        emulator,
        partial,
    };
    let mut gaps = Gaps::of(partial);
    let mut evidence = Measured::new(plan.page);
    let mut outcome = Outcome {
        sides: Vec::new(),
        measured: Vec::new(),
        experiments: Vec::new(),
        claims: Vec::new(),
        faults: Vec::new(),
        fidelity,
        start: None,
        partial,
        doubts: Vec::new(),
        conditions: vec![
            ("scenario".to_owned(), plan.name.clone()),
            ("seed".to_owned(), plan.world.settings.seed.to_string()),
        ],
    };
    for (source, found) in kind::read(&plan.measurements, &reading, &mut gaps)? {
        let Findings { sides, measured, evidence: of_sides, figures, start, conditions, doubts } = found;
        of_sides.into_iter().for_each(|(side, found)| evidence.add(source, &side, found));
        outcome.sides.extend(sides);
        outcome.measured.extend(measured);
        outcome.experiments.extend(figures);
        outcome.start = outcome.start.or(start);
        outcome.conditions.extend(conditions);
        outcome.doubts.extend(doubts);
    }
    let judged = if partial.is_some() { &[] } else { plan.claims.as_slice() };
    let value = |subject: &_, side: &str| evidence.value(subject, side);
    outcome.claims = judged.iter().map(|claim| judge(claim, value)).collect();
    let undecided = outcome.claims.iter().filter(|judgement| !judgement.decided);
    outcome.doubts.extend(undecided.map(|judgement| Doubt::Undecided { claim: judgement.claim.clone() }));
    outcome.conditions.extend(machine());
    outcome.doubts.splice(0..0, gaps.doubts);
    outcome.faults = faults;
    Ok(outcome)
}

fn machine() -> Vec<(String, String)> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [
        ("kernel", read("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"))),
        ("cores", Some(cores.to_string())),
        ("congestion control, machine's default", read("/proc/sys/net/ipv4/tcp_congestion_control")),
        ("longhaul", Some(env!("CARGO_PKG_VERSION").to_owned())),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

#[cfg(test)]
mod tests;
