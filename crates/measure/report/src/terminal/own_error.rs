//! How much of the figures is the emulator's own doing.

use super::table::table;
use crate::{
    model::{Comparison, OwnError, Side},
    text::{label, latency},
};

pub(super) fn own_error(comparison: &Comparison) -> String {
    let known: Vec<(&Side, &OwnError)> =
        comparison.sides.iter().filter_map(|side| Some((side, side.own_error_ms.as_ref()?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let is_page = comparison.page.effective_requests > 1;
    let row = |(side, error): &(&Side, &OwnError)| {
        let mut row = vec![label(&side.label, LABEL), latency(error.expected_request)];
        row.extend(is_page.then(|| latency(error.expected_experienced)));
        let percentile =
            |name: &&str| error.request_percentiles.get(*name).map_or_else(String::new, |ms| latency(*ms));
        row.extend(SHOWN.iter().map(percentile));
        row.push(latency(error.max));
        row
    };
    let mut header = vec!["emulator's own, at most".to_owned(), "request".to_owned()];
    header.extend(is_page.then(|| "experienced".to_owned()));
    header.extend(SHOWN.iter().map(|name| format!("p{name}")));
    header.push("max".to_owned());
    table(header, known.iter().map(row))
}

/// Those that most claims are about.
const SHOWN: [&str; 4] = ["50", "90", "99", "99.9"];

const LABEL: usize = 23;
