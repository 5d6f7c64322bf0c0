//! Differences between sides in means and percentiles, in milliseconds and in percent.

use super::{Detail, table::table};
use crate::{
    model::{Basis, Comparison, Difference, Differences},
    text::{difference, interval, label, signed_relative},
};

pub(super) fn differences(comparison: &Comparison, detail: Detail) -> String {
    let all = &comparison.differences;
    if all.len() > 1 && detail == Detail::Short {
        return String::new();
    }
    let names: &[&str] = if detail == Detail::Wide { &ALL } else { &FEW };
    all.iter().map(|one| of_side(comparison, one, names)).collect::<Vec<_>>().join("\n")
}

fn of_side(comparison: &Comparison, one: &Differences, names: &[&str]) -> String {
    let is_page = comparison.page.effective_requests > 1 || one.basis == Basis::ObservedPages;
    let people = match one.basis {
        Basis::ObservedPages => "real page views",
        Basis::Model => "experienced",
    };
    let (mut rows, mut any_thin) = (Vec::new(), false);
    for (kind, differences) in [("request", &one.request), (people, &one.experienced)] {
        if kind != "request" && !is_page {
            continue;
        }
        if kind != "request" {
            rows.push(vec![kind.to_owned()]);
        }
        for &name in names {
            if let Some(found) = differences.get(name) {
                let name = if name == "mean" { name.to_owned() } else { format!("p{name}") };
                rows.push(row(name, found));
                any_thin |= found.thin;
            }
        }
    }
    let (first, second) = (label(&one.first, LABEL), label(&one.second, LABEL));
    let intervals = rows.iter().any(|row| row.get(2).is_some_and(|ends| !ends.is_empty()));
    let columns: &[&str] =
        if intervals { &["request", "ms ", "interval", "%"] } else { &["request", "ms ", "%"] };
    if !intervals {
        rows.iter_mut().filter(|row| row.len() > 2).for_each(|row| drop(row.remove(2)));
    }
    let table = table(columns.iter().map(|&column| column.to_owned()), rows);
    let thin = if any_thin { "~ fewer than 10 beyond\n" } else { "" };
    format!("{second} less {first}\n{table}{thin}")
}

fn row(name: String, found: &Difference) -> Vec<String> {
    let thin = if found.thin { "~" } else { " " };
    let ci = found.ci_ms.as_ref().map_or_else(String::new, interval);
    let relative = found.relative.map_or_else(String::new, |share| signed_relative(share).replace(" %", ""));
    vec![name, format!("{}{thin}", difference(found.difference_ms)), ci, relative]
}

const FEW: [&str; 4] = ["mean", "50", "95", "99"];
const ALL: [&str; 8] = ["mean", "50", "75", "90", "95", "99", "99.9", "99.99"];
const LABEL: usize = 24;
