//! Units of times in CSV: in a header, in each cell, or in a mapping.

use crate::{
    Metric, Unit,
    read::{
        Options,
        column_mapping::{ColumnMapping, Field},
        number,
    },
};

/// As the cells of the first row show. Their headers or mappings get a unit too.
pub(super) fn with_units<'f>(
    names: &mut [String],
    options: &mut Options,
    cells: impl Iterator<Item = (usize, &'f [u8])>,
    delimiter: u8,
) -> Vec<bool> {
    let mut has_units = vec![false; names.len()];
    for ((name, has_unit), (_, cell)) in names.iter_mut().zip(&mut has_units).zip(cells) {
        let cell = super::with_point(cell, delimiter);
        *has_unit = is_time(name, options) && number::with_unit(cell.trim_ascii()).is_some();
        if !*has_unit {
            continue;
        }
        match options.columns.iter_mut().find(|mapping| mapping.matches(name)) {
            Some(mapping) => mapping.unit = Some(Unit::Ms),
            None => name.push_str("_ms"),
        }
    }
    has_units
}

fn is_time(name: &str, options: &Options) -> bool {
    let mapping = options.columns.iter().find(|mapping| mapping.matches(name));
    match mapping {
        Some(mapping) => matches!(mapping.field, Field::Metric(_)) && unit_of(mapping, options).is_none(),
        None => Metric::from_name(name).is_some() && options.unit.is_none(),
    }
}

pub(super) fn unit_of(mapping: &ColumnMapping, options: &Options) -> Option<Unit> {
    mapping.unit.or_else(|| named_unit(&mapping.header).map(|(_, unit)| unit)).or(options.unit)
}

/// "latency_ms", "latency (ms)" or "latency [ms]", in lower case.
pub(super) fn named_unit(header: &str) -> Option<(&str, Unit)> {
    let in_brackets = || {
        let (stem, unit) = header.strip_suffix([')', ']'])?.rsplit_once(['(', '['])?;
        let unit = match unit.trim() {
            "nanoseconds" | "nsec" => Unit::Ns,
            "microseconds" | "usec" => Unit::Us,
            "milliseconds" | "msec" => Unit::Ms,
            "seconds" | "sec" => Unit::S,
            unit => unit.parse().ok()?,
        };
        Some((stem.trim_end(), unit))
    };
    Unit::of(header).or_else(in_brackets).filter(|(stem, _)| is_name(stem))
}

/// Not data or a sentence that happens to end like a unit, as in "en_us".
fn is_name(stem: &str) -> bool {
    !stem.starts_with(|letter: char| letter.is_ascii_digit()) && stem.split_whitespace().count() <= MOST_WORDS
}

const MOST_WORDS: usize = 5;
