//! Results as XML: `<httpSample t="12" ts="1741944413000" s="true" rc="200" …>` within
//! `<testResults>`. Samples within a sample are its parts, and its time includes them. Those within
//! a transaction are independent.

use std::io::{self, BufReader, Read};

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::{Field, NAMES, Samples, Written, Wrong};
use crate::{
    Error, Place, Sink,
    read::{Frame, Input, LONGEST_LINE, Options, json},
};

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let mut reader = Reader::from_reader(BufReader::new(Bounded { input: input.reader, without_tag: 0 }));
    let place = |line: u64| Place { path: input.path.clone(), line, column: 1 };
    let (mut samples, mut warnings) = (Samples::new(sink, &options.labels), Vec::new());
    let (mut line, mut buffer) = (1, Vec::new());
    let (mut open, mut is_complete) = (Vec::<Open>::new(), false);
    // Plugins write other elements than samples.
    let mut other = None::<String>;
    // The line of its tag, and the field that the current element holds.
    let (mut written, mut number, mut inside) = (Written::default(), 0, None);
    loop {
        buffer.clear();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(source)) => {
                let source = io::Error::new(source.kind(), source.to_string());
                return Err(Error::Read { place: place(line), source });
            }
            // The file ends within a tag.
            Err(quick_xml::Error::Syntax(_)) => Event::Eof,
            Err(error) => {
                return Err(Error::Sample {
                    place: place(line),
                    problem: error.to_string(),
                    expected: EXPECTED,
                });
            }
        };
        let at = line;
        line += memchr::memchr_iter(b'\n', event.as_bytes()).count() as u64;
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(tag) | Event::Empty(tag) if is_sample(&tag) => {
                let of_tag = attributes(&tag).map_err(|problem| Error::Sample {
                    place: place(at),
                    problem,
                    expected: EXPECTED,
                })?;
                let stands_alone = open.iter().all(|outer| *outer == Open::Sum);
                let opened = if !stands_alone {
                    Open::Part
                } else if of_tag.is_sum() {
                    Open::Sum
                } else {
                    Open::Taken
                };
                if opened != Open::Part {
                    (written, number) = (of_tag, at);
                }
                if opened == Open::Sum || (opened == Open::Taken && is_empty) {
                    take(&mut samples, &written, place(number))?;
                }
                if !is_empty {
                    open.push(opened);
                }
                if open.len() > MOST_NESTED {
                    let problem = format!("{MOST_NESTED} samples within one another");
                    return Err(Error::Sample { place: place(at), problem, expected: EXPECTED });
                }
            }
            Event::Start(tag) if open.last() == Some(&Open::Taken) => {
                inside = match tag.name().as_ref() {
                    "failureMessage" => Some(Field::Failure),
                    "java.net.URL" => Some(Field::Url),
                    _ => None,
                };
            }
            Event::Start(tag)
                if open.is_empty() && other.is_none() && tag.name().as_ref() != "testResults" =>
            {
                other = Some(tag.name().as_ref().to_owned());
            }
            Event::Text(text) => {
                if let Some(field) = inside {
                    written.set(field, text.xml10_content().into_owned());
                }
            }
            Event::End(tag) if is_name_of_sample(tag.name().as_ref()) => {
                inside = None;
                if open.pop() == Some(Open::Taken) {
                    take(&mut samples, &written, place(number))?;
                }
            }
            Event::End(tag) => {
                inside = None;
                is_complete |= tag.name().as_ref() == "testResults";
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if !is_complete {
        warnings.push(json::cut_off(line));
    }
    if let (Some(tag), true) = (other, samples.is_empty()) {
        let found = format!("this is JMeter's XML without samples of requests, and with <{tag}> elements");
        return Err(Error::Empty { place: place(1), found, expected: EXPECTED });
    }
    samples.finish(warnings, || place(1))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Taken,
    /// It sums up those within it, which count.
    Sum,
    /// Its time is within that of an outer sample, which counts.
    Part,
}

fn take(samples: &mut Samples<'_>, written: &Written, place: Place) -> Result<(), Error> {
    samples.take(place.line, written)?.map_err(|Wrong { field, found, expected }| {
        let attribute = NAMES[field as usize].2;
        Error::Number { place, found: format!("{attribute}={found}"), expected }
    })
}

fn is_sample(tag: &BytesStart<'_>) -> bool {
    is_name_of_sample(tag.name().as_ref())
}

fn is_name_of_sample(name: &str) -> bool {
    matches!(name, "httpSample" | "sample")
}

fn attributes(tag: &BytesStart<'_>) -> Result<Written, String> {
    let mut written = Written::default();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let key = attribute.key.as_ref();
        if let Some((field, ..)) = NAMES.iter().find(|(_, _, name)| !name.is_empty() && **name == *key) {
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            written.set(*field, value.into_owned());
        }
    }
    Ok(written)
}

/// Limits the text between two tags, which is held in memory, to the length of a line.
struct Bounded<'i> {
    input: Box<dyn Read + 'i>,
    without_tag: usize,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.without_tag = match memchr::memrchr2(b'<', b'>', &buffer[..read]) {
            Some(at) => read - at,
            None => self.without_tag + read,
        };
        if self.without_tag > LONGEST_LINE {
            let problem = format!("a tag or a text is longer than {LONGEST_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(read)
    }
}

const MOST_NESTED: usize = 1000;

const EXPECTED: &str =
    "JMeter's results as XML: httpSample and sample elements with the attributes t, ts, s and rc";
