//! The statements above the charts. They are made of numbers that the report holds.

use crate::{
    model::{Quantiles, Report, SideCharts},
    text::{self, grouped, label, ordinal},
};

/// The latency at a share of requests.
pub(super) fn quantile(quantiles: &Quantiles, share: f64) -> f64 {
    interpolated(&quantiles.share, &quantiles.latency_ms, share)
}

/// A column's value between the entries around a share; its ends beyond them.
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

/// "120 ms with swift, 161 ms with steady", or the ends of the range if there are many.
pub(super) fn latencies(report: &Report, share: f64) -> String {
    let at = |chart: &SideCharts| (quantile(&chart.quantiles, share), name(&chart.label));
    let mut all: Vec<_> = report.charts.iter().map(at).collect();
    let with = |(ms, name): &(f64, String)| format!("{} ms with {name}", latency(*ms));
    if all.len() > 2 {
        all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        return format!("{} to {}", with(&all[0]), with(&all[all.len() - 1]));
    }
    all.iter().map(with).collect::<Vec<_>>().join(", ")
}

/// "swift is faster up to the 97.1th percentile of requests, steady beyond it": which of the first two sides is faster
/// where, for what people need so many requests for.
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
    // Below this nobody is met, so who is faster there is none's concern.
    let unmet = changes.iter().take_while(|(percent, _)| *percent < NOBODY).count();
    let below = match (unmet.checked_sub(1), changes.first()) {
        (Some(last), _) => changes[last].1,
        (None, Some(&(_, above))) if above == first.label => &second.label,
        (None, Some(_)) => &first.label,
        (None, None) => return no_crossover(first, second, requests),
    };
    match &changes[unmet..] {
        [] => format!("{} is faster for all {of} but fewer than {NOBODY} %", name(below)),
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

fn no_crossover(first: &SideCharts, second: &SideCharts, requests: u32) -> String {
    let at =
        |chart: &SideCharts, share: f64| quantile(&chart.quantiles, share.powf(1.0 / f64::from(requests)));
    let lead = |share: f64| at(second, share) - at(first, share);
    let (median, tail) = (lead(0.5), lead(0.99));
    if median == 0.0 && tail == 0.0 {
        return format!("{} and {} are level", name(&first.label), name(&second.label));
    }
    let who = |lead: f64| name(if lead > 0.0 { &first.label } else { &second.label });
    let by = |lead: f64| format!("{} ms", latency(lead.abs()));
    if median * tail >= 0.0 {
        let whose = if median == 0.0 { who(tail) } else { who(median) };
        return format!("{whose} is faster by {} at the median, by {} at p99", by(median), by(tail));
    }
    format!(
        "No clear crossover: {} is {} faster at the median, {} {} at p99",
        who(median),
        by(median),
        who(tail),
        by(tail)
    )
}

/// A latency in milliseconds without its unit, with narrow spaces between the thousands.
pub(super) fn latency(ms: f64) -> String {
    grouped(&text::latency(ms), '\u{202f}')
}

/// A label as titles have it.
pub(super) fn name(text: &str) -> String {
    label(text, 20)
}

/// Below this percentile of people a crossover concerns nobody one would meet.
const NOBODY: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::example;

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
            "steady is faster for all visitors but fewer than 0.01 %"
        );
        report.comparison.crossovers.clear();
        report.charts[1].quantiles = report.charts[0].quantiles.clone();
        assert_eq!(faster(&report, 1, "requests"), "swift and steady are level");
    }
}
