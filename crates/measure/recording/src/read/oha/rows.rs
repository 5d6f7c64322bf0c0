//! oha's CSV, in seconds, without requests that got no response.
//!
//! `DNS+dialup` ends with all handshakes: TCP and TLS are not separate, so neither is read.
//! `Response-delay` ends with the first byte of the body, and is 0 without a body; older versions
//! have no such column. `request-duration` counts from the scheduled start with
//! `--latency-correction`, which the file does not contain: so it is the latency, and there is no
//! total.

use crate::{
    Error, Event, Sample, Sink, Unit,
    read::{Frame, Input, json, json::length, lines::Lines},
};

pub(super) fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let columns = match lines.next()? {
        Some(header) if header.text.split(|&byte| byte == b',').any(|name| name == b"Response-delay") => {
            COLUMNS
        }
        _ => COLUMNS - 1,
    };
    let mut sample = Sample::default();
    let mut warnings =
        vec!["oha's CSV leaves out requests that got no answer: failures are not counted.".to_owned()];
    while let Some(line) = lines.next()? {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        let (number, terminated) = (line.number, line.terminated);
        match row(line.text, columns) {
            // A status has three digits: with fewer it was cut off, and with it the row.
            Ok(row) if terminated || row.is_whole() => {
                row.fill(&mut sample);
                sink.event(&Event { number, sample: &sample, exact: &[] })?;
            }
            _ if !terminated => warnings.push(json::cut_off(number)),
            Ok(_) => {}
            Err(Wrong::Count(found, column)) => {
                let place = lines.place(number, column);
                return Err(Error::Columns { place, found, expected: columns });
            }
            Err(Wrong::Field { column, found, expected }) => {
                return Err(Error::Number { place: lines.place(number, column), found, expected });
            }
        }
    }
    Ok(Frame { warnings, ..Frame::default() })
}

/// Times in nanoseconds.
struct Row {
    start: u64,
    dns: u64,
    dialup: u64,
    /// 0 if the file does not contain it.
    first_byte: u64,
    duration: u64,
    bytes: u64,
    status: u16,
}

/// Columns count from 1.
enum Wrong {
    Count(usize, usize),
    Field { column: usize, found: String, expected: &'static str },
}

fn row(text: &[u8], columns: usize) -> Result<Row, Wrong> {
    let mut fields = [(0, ""); COLUMNS];
    let (mut at, mut count) = (0, 0);
    for field in text.split(|&byte| byte == b',') {
        if count == columns {
            return Err(Wrong::Count(text.split(|&byte| byte == b',').count(), at + 1));
        }
        // Bytes that are not text are not a number either.
        fields[count] = (at + 1, std::str::from_utf8(field).unwrap_or("?"));
        (at, count) = (at + field.len() + 1, count + 1);
    }
    if count < columns {
        return Err(Wrong::Count(count, text.len() + 1));
    }
    let wrong = |(column, field): (usize, &str), expected| {
        let short: String = field.chars().take(SHOWN).collect();
        Wrong::Field { column, found: format!("{short:?}"), expected }
    };
    let seconds = |index: usize| {
        let (_, field): (usize, &str) = fields[index];
        let nanos = field.trim().parse().ok().and_then(|value: f64| length(Unit::S, value));
        nanos.ok_or_else(|| wrong(fields[index], Unit::S.expected()))
    };
    let (bytes, status) = (fields[columns - 2], fields[columns - 1]);
    Ok(Row {
        start: seconds(0)?,
        dns: seconds(1)?,
        dialup: seconds(2)?,
        first_byte: if columns == COLUMNS { seconds(3)? } else { 0 },
        duration: seconds(columns - 3)?,
        bytes: bytes.1.trim().parse().map_err(|_| wrong(bytes, "a number of bytes"))?,
        status: status.1.trim().parse().map_err(|_| wrong(status, "an HTTP status"))?,
    })
}

impl Row {
    fn is_whole(&self) -> bool {
        self.status >= 100
    }

    fn fill(&self, sample: &mut Sample) {
        let happened = |nanos: u64| (nanos > 0).then_some(nanos);
        sample.started_ns = Some(self.start);
        sample.latency_ns = Some(self.duration);
        sample.dns_ns = happened(self.dns);
        sample.ttfb_ns = happened(self.first_byte);
        sample.first_body_byte_ns = happened(self.first_byte);
        sample.reused = Some(self.dialup == 0);
        sample.status = Some(self.status).filter(|&status| status > 0);
        sample.body_bytes = Some(self.bytes);
    }
}

/// With `Response-delay`, which oha before 1.9 did not write.
const COLUMNS: usize = 7;

const SHOWN: usize = 40;
