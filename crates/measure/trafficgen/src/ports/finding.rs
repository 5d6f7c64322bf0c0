//! Summarizes the result of a strategy in one sentence. Pure.

use tcp::source_port::Strategy;
use units::show::{self, digits, plural, time};

use super::{Fill, Run};

pub(super) fn of(run: &Run, strategy: Strategy) -> String {
    let Run { first_half, second_half, last, .. } = run;
    let mut said = match (slowdown(first_half, second_half), parity(first_half, second_half)) {
        _ if first_half.n + second_half.n == 0 => {
            return failures(run).unwrap_or_else(|| "no connect was made".to_owned());
        }
        _ if first_half.n == 0 => second_half.p50_us.map_or_else(String::new, |us| {
            format!(
                "half of the ports were taken before it began, so there is no first half; median {} in the second",
                time(us / 1e6)
            )
        }),
        (Some(times), Some(parity)) if times >= NOTICEABLE => format!(
            "when half the range is used a connect becomes {} slower ({}): all {parity} ports are taken",
            show::times(times),
            steps(first_half, second_half)
        ),
        (_, Some(parity)) => format!("{parity} ports first: the others are taken when all of these are used"),
        (Some(times), None) if times >= NOTICEABLE => {
            format!(
                "a connect becomes {} slower in the second half ({})",
                show::times(times),
                steps(first_half, second_half)
            )
        }
        (Some(_), None) => match slowdown(first_half, last) {
            Some(times) if times >= NOTICEABLE => {
                format!("slower only near the end: {} ({})", show::times(times), steps(first_half, last))
            }
            _ => "about as fast at the end as at the beginning".to_owned(),
        },
        (None, None) => "not enough of the range was used to compare its halves".to_owned(),
    };
    if let (Strategy::RandomBind, Some(tries)) =
        (strategy, last.mean_tries.filter(|tries| *tries >= NOTICEABLE))
    {
        said += &format!("; in the end it takes {} ports to find a free one", digits(tries));
    }
    if let Some(duplicates) = run.duplicates.filter(|duplicates| *duplicates > 0) {
        said += &format!("; {duplicates} sockets have a port that another one has too");
    }
    failures(run).into_iter().for_each(|failures| said += &format!("; {failures}"));
    said
}

/// The parity of all ports in the first half, if all ports in the second half have the other
/// parity.
fn parity(first: &Fill, second: &Fill) -> Option<&'static str> {
    match (first.odd_share?, second.odd_share?) {
        (first, second) if first <= NEARLY_NONE && second >= 1.0 - NEARLY_NONE => Some("even"),
        (first, second) if first >= 1.0 - NEARLY_NONE && second <= NEARLY_NONE => Some("odd"),
        _ => None,
    }
}

fn slowdown(from: &Fill, to: &Fill) -> Option<f64> {
    Some(to.p50_us? / from.p50_us?)
}

fn steps(from: &Fill, to: &Fill) -> String {
    let median = |fill: &Fill| fill.p50_us.map_or_else(String::new, |us| time(us / 1e6));
    format!("median {} -> {}", median(from), median(to))
}

fn failures(run: &Run) -> Option<String> {
    let (most, _) = run.errors.iter().max_by_key(|(_, n)| **n)?;
    let connects = plural(run.errors.values().sum(), "connect");
    let mostly = if run.errors.len() > 1 { "most " } else { "" };
    Some(format!("{connects} failed, {mostly}with {most}"))
}

/// Smaller differences of the median are noise on a machine with other load.
const NOTICEABLE: f64 = 2.0;

/// Tolerance for ports of the other parity: a connect near the middle of the range.
const NEARLY_NONE: f64 = 0.01;
