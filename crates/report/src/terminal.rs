//! Tables and sentences for a terminal. Styled; whoever prints removes the styles where they are not wanted.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use planet::Fidelity;

use crate::model::{Comparison, Report, Side};

/// A whole report: verdict, expectations, percentiles, claims, fidelity and warnings.
pub fn report(report: &Report) -> String {
    let mut text = format!("{}\n\n", paint(&report.title, BOLD));
    if !report.valid {
        let _ = writeln!(
            text,
            "{}\n",
            paint("INVALID: these numbers describe the tool, not what it measured.", RED)
        );
    }
    text += &comparison(&report.comparison);
    if !report.claims.is_empty() {
        text += "\n";
    }
    for claim in &report.claims {
        let verdict = if claim.holds { paint("holds ", GREEN) } else { paint("FAILED", RED) };
        let _ = writeln!(text, "{verdict}  {}\n        {}", claim.claim, claim.figure);
    }
    if let Some(figures) = &report.fidelity {
        let _ = writeln!(text, "\n{}", fidelity(figures));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "{} {warning}", paint("warning:", YELLOW));
    }
    text
}

/// A comparison: verdict, expectations and percentiles.
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = String::new();
    for side in &comparison.sides {
        for reason in &side.invalid {
            let _ = writeln!(text, "{} {}: {reason}", paint("INVALID", RED), side.label);
        }
    }
    if let Some(verdict) = &comparison.verdict {
        let _ = writeln!(text, "{}\n", verdict.sentence);
    }
    let page = &comparison.page;
    let _ = writeln!(
        text,
        "{} in ms; page of {} requests, {} % required: {} effective",
        comparison.metric,
        page.requests,
        page.required * 100.0,
        page.effective_requests
    );
    let _ = writeln!(text, "{}\n", expectations(&comparison.sides).trim_fmt());
    let _ = writeln!(text, "{}", percentiles(comparison));
    if page.effective_requests > 1 {
        let watch = ["50", "90", "99"]
            .iter()
            .filter_map(|people| Some((people, comparison.percentile_to_watch.get(*people)?)));
        let watch: Vec<_> =
            watch.map(|(people, request)| format!("p{request:.3} for {people} % of people")).collect();
        let _ = writeln!(text, "request percentile to watch: {}", watch.join(", "));
    }
    for crossover in &comparison.crossovers {
        let _ = writeln!(
            text,
            "{} is faster above p{:.2} ({} ms)",
            crossover.faster_above,
            crossover.percentile,
            number(crossover.latency_ms)
        );
    }
    for warning in &comparison.warnings {
        let _ = writeln!(text, "{} {warning}", paint("warning:", YELLOW));
    }
    text
}

/// A planet's fidelity in a line, and what spoilt it in more.
pub fn fidelity(fidelity: &Fidelity) -> String {
    let verdict = if fidelity.valid { paint("valid", GREEN) } else { paint("INVALID", RED) };
    let lateness = match (fidelity.lateness_us.get("50"), fidelity.lateness_us.get("99.9")) {
        (Some(median), Some(tail)) => format!("late by {median:.0} us at the median, {tail:.0} us at p99.9"),
        _ => "nothing delivered yet".to_owned(),
    };
    let machine = fidelity
        .machine_cpu_share
        .map_or_else(String::new, |share| format!(", machine {:.0} % busy", share * 100.0));
    let mut text = format!(
        "fidelity: {verdict}; {} packets, {lateness}; own drops {}{machine}",
        fidelity.delivered, fidelity.own_drops
    );
    for reason in &fidelity.reasons {
        let _ = write!(text, "\n  {reason}");
    }
    text
}

fn expectations(sides: &[Side]) -> Table {
    let mut table = table(&["", "n", "failed", "expected request", "expected experienced", "min", "max"]);
    let best = |value: fn(&Side) -> f64| sides.iter().map(value).fold(f64::INFINITY, f64::min);
    let (request, experienced) =
        (best(|side| side.expected_request_ms), best(|side| side.expected_experienced_ms));
    // A star marks the better one, also where there is no colour.
    let mark = |value: f64, best: f64| {
        let is_best = sides.len() > 1 && value <= best;
        format!("{}{}", number(value), if is_best { " *" } else { "  " })
    };
    for side in sides {
        table.add_row([
            side.label.clone(),
            side.n.to_string(),
            side.failed.to_string(),
            mark(side.expected_request_ms, request),
            mark(side.expected_experienced_ms, experienced),
            number(side.min_ms),
            number(side.max_ms),
        ]);
    }
    align(&mut table);
    table
}

fn percentiles(comparison: &Comparison) -> String {
    let Some(first) = comparison.sides.first() else { return String::new() };
    let names: Vec<String> =
        in_order(&first.request_percentiles_ms).map(|(name, _)| format!("p{name}")).collect();
    let mut header = vec![""];
    header.extend(names.iter().map(String::as_str));
    let mut table = table(&header);
    let mut is_thin = false;
    for side in &comparison.sides {
        for (what, values, thin) in [
            ("request", &side.request_percentiles_ms, side.thin_above),
            ("experienced", &side.experienced_percentiles_ms, side.experienced_thin_above),
        ] {
            let mut row = vec![format!("{} {what}", side.label)];
            for (name, value) in in_order(values) {
                let thin = name.parse::<f64>().is_ok_and(|percentile| percentile >= thin);
                is_thin |= thin;
                row.push(format!("{}{}", number(value), if thin { "~" } else { " " }));
            }
            table.add_row(row);
        }
    }
    align(&mut table);
    format!("{}\n{}", table.trim_fmt(), if is_thin { "~ fewer than 10 samples beyond\n" } else { "" })
}

/// Percentiles in the order of their numbers, not of their texts.
fn in_order(values: &std::collections::BTreeMap<String, f64>) -> impl Iterator<Item = (&str, f64)> {
    let mut entries: Vec<_> = values.iter().map(|(name, &value)| (name.as_str(), value)).collect();
    entries.sort_by(|(a, _), (b, _)| a.parse().unwrap_or(f64::NAN).total_cmp(&b.parse().unwrap_or(f64::NAN)));
    entries.into_iter()
}

/// Milliseconds with four digits that count, more or less.
fn number(ms: f64) -> String {
    match ms {
        ms if ms >= 1000.0 => format!("{ms:.0}"),
        ms if ms >= 10.0 => format!("{ms:.1}"),
        ms if ms >= 0.1 => format!("{ms:.3}"),
        ms => format!("{ms:.3e}"),
    }
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let line_below_header = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table
        .load_style(line_below_header)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    table
}

fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn paint(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
