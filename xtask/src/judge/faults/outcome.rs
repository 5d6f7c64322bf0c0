//! Results of single runs and totals.

use std::{collections::BTreeMap, fmt};

use serde_json::{Value, json};

use super::timeline::Fault;

#[derive(Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) faults: Vec<Fault>,
    counts: BTreeMap<&'static str, u64>,
    pub(super) violations: Vec<Violation>,
    pub(super) kinds: Vec<&'static str>,
    pub(super) invalid: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Violation(pub(super) String);

#[derive(Debug, Default)]
pub(super) struct Total {
    runs: u64,
    faults: u64,
    counts: BTreeMap<&'static str, u64>,
    kinds: BTreeMap<&'static str, u64>,
    violations: Vec<(u64, Violation)>,
    invalid: Vec<(u64, String)>,
}

impl Run {
    pub(super) fn of(seed: u64, faults: Vec<Fault>) -> Self {
        Self {
            seed,
            faults,
            counts: BTreeMap::new(),
            violations: Vec::new(),
            kinds: Vec::new(),
            invalid: None,
        }
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(super) fn count_many(&mut self, what: &'static str, many: u64) {
        *self.counts.entry(what).or_default() += many;
    }

    pub(super) fn violate(&mut self, sort: &'static str, text: String) {
        self.kinds.push(sort);
        self.violations.push(Violation(text));
    }

    pub(super) fn counted(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or_default()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> = self.faults.iter().map(ToString::to_string).collect();
        let counts: Vec<_> = self.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        write!(f, "seed {}: {}; {}", self.seed, counts.join(", "), faults.join(", "))?;
        if let Some(why) = &self.invalid {
            write!(f, "\n  INVALID: {why}")?;
        }
        self.violations.iter().try_for_each(|Violation(what)| write!(f, "\n  VIOLATION: {what}"))
    }
}

impl Total {
    pub(super) fn add(&mut self, run: Run) {
        self.runs += 1;
        self.faults += run.faults.len() as u64;
        if let Some(why) = run.invalid {
            self.invalid.push((run.seed, why));
        }
        run.counts.into_iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
        run.kinds.into_iter().for_each(|kind| *self.kinds.entry(kind).or_default() += 1);
        self.violations.extend(run.violations.into_iter().map(|violation| (run.seed, violation)));
    }

    pub(super) fn add_failed(&mut self, seed: u64, why: String) {
        self.runs += 1;
        self.invalid.push((seed, why));
    }

    pub(super) fn has_violations(&self) -> bool {
        !self.violations.is_empty()
    }

    pub(super) fn is_worth_something(&self) -> bool {
        self.runs > self.invalid.len() as u64
    }

    pub(super) fn json(&self, subject: &str) -> Value {
        let of = |(seed, why): &(u64, String)| json!({ "seed": seed, "why": why });
        let invalid: Vec<_> = self.invalid.iter().map(of).collect();
        let violation = |(seed, what): &(u64, Violation)| json!({ "seed": seed, "what": what.0 });
        let violations: Vec<_> = self.violations.iter().map(violation).collect();
        json!({
            "subject": subject, "runs": self.runs, "faults": self.faults, "operations": self.counts,
            "violations_by_kind": self.kinds, "violations": violations, "invalid": invalid,
        })
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let valid = self.runs - self.invalid.len() as u64;
        write!(f, "{} runs, {valid} of them valid, with {} faults", self.runs, self.faults)?;
        self.counts.iter().try_for_each(|(what, count)| write!(f, "\n  {count} {what}"))?;
        self.invalid.iter().try_for_each(|(seed, why)| write!(f, "\n  seed {seed} is invalid: {why}"))?;
        write!(f, "\n{} violations", self.violations.len())?;
        self.kinds.iter().try_for_each(|(kind, count)| write!(f, "\n  {count} {kind}"))?;
        let mut seeds: Vec<_> = self.violations.iter().map(|(seed, _)| seed).collect();
        seeds.dedup();
        seeds.iter().try_for_each(|seed| write!(f, "\n  once more: --seed {seed}"))
    }
}
