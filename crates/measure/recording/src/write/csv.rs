//! Writes CSV, and the same with tabs: a column for everything that any sample has.
//!
//! The columns are known only when all samples are. So rows go to a second file first, and are
//! copied after the header row at the end. That file has no name: it vanishes with the writing
//! process.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Seek, Write},
    path::Path,
};

use super::{Lost, OWN_ERRORS, Output, Recorder, Target, Written, output, refuse_counts};
use crate::{Counts, End, Error, Event, Header, Metric, Sample, Sink, Unit};

pub(super) struct Csv {
    output: Output,
    delimiter: u8,
    rows: BufWriter<File>,
    columns: Columns,
    cells: Vec<String>,
    line: String,
    samples: u64,
    widths: Vec<(u64, usize)>,
    lost: Lost,
}

impl Csv {
    pub(super) fn new(output: Output, delimiter: u8, path: &Path) -> Result<Self, Error> {
        let rows = nameless(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        Ok(Self {
            output,
            delimiter,
            rows: BufWriter::with_capacity(BUFFER, rows),
            columns: Columns::default(),
            cells: Vec::new(),
            line: String::new(),
            samples: 0,
            widths: Vec::new(),
            lost: Lost::default(),
        })
    }

    fn put(&mut self, column: Column, value: String) {
        let index = self.columns.index(column);
        if index >= self.cells.len() {
            self.cells.resize(index + 1, String::new());
        }
        self.cells[index] = value;
    }

    fn take(&mut self, event: &Event<'_>) {
        let sample = event.sample;
        if let Some(ns) = sample.started_ns {
            self.put(Column::Started, decimal(ns, 9));
        }
        if let Some(ns) = sample.intended_ns {
            self.put(Column::Intended, decimal(ns, 9));
        }
        for metric in Metric::ALL {
            let exact = event.exact.iter().find(|(named, _)| *named == metric);
            let value = exact
                .map(|(_, ms)| ms.to_string())
                .or_else(|| written(sample, metric).map(|ns| decimal(ns, 6)));
            if let Some(value) = value {
                self.put(Column::Metric(metric), value);
            }
        }
        if let Some(status) = sample.status {
            self.put(Column::Status, status.to_string());
        }
        if let Some(bytes) = sample.body_bytes {
            self.put(Column::Bytes, bytes.to_string());
        }
        if let Some(reused) = sample.label("reused") {
            self.put(Column::Reused, reused.into_owned());
        }
        if let Some(page) = sample.page {
            self.put(Column::Page, page.to_string());
        }
        if let Some(error) = &sample.error {
            // A failed sample must not look like a successful one.
            self.put(
                Column::Error,
                if error.trim().is_empty() { "failed".to_owned() } else { error.clone() },
            );
        }
        for name in ["remote", "family", "fallback", "cache", "tier", "zone"] {
            if let Some(value) = sample.label(name) {
                self.put(Column::Label(name.to_owned()), value.into_owned());
            }
        }
        for (name, value) in &sample.labels {
            self.put(Column::Label(name.clone()), value.clone());
        }
    }

    fn note_lost(&mut self, sample: &Sample) {
        if sample.final_headers_ns.or(sample.first_body_byte_ns).is_some() {
            self.lost.note("Moments within the response");
        }
        if sample.bytes_out.is_some() {
            self.lost.note("Bytes that connections took");
        }
        if sample.server_timing.is_some() {
            self.lost.note("Server-Timing headers");
        }
        if sample.chain.is_some() {
            self.lost.note("Redirect chains");
        }
        if sample.own_error_ns.is_some() {
            self.lost.note(OWN_ERRORS);
        }
    }

    fn write_row(&mut self) -> io::Result<()> {
        self.line.clear();
        for (index, cell) in self.cells.iter().enumerate() {
            if index > 0 {
                self.line.push(char::from(self.delimiter));
            }
            push_quoted(&mut self.line, cell, self.delimiter);
        }
        self.line.push('\n');
        self.rows.write_all(self.line.as_bytes())
    }

    fn copy(&mut self) -> io::Result<()> {
        if self.columns.names.is_empty() {
            self.columns.index(Column::Metric(Metric::Latency));
        }
        self.line.clear();
        for (index, name) in self.columns.names.iter().enumerate() {
            if index > 0 {
                self.line.push(char::from(self.delimiter));
            }
            push_quoted(&mut self.line, name, self.delimiter);
        }
        self.line.push('\n');
        self.output.write_all(self.line.as_bytes())?;
        self.rows.flush()?;
        let mut file = self.rows.get_ref();
        file.rewind()?;
        let mut rows = BufReader::with_capacity(BUFFER, file);
        let (mut row, mut number) = (Vec::new(), 0);
        let width = self.columns.names.len();
        let mut widths = self.widths.iter().peekable();
        let mut present = 0;
        while rows.read_until(b'\n', &mut row)? > 0 {
            while let Some((_, wider)) = widths.next_if(|(from, _)| *from <= number) {
                present = *wider;
            }
            row.pop();
            // A row of one column without a value would be an empty line.
            if row.is_empty() && width == 1 {
                row.extend(b"\"\"");
            }
            row.extend(std::iter::repeat_n(self.delimiter, width - present.max(1)));
            row.push(b'\n');
            self.output.write_all(&row)?;
            row.clear();
            number += 1;
        }
        Ok(())
    }
}

impl Sink for Csv {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.cells.resize(self.columns.names.len(), String::new());
        self.cells.iter_mut().for_each(String::clear);
        self.take(event);
        self.note_lost(event.sample);
        if self.widths.last().is_none_or(|(_, width)| *width < self.cells.len()) {
            self.widths.push((self.samples, self.cells.len()));
        }
        self.samples += 1;
        self.write_row().map_err(|source| Error::Write { path: None, line: self.samples + 1, source })
    }

