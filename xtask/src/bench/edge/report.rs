//! Results as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    options::Options,
    round::{Measured, Outcome, Run, State},
};
use crate::bench::figures::Spread;

pub(super) fn table(outcome: &Outcome) -> String {
    let mut text = "| server | version | requests/s | core used | CPU-us a request | Longhaul / it | n | |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for measured in &outcome.servers {
        let name = measured.kind.name();
        let (version, runs) = match &measured.state {
            State::Absent(why) => {
                let _ = writeln!(text, "| {name} | | not measured: {why} | | | | 0 | |");
                continue;
            }
            State::Ran { version, runs } => (version, runs),
        };
        let of = |figure: fn(&Run) -> f64| Spread::of(valid(runs).map(figure));
        let shown =
            |spread: Option<Spread>, digits| spread.map_or_else(String::new, |spread| spread.text(digits));
        let rate =
            of(|run| run.requests_per_s).map_or_else(String::new, |rate| format!("{:.0}", rate.median));
        let busy =
            of(|run| run.busy * 100.0).map_or_else(String::new, |busy| format!("{:.0} %", busy.median));
        let cpu = of(|run| run.cpu_us);
        let _ = writeln!(
            text,
            "| {name} | {version} | {rate} | {busy} | {} | {} | {} | {} |",
            shown(cpu, 2),
            shown(Spread::of(ratios(outcome, measured)), 2),
            valid(runs).count(),
            doubts(runs)
        );
    }
    text
}

pub(super) fn json(conditions: &str, options: &Options, outcomes: &[Outcome]) -> Value {
    let scenarios: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            let servers: Vec<_> = outcome.servers.iter().map(|measured| server(outcome, measured)).collect();
            json!({ "name": outcome.scenario.name, "what": outcome.scenario.what, "servers": servers })
        })
        .collect();
    json!({
        "conditions": conditions,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "scenarios": scenarios,
    })
}

fn server(outcome: &Outcome, measured: &Measured) -> Value {
    let name = measured.kind.name();
    match &measured.state {
        State::Absent(why) => json!({ "name": name, "not_measured": why }),
        State::Ran { version, runs } => {
            let rounds: Vec<_> = runs
                .iter()
                .map(|run| {
                    json!({
                        "requests_per_s": run.requests_per_s,
                        "cpu_us_per_request": run.cpu_us,
                        "core_used": run.busy,
                        "invalid": run.invalid,
                    })
                })
                .collect();
            let cpu = Spread::of(valid(runs).map(|run| run.cpu_us));
            json!({
                "name": name,
                "version": version,
                "cpu_us_per_request": cpu.map(spread),
                "longhaul_to_it": Spread::of(ratios(outcome, measured)).map(spread),
                "rounds": rounds,
            })
        }
    }
}

pub(super) fn spread(spread: Spread) -> Value {
    let Spread { median, least, most, n } = spread;
    json!({ "median": median, "least": least, "most": most, "n": n })
}

fn valid(runs: &[Run]) -> impl Iterator<Item = &Run> {
    runs.iter().filter(|run| run.invalid.is_none())
}

fn ratios(outcome: &Outcome, other: &Measured) -> Vec<f64> {
    let Some((first, State::Ran { runs: theirs, .. })) = outcome.servers.first().zip(Some(&other.state))
    else {
        return Vec::new();
    };
    let State::Ran { runs: ours, .. } = &first.state else { return Vec::new() };
    if first.kind == other.kind {
        return Vec::new();
    }
    let pairs =
        ours.iter().zip(theirs).filter(|(ours, theirs)| ours.invalid.is_none() && theirs.invalid.is_none());
    pairs.map(|(ours, theirs)| ours.cpu_us / theirs.cpu_us).collect()
}

fn doubts(runs: &[Run]) -> String {
    let invalid = runs.iter().enumerate().filter_map(|(round, run)| Some((round, run.invalid.as_ref()?)));
    let told: Vec<_> = invalid.map(|(round, why)| format!("round {} INVALID: {why}", round + 1)).collect();
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::edge::{options::Arm, scenario::SCENARIOS, server::Kind};

    fn ran(kind: Kind, cpu_us: &[f64], invalid: Option<usize>) -> Measured {
        let run = |(round, &cpu_us): (usize, &f64)| Run {
            requests_per_s: 1e5,
            cpu_us,
            busy: 0.5,
            invalid: (invalid == Some(round)).then(|| "3 timeouts".to_owned()),
        };
        let runs = cpu_us.iter().enumerate().map(run).collect();
        Measured { kind, state: State::Ran { version: "1.2".to_owned(), runs } }
    }

    #[test]
    fn ratios_are_of_one_round_and_invalid_rounds_do_not_count() {
        let absent = State::Absent("Varnish is not installed".to_owned());
        let outcome = Outcome {
            scenario: &SCENARIOS[0],
            servers: vec![
                ran(Kind::Longhaul, &[5.0, 6.0, 9.0], None),
                ran(Kind::Nginx, &[10.0, 1.0, 10.0], Some(1)),
                Measured { kind: Kind::Varnish, state: absent },
            ],
        };
        let text = table(&outcome);
        // 5 / 10 and 9 / 10: the median is 0.7.
        let nginx = "| nginx | 1.2 | 100000 | 50 % | 10.00 [10.00 .. 10.00] | 0.70 [0.50 .. 0.90] | 2 | round 2 INVALID: 3 timeouts |";
        assert!(text.contains(nginx), "{text}");
        assert!(
            text.contains("| Longhaul | 1.2 | 100000 | 50 % | 6.00 [5.00 .. 9.00] |  | 3 |  |"),
            "{text}"
        );
        assert!(text.contains("| Varnish | | not measured: Varnish is not installed |"), "{text}");
        let options = Options { rounds: 3, seconds: 1, arms: vec![Arm::Load(&SCENARIOS[0])], before: None };
        let json = json("a machine", &options, &[outcome]);
        assert_eq!(json.pointer("/scenarios/0/servers/1/longhaul_to_it/median"), Some(&json!(0.7)));
        assert_eq!(json.pointer("/scenarios/0/servers/2/cpu_us_per_request"), None);
    }
}
