//! k6's CSV: `metric_name,timestamp,metric_value`, a column for each of k6's own tags, and all
//! others in `extra_tags` and `metadata` as "a=b&c=d". Times are whole seconds by default
//! (`K6_CSV_TIME_FORMAT`).

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{Data, Fingerprint, Request, part};
use crate::{
    Error, Sink,
    read::{
        Frame, Input, Options,
        csv::{A_CLOSING_QUOTE, Cells, UNCLOSED},
        json::{self, Moment},
        lines::{Line, Lines},
        rfc3339,
    },
};

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let header = match lines.next()? {
        Some(header) => Cells::of(header.text, b',').map(|cells| cells.texts).unwrap_or_default(),
        None => Vec::new(),
    };
    let (mut request, mut warnings, mut is_by_the_second) = (Request::default(), Vec::new(), false);
    while let Some(line) = lines.next()? {
        if line.text.is_empty() {
            continue;
        }
        let Line { number, terminated, .. } = line;
        match row(line.text, header.len()) {
            Ok(None) => {}
            Ok(Some(row)) => {
                is_by_the_second |= row.is_by_the_second;
                if !request.belongs(row.part, &row.data) {
                    request.hand_over(sink)?;
                    request.begin(number, &row.data, &row.tags(&header), &options.labels);
                }
                request.parts[row.part] = row.data.value;
            }
            Err(_) if !terminated && number > 2 => warnings.push(json::cut_off(number)),
            Err(Wrong::Count(found, column)) => {
                let place = lines.place(number, column);
                return Err(Error::Columns { place, found, expected: header.len() });
            }
            Err(Wrong::Cell { column, found, expected }) => {
                return Err(Error::Number { place: lines.place(number, column), found, expected });
            }
        }
    }
    request.hand_over(sink)?;
    if is_by_the_second {
        warnings.push(BY_THE_SECOND.to_owned());
    }
    Ok(Frame { warnings, ..Frame::default() })
}

struct Row {
    part: usize,
    data: Data,
    cells: Vec<String>,
    is_by_the_second: bool,
}

/// Columns count from 1.
enum Wrong {
    Count(usize, usize),
    Cell { column: usize, found: String, expected: &'static str },
}

/// `None` for a point that is not of a request.
fn row(text: &[u8], columns: usize) -> Result<Option<Row>, Wrong> {
    let metric = text.split(|&byte| byte == b',').next().unwrap_or(text);
    let Some(part) = std::str::from_utf8(metric).ok().and_then(part) else { return Ok(None) };
    let Cells { texts: cells, places } = Cells::of(text, b',').map_err(|at| Wrong::Cell {
        column: at + 1,
        found: UNCLOSED.to_owned(),
        expected: A_CLOSING_QUOTE,
    })?;
    if cells.len() != columns || columns < 3 {
        let column = places.get(columns).map_or(text.len(), |&at| at) + 1;
        return Err(Wrong::Count(cells.len(), column));
    }
    let wrong = |index: usize, expected| {
        let short: String = cells[index].chars().take(SHOWN).collect();
        Wrong::Cell { column: places[index] + 1, found: format!("{short:?}"), expected }
    };
    let (time, is_by_the_second) = instant(&cells[1]).ok_or_else(|| wrong(1, A_TIME))?;
    let value: Option<f64> = cells[2].parse().ok().filter(|value: &f64| value.is_finite());
    let value = Some(value.ok_or_else(|| wrong(2, "a number of milliseconds"))?);
    let data = Data { time: Some(Moment(time)), value, tags: fingerprint(&cells[3..]) };
    Ok(Some(Row { part, data, cells, is_by_the_second }))
}

impl Row {
    fn tags(&self, header: &[String]) -> BTreeMap<String, String> {
        let mut tags = BTreeMap::new();
        for (name, text) in header.iter().zip(&self.cells).skip(3) {
            if matches!(name.as_str(), "extra_tags" | "metadata") {
                let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
                tags.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            } else if !text.is_empty() {
                tags.insert(name.clone(), text.clone());
            }
        }
        tags
    }
}

/// Tags in a shared column have no fixed order.
fn fingerprint(cells: &[String]) -> Fingerprint {
    let hash = |column: usize, text: &str| {
        let mut hasher = DefaultHasher::new();
        (column, text).hash(&mut hasher);
        hasher.finish()
    };
    let parts =
        cells.iter().enumerate().flat_map(|(column, text)| text.split('&').map(move |part| (column, part)));
    Fingerprint(parts.fold(0, |sum, (column, part)| sum.wrapping_add(hash(column, part))))
}

/// Nanoseconds since 1970, and whether the text is precise only to the second. The magnitude of a
/// whole number determines its unit.
fn instant(text: &str) -> Option<(u64, bool)> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return rfc3339(text).map(|ns| (ns, !text.contains('.')));
    }
    let number: u64 = text.parse().ok()?;
    let scale = match text.len() {
        0..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    };
    Some((number.checked_mul(scale)?, scale == 1_000_000_000))
}

const A_TIME: &str = "a time, in seconds, ms, us or ns since 1970 or such as 2025-03-14T09:26:53Z";

const BY_THE_SECOND: &str = "k6's CSV has times in whole seconds; percentiles over time cannot be finer. \
                             K6_CSV_TIME_FORMAT=unix_micro makes k6 write it in full.";

const SHOWN: usize = 40;