    fn counts(&mut self, _: &Counts) -> Result<(), Error> {
        let target = if self.delimiter == b'\t' { Target::Tsv } else { Target::Csv };
        Err(refuse_counts(target, self.samples + 2))
    }
}

impl Recorder for Csv {
    fn begin(&mut self, header: &Header) -> Result<(), Error> {
        let conditions = header.label.is_some() || header.start.is_some() || !header.conditions.is_empty();
        if conditions {
            self.lost.say("The header is left out: label, start and conditions.".to_owned());
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &End) -> Result<Written, Error> {
        let lines = self.samples + 1;
        self.copy().map_err(|source| Error::Write { path: None, line: lines, source })?;
        self.output.finish(lines)?;
        Ok(Written { samples: self.samples, without_metric: 0, lost: self.lost.sentences() })
    }
}

/// In the order in which samples first had them.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    known: HashMap<Column, usize>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Column {
    Started,
    Intended,
    Metric(Metric),
    Status,
    Bytes,
    Reused,
    Page,
    Error,
    Label(String),
}

impl Columns {
    fn index(&mut self, column: Column) -> usize {
        if let Some(&index) = self.known.get(&column) {
            return index;
        }
        let index = self.names.len();
        self.names.push(match &column {
            Column::Started => "started_s".to_owned(),
            Column::Intended => "intended_s".to_owned(),
            Column::Metric(metric) => format!("{metric}_ms"),
            Column::Status => "status".to_owned(),
            Column::Bytes => "body_bytes".to_owned(),
            Column::Reused => "reused".to_owned(),
            Column::Page => "page".to_owned(),
            Column::Error => "error".to_owned(),
            Column::Label(name) if is_taken(name) => format!("label_{name}"),
            Column::Label(name) => name.clone(),
        });
        self.known.insert(column, index);
        index
    }
}

fn is_taken(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let is_timed = |(stem, _): (&str, Unit)| {
        Metric::from_name(stem).is_some() || ["started", "intended"].contains(&stem)
    };
    ["status", "body_bytes", "reused", "page", "error", ""].contains(&name.as_str())
        || Metric::from_name(&name).is_some()
        || Unit::of(&name).is_some_and(is_timed)
}

/// Also for a failed sample: values that a reader could not compute from the other columns.
fn written(sample: &Sample, metric: Metric) -> Option<u64> {
    if let Some(&stated) = sample.stated_ns.get(&metric) {
        return Some(stated);
    }
    match metric {
        Metric::Latency => sample.latency_ns,
        Metric::Dns
        | Metric::Connect
        | Metric::Tls
        | Metric::Quic
        | Metric::Send
        | Metric::Wait
        | Metric::Load => sample.phase(metric),
        Metric::FirstInterim => sample.first_interim_ns,
        // Ignored by the reader if there is a wait.
        Metric::Ttfb => sample.ttfb_ns.filter(|_| sample.wait_ns.is_none()),
        Metric::Total => sample.last_byte_ns,
        Metric::TtfbWithoutDns | Metric::Response => None,
    }
}

/// `value / 10^places` in full.
fn decimal(value: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let (whole, part) = (value / unit, value % unit);
    if part == 0 {
        return whole.to_string();
    }
    let part = format!("{part:0width$}", width = places as usize);
    format!("{whole}.{}", part.trim_end_matches('0'))
}

/// Line ends become blanks, and so does NUL, which no text has.
fn push_quoted(line: &mut String, cell: &str, delimiter: u8) {
    let delimiter = char::from(delimiter);
    let is_special = |c: char| c == delimiter || matches!(c, '"' | '\n' | '\r' | '\t' | ';' | ',' | '\0');
    if !cell.contains(is_special) {
        line.push_str(cell);
        return;
    }
    line.push('"');
    for c in cell.chars() {
        match c {
            '"' => line.push_str("\"\""),
            '\n' | '\r' | '\t' | '\0' => line.push(' '),
            c => line.push(c),
        }
    }
    line.push('"');
}

/// In the folder of `path`; for destinations without a writable folder, such as devices, in the
/// temporary folder.
fn nameless(path: &Path) -> io::Result<File> {
    let is_device = fs::metadata(path).is_ok_and(|present| !present.is_file());
    let path = if is_device { std::env::temp_dir().join("longhaul") } else { path.to_owned() };
    let name = output::beside(&path, output::ROWS)?;
    let file = output::create_private(&name)?;
    fs::remove_file(&name)?;
    Ok(file)
}

/// System calls do not count from here on.
const BUFFER: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (value, places, text) in
            [(0, 6, "0"), (12_700_000, 6, "12.7"), (1, 6, "0.000001"), (1_000_000_001, 9, "1.000000001")]
        {
            assert_eq!(decimal(value, places), text);
        }
        assert_eq!(decimal(u64::MAX, 9), "18446744073.709551615");
    }

    #[test]
    fn cells_stay_cells() {
        let quoted = |cell: &str| {
            let mut line = String::new();
            push_quoted(&mut line, cell, b',');
            line
        };
        assert_eq!(quoted("Oslo"), "Oslo");
        assert_eq!(quoted("a, \"b\"\nc"), "\"a, \"\"b\"\" c\"");
    }

    #[test]
    fn names_that_mean_something_else() {
        for name in ["latency_ms", "Status", "page", "wait_us", "started_s", "ttfb", ""] {
            assert!(is_taken(name), "{name}");
        }
        for name in ["city", "size_ms", "http version"] {
            assert!(!is_taken(name), "{name}");
        }
    }
}
