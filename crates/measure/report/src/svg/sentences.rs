//! The statements above the charts, made of numbers in the report.

use crate::{
    model::{Certainty, Quantiles, Report, Side, SideCharts, Verdict},
    text::{self, grouped, label, ordinal},
};

pub(super) fn quantile(quantiles: &Quantiles, share: f64) -> f64 {
    interpolated(&quantiles.share, &quantiles.latency_ms, share)
}

pub(super) fn interpolated(shares: &[f64], values: &[f64], share: f64) -> f64 {
    let after = shares.partition_point(|&one| one < share);
    let (Some(&high), Some(&value)) = (shares.get(after), values.get(after)) else {
        return values.last().copied().unwrap_or(f64::NAN);
    };
    if after == 0 || high == share {
        return value;
    }
    let (low, before) = (shares[after - 1], values[after - 1]);
    before + (share - low) / (high - low) * (value - before)
}

pub(super) fn latencies(report: &Report, share: f64) -> String {
    let at = |(index, chart): (usize, &SideCharts)| {
        let mark = if share >= thin_from(report, &[index]) { THIN } else { "" };
        (quantile(&chart.quantiles, share), format!("{mark} ms with {}", name(&chart.label)))
    };
    let mut all: Vec<_> = report.charts.iter().enumerate().map(at).collect();
    let with = |(ms, rest): &(f64, String)| format!("{}{rest}", latency(*ms));
    if all.len() > 2 {
        all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        return format!("{} to {}", with(&all[0]), with(&all[all.len() - 1]));
    }
    all.iter().map(with).collect::<Vec<_>>().join(", ")
}

/// 1 if there are always enough samples.
pub(super) fn thin_from(report: &Report, sides: &[usize]) -> f64 {
    let of = |&side: &usize| Some(report.comparison.sides.get(side)?.figures.as_ref()?.thin_above / 100.0);
    sides.iter().filter_map(of).fold(1.0, f64::min)
}

pub(super) const THIN: &str = "~";

/// 98.98 stays 98.98, because 99 would be confused with p99.
pub(super) fn place(percent: f64) -> String {
    let text = text::percent(percent);
    if !NAMED.contains(&text.as_str()) {
        return text;
    }
    let told = (1..=7_usize).map(|decimals| format!("{percent:.decimals$}"));
    let told = told.map(|digits| digits.trim_end_matches('0').trim_end_matches('.').to_owned());
    told.into_iter().find(|digits| *digits != text).unwrap_or(text)
}

const NAMED: [&str; 8] = ["0", "50", "75", "90", "95", "99", "99.9", "99.99"];

pub(super) fn hedged(report: &Report, verdict: Option<&Verdict>, statement: String) -> String {
    let is_doubted = |verdict: &Verdict| match verdict.certainty {
        Some(certainty) => certainty != Certainty::Sure,
        // An older result has no word for it.
        None => verdict.ci_ms.is_some_and(|[low, _]| low.is_none_or(|low| low <= 0.0)),
    };
    let is_said = report.comparison.intervals.is_some();
    if is_said && verdict.is_some_and(is_doubted) { format!("Not sure: {statement}") } else { statement }
}

pub(super) fn faster(report: &Report, requests: u32, of: &str) -> String {
    let [first, second, ..] = &report.charts[..] else { return String::new() };
    let exponent = f64::from(requests);
    let mut changes: Vec<(f64, &str)> = report
        .comparison
        .crossovers
        .iter()
        .map(|crossover| (100.0 * (crossover.percentile / 100.0).powf(exponent), &*crossover.faster_above))
        .collect();
    changes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let unmet = changes.iter().take_while(|(percent, _)| *percent < NOBODY).count();
    let below = match (unmet.checked_sub(1), changes.first()) {
        (Some(last), _) => changes[last].1,
        (None, Some(&(_, above))) if above == first.label => &second.label,
        (None, Some(_)) => &first.label,
        (None, None) => return no_crossover(report, first, second, requests),
    };
    match &changes[unmet..] {
        [] => format!("{} is faster for all but fewer than {NOBODY} % of {of}", name(below)),
        [(percent, above)] => {
            format!(
                "{} is faster up to the {} percentile of {of}, {} beyond it",
                name(below),
                ordinal(*percent),
                name(above)
            )
        }
        many => {
            let (percent, above) = many[many.len() - 1];
            format!(
                "The faster side changes {} times; beyond the {} percentile of {of} it is {}",
                many.len(),
                ordinal(percent),
                name(above)
            )
        }
    }
}

