//! The charts as SVG files for slides and documents: start at [`charts`] and [`figures`].

use std::collections::BTreeSet;

use crate::model::Report;

mod axis;
mod band;
mod canvas;
mod cdf;
mod difference;
#[cfg(test)]
pub(crate) mod example;
mod experienced;
mod figures;
mod frame;
mod heading;
mod heat;
mod labels;
mod over_time;
mod palette;
mod panels;
mod phases;
mod qq;
#[cfg(test)]
mod rules;
mod sentences;

pub use figures::figures;

/// File names ("cdf.svg") and contents. Empty for a report without chart data, as in `result.json`.
pub fn charts(report: &Report) -> Vec<(String, String)> {
    let whole = [
        ("cdf.svg", cdf::draw(report, cdf::Axis::Percent)),
        ("cdf-nines.svg", cdf::draw(report, cdf::Axis::Nines)),
        ("qq.svg", qq::draw(report, qq::Of::Requests)),
        ("effective-qq.svg", qq::draw(report, qq::Of::Visitors)),
        ("difference.svg", difference::draw(report)),
        ("experienced.svg", experienced::draw(report)),
        ("over-time.svg", over_time::draw(report)),
        ("phases.svg", phases::draw(report)),
    ];
    let whole = whole.into_iter().filter_map(|(name, file)| Some((name.to_owned(), file?)));
    let mut used = BTreeSet::new();
    let heat = report.charts.iter().enumerate().filter_map(|(side, chart)| {
        let file = heat::draw(report, side)?;
        Some((file_name("heat", &chart.label, &mut used), file))
    });
    whole.chain(heat).collect()
}

/// Drops characters of the label that are not valid in file names everywhere.
fn file_name(kind: &str, label: &str, used: &mut BTreeSet<String>) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let slug: String = label.chars().take(40).map(harmless).collect();
    let slug = slug.trim_matches(['-', '.']);
    unused(&format!("{kind}-{}", if slug.is_empty() { "side" } else { slug }), used)
}

/// Appends "-2" and so on; distinct also without regard to upper and lower case.
fn unused(stem: &str, used: &mut BTreeSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{stem}-{number}.svg"));
    let mut candidates = std::iter::once(format!("{stem}.svg")).chain(numbered);
    candidates.find(|name| used.insert(name.to_lowercase())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
