//! Reads the native format: JSON lines, the first a header, the last an end, samples between them.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    EXPECTED, Frame, Input, Options, json,
    lines::{Line, Lines},
};
use crate::{End, Error, Event, Header, SCHEMA, Sample, Sink, error::counted};

pub(super) fn read(input: Input<'_>, _: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut reader = Reader::new(input.reader, input.path)?;
    while let Some(sample) = reader.next().transpose()? {
        sink.event(&Event { number: reader.lines.number(), sample: &sample, exact: &[] })?;
    }
    if reader.samples == 0 {
        let (place, found) = (reader.lines.place(2, 1), "there is a header, but no sample".to_owned());
        return Err(Error::Empty { place, found, expected: "at least one sample" });
    }
    Ok(Frame { header: Some(reader.header), end: reader.end, warnings: reader.warnings })
}

/// Iterates over the samples of a native recording in bounded memory; after an error it ends. A
/// truncated last line is omitted, and [`Reader::warnings`] reports that.
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    end: Option<End>,
    warnings: Vec<String>,
    samples: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Samples,
    /// Only blank lines may follow.
    Ended,
    Done,
}

/// Opens a native recording to go through its samples. [`crate::read_series`] reads every format.
///
/// # Errors
/// The file cannot be opened or read, or does not begin with a header of [`SCHEMA`].
pub fn open(path: &Path) -> Result<Reader<File>, Error> {
    let file = File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    Reader::new(file, path)
}

impl<R: Read> Reader<R> {
    /// Reads from `input`, without a buffer; `path` is for messages.
    ///
    /// # Errors
    /// The input's, or it does not begin with a header of [`SCHEMA`].
    pub fn new(input: R, path: impl Into<PathBuf>) -> Result<Self, Error> {
        let mut lines = Lines::new(input, path.into());
        let first = lines.next()?.map_or_else(Vec::new, |line| line.text.to_vec());
        let header = header(&first, &lines)?;
        let warnings = Vec::new();
        Ok(Self { lines, header, end: None, warnings, samples: 0, state: State::Samples })
    }

    /// The recording's first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The last line, once all samples have been read; absent if the recording was cut off.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Notes on the samples for the user, once all have been read.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn read(&mut self) -> Result<Option<Sample>, Error> {
        loop {
            let Some(line) = self.lines.next()? else {
                self.finish();
                return Ok(None);
            };
            if line.text.trim_ascii().is_empty() {
                continue;
            }
            let number = line.number;
            let expected = if self.state == State::Ended { NOTHING } else { ONE_SAMPLE };
            match parse(line) {
                _ if self.state == State::Ended => {
                    let place = self.lines.place(number, 1);
                    return Err(Error::Sample {
                        place,
                        problem: "a line after the end".to_owned(),
                        expected,
                    });
                }
                Ok(Parsed::Sample(sample)) => {
                    self.samples += 1;
                    return Ok(Some(*sample));
                }
                Ok(Parsed::End(end)) => {
                    self.end = Some(end);
                    self.state = State::Ended;
                }
                Ok(Parsed::Cut) => self.warnings.push(json::cut_off(number)),
                Err(error) => {
                    return Err(json::broken(&self.lines, number, &error, expected));
                }
            }
        }
    }

    fn finish(&mut self) {
        self.state = State::Done;
        let samples = self.samples;
        let Some(end) = &self.end else {
            let read = counted(samples, "sample");
            self.warnings.push(format!("The recording was cut off: it has no end line, only {read}."));
            return;
        };
        if end.interrupted {
            self.warnings
                .push("The recording was interrupted: there is less of it than was meant to be.".to_owned());
        }
        if end.samples != samples && end.samples != 0 {
            self.warnings.push(format!(
                "The end line counts {}; the file has {samples}.",
                counted(end.samples, "sample")
            ));
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Sample, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.state = State::Done;
        }
        read.transpose()
    }
}

enum Parsed {
    // A sample is 400 bytes, an end 80.
    Sample(Box<Sample>),
    End(End),
    /// Without the end of its JSON.
    Cut,
}

#[derive(Deserialize)]
struct EndLine {
    end: End,
}

fn parse(line: Line<'_>) -> Result<Parsed, serde_json::Error> {
    let parsed = if is_end(line.text) {
        serde_json::from_slice(line.text).map(|EndLine { end }| Parsed::End(end))
    } else {
        serde_json::from_slice(line.text).map(|sample| Parsed::Sample(Box::new(sample)))
    };
    match parsed {
        Err(error) if error.is_eof() && !line.terminated => Ok(Parsed::Cut),
        parsed => parsed,
    }
}

/// Whether the first key is "end", which is no field of a sample.
fn is_end(text: &[u8]) -> bool {
    let key = text.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    key.is_some_and(|key| key.starts_with(b"\"end\""))
}

fn header<R: Read>(first: &[u8], lines: &Lines<R>) -> Result<Header, Error> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let Ok(Schema { schema }) = serde_json::from_slice(first) else {
        let found = "the first line is not a header".to_owned();
        return Err(Error::NotARecording { place: lines.place(1, 1), found, expected: EXPECTED });
    };
    if schema != SCHEMA {
        return Err(Error::Schema { place: lines.place(1, 1), found: schema });
    }
    serde_json::from_slice(first).map_err(|error| Error::Sample {
        place: lines.place(1, error.column()),
        problem: json::problem(&error),
        expected: "a header of this schema",
    })
}

const ONE_SAMPLE: &str = "a sample, as one JSON object on one line";
const NOTHING: &str = "nothing more";

#[cfg(test)]
mod tests;
