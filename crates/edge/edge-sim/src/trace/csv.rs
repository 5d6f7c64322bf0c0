//! A table of requests: `time,key,size`, and optionally `city`, in seconds, any text, bytes, and a
//! city of the gazetteer.
//!
//! A header line may specify another order of the columns. Fields are not quoted, so keys cannot
//! contain commas.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use config_file::suggestion;
use tier_routing::KeyHash;

use super::{LONGEST_LINE, Written, line};
use crate::{Error, geography::number};

#[derive(Debug)]
pub(super) struct Csv<R> {
    input: R,
    path: PathBuf,
    buffer: Vec<u8>,
    line: u64,
    /// Of time, key, size and city.
    columns: [Option<usize>; 4],
    /// Set if the file has no header line.
    first: Option<Vec<u8>>,
}

impl<R: BufRead> Csv<R> {
    pub(super) fn new(mut input: R, path: &Path) -> Result<Self, Error> {
        let mut buffer = Vec::new();
        let first = line(&mut input, &mut buffer)
            .map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        let first = first.unwrap_or_default().to_vec();
        let mut csv = Self { input, path: path.to_owned(), buffer, line: 1, columns: [None; 4], first: None };
        let names: Vec<_> = first.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        // A request begins with a number.
        if names.first().is_none_or(|name| name.first().is_none_or(|byte| !byte.is_ascii_alphabetic())) {
            let has_city = names.len() > 3;
            csv.columns = [Some(0), Some(1), Some(2), has_city.then_some(3)];
            csv.first = Some(first);
            return Ok(csv);
        }
        for (at, name) in names.into_iter().enumerate() {
            let name = String::from_utf8_lossy(name);
            let Some(known) = NAMES.iter().position(|known| *known == name) else {
                let similar = suggestion(&name, NAMES);
                return Err(csv.wrong(format!("unknown column \"{name}\", expected {EXPECTED}{similar}")));
            };
            if csv.columns[known].replace(at).is_some() {
                return Err(csv.wrong(format!("the column \"{name}\" is there twice")));
            }
        }
        if let Some(missing) = (0..3).find(|&column| csv.columns[column].is_none()) {
            return Err(csv.wrong(format!("no column \"{}\", expected {EXPECTED}", NAMES[missing])));
        }
        Ok(csv)
    }

    pub(super) fn next(&mut self) -> Result<Option<Written>, Error> {
        if let Some(first) = self.first.take()
            && !first.is_empty()
        {
            return self.parse(&first).map(Some);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = loop {
            self.line += 1;
            match line(&mut self.input, &mut buffer) {
                Err(source) => break Err(Error::Unreadable { path: self.path.clone(), source }),
                Ok(None) => break Ok(None),
                Ok(Some([])) => {}
                Ok(Some(text)) => break self.is_short(text).and_then(|()| self.parse(text)).map(Some),
            }
        };
        self.buffer = buffer;
        result
    }

    fn parse(&self, text: &[u8]) -> Result<Written, Error> {
        let field = |column: usize| {
            let at = self.columns[column]?;
            text.split(|&byte| byte == b',').nth(at).map(<[u8]>::trim_ascii)
        };
        let needed = |column: usize| {
            field(column)
                .filter(|field| !field.is_empty())
                .ok_or_else(|| self.wrong(format!("no {}, expected {EXPECTED}", NAMES[column])))
        };
        let [time, key, size] = [needed(0)?, needed(1)?, needed(2)?];
        let said = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let seconds: Option<f64> = std::str::from_utf8(time).ok().and_then(|text| text.parse().ok());
        let at_ns = seconds.filter(|seconds| (0.0..=LATEST_S).contains(seconds)).ok_or_else(|| {
            self.wrong(format!("\"{}\" is not a time: expected seconds, such as 12.5", said(time)))
        })?;
        let bytes = std::str::from_utf8(size).ok().and_then(|text| text.parse().ok());
        let bytes = bytes.filter(|&bytes: &u64| bytes <= LARGEST).ok_or_else(|| {
            self.wrong(format!("\"{}\" is not a size: expected a whole number of bytes", said(size)))
        })?;
        let place = field(3).filter(|name| !name.is_empty());
        let place = place.map(|name| number(&said(name)).map_err(|error| self.wrong(error.to_string())));
        Ok(Written {
            at_ns: nanoseconds(at_ns),
            key: KeyHash::of(key).0,
            bytes,
            city: place.transpose()?,
            fresh_ns: None,
        })
    }

    fn is_short(&self, text: &[u8]) -> Result<(), Error> {
        if text.len() as u64 > LONGEST_LINE {
            return Err(self.wrong(format!("the line is longer than {LONGEST_LINE} bytes")));
        }
        Ok(())
    }

    pub(super) fn wrong(&self, what: String) -> Error {
        Error::Line { path: self.path.clone(), line: self.line, what }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to LATEST_S")]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

const NAMES: [&str; 4] = ["time", "key", "size", "city"];
const EXPECTED: &str = "time,key,size and perhaps city";
/// Covers seconds since 1970 up to the year 2286.
const LATEST_S: f64 = 1e10;
/// 1 PB, so that sums do not overflow.
const LARGEST: u64 = 1_000_000_000_000_000;