fn no_crossover(report: &Report, first: &SideCharts, second: &SideCharts, requests: u32) -> String {
    let at =
        |chart: &SideCharts, share: f64| quantile(&chart.quantiles, share.powf(1.0 / f64::from(requests)));
    let lead = |share: f64| at(second, share) - at(first, share);
    let (median, tail) = (lead(0.5), lead(0.99));
    if median == 0.0 && tail == 0.0 {
        return format!("{} and {} are level", name(&first.label), name(&second.label));
    }
    let thin = |side: &Side| {
        let figures = side.figures.as_ref()?;
        Some(if requests > 1 { figures.experienced_thin_above } else { figures.thin_above })
    };
    let thin = report.comparison.sides.iter().take(2).filter_map(thin).fold(100.0, f64::min);
    let p99 = if thin <= 99.0 { "p99~" } else { "p99" };
    let who = |lead: f64| name(if lead > 0.0 { &first.label } else { &second.label });
    let by = |lead: f64| format!("{} ms", latency(lead.abs()));
    if median * tail >= 0.0 {
        let whose = if median == 0.0 { who(tail) } else { who(median) };
        return format!("{whose} is faster by {} at the median, by {} at {p99}", by(median), by(tail));
    }
    format!(
        "No clear crossover: {} is {} faster at the median, {} {} at {p99}",
        who(median),
        by(median),
        who(tail),
        by(tail)
    )
}

/// Milliseconds without the unit, with narrow spaces between the thousands.
pub(super) fn latency(ms: f64) -> String {
    if ms.abs() >= HUGE_MS {
        return format!("{ms:.2e}");
    }
    grouped(&text::latency(ms), '\u{202f}')
}

pub(super) fn name(text: &str) -> String {
    label(text, 20)
}

/// Below this percentile of people, a crossover is irrelevant.
const NOBODY: f64 = 0.01;
/// More digits than a drawing has room for.
const HUGE_MS: f64 = 1e8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::example;

    #[test]
    fn a_place_beside_a_percentile_with_a_name_is_told_from_it() {
        let places = [97.13, 98.98, 99.0, 98.9996, 49.98, 99.899_97, 50.0, 83.02].map(place);
        assert_eq!(places, ["97.1", "98.98", "99", "98.9996", "49.98", "99.89997", "50", "83"]);
    }

    #[test]
    fn a_figure_with_few_samples_beyond_is_marked() {
        let mut report = example::report();
        report.comparison.sides[1].figures.as_mut().unwrap().thin_above = 98.0;
        let said = latencies(&report, 0.99);
        assert!(said.contains(" ms with swift, ") && said.ends_with("~ ms with steady"), "{said}");
    }

    #[test]
    fn a_share_between_two_lies_between_their_values() {
        let (shares, values) = ([0.0, 0.5, 1.0], [10.0, 20.0, 100.0]);
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| interpolated(&shares, &values, share)),
            [10.0, 15.0, 20.0, 60.0, 100.0]
        );
        assert!(interpolated(&[], &[], 0.5).is_nan());
    }

    #[test]
    fn who_is_faster_moves_with_the_page() {
        let mut report = example::report();
        report.comparison.crossovers[0].percentile = 99.0;
        assert_eq!(
            faster(&report, 1, "requests"),
            "swift is faster up to the 99th percentile of requests, steady beyond it"
        );
        // 0.99^90 = 0.4047.
        assert_eq!(
            faster(&report, 90, "visitors"),
            "swift is faster up to the 40th percentile of visitors, steady beyond it"
        );
        // 0.99^1000 = 0.000043.
        assert_eq!(
            faster(&report, 1000, "visitors"),
            "steady is faster for all but fewer than 0.01 % of visitors"
        );
        report.comparison.crossovers.clear();
        report.charts[1].quantiles = report.charts[0].quantiles.clone();
        assert_eq!(faster(&report, 1, "requests"), "swift and steady are level");
    }
}
