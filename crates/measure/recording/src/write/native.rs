//! Writes the native format: a header, a sample a line, an end.

use std::io::{self, Write};

use serde::Serialize;

use super::{Lost, Output, Recorder, Target, Written, refuse_counts};
use crate::{Counts, End, Error, Event, Header, Metric, SCHEMA, Sample, Sink, read::LONGEST_LINE};

/// Writes a recording while it is made. Each line is one write, so give it a
/// [`std::io::BufWriter`]. Dropped without [`Writer::finish`], it leaves a truncated recording.
///
/// ```
/// use recording::{End, Header, Sample, Writer};
///
/// let mut writer = Writer::new(Vec::new(), &Header::default())?;
/// writer.write(&Sample { latency_ns: Some(12_700_000), ..Sample::default() })?;
/// let written = writer.finish(&End { samples: 1, ..End::default() })?;
/// let text = String::from_utf8(written).expect("JSON is UTF-8");
/// assert_eq!(text.lines().nth(1), Some(r#"{"latency_ns":12700000}"#));
/// # Ok::<(), recording::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    line: Vec<u8>,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a recording with its header. The schema is always [`SCHEMA`].
    ///
    /// # Errors
    /// The output's, or a header of more than a mebibyte.
    pub fn new(output: W, header: &Header) -> Result<Self, Error> {
        let mut writer = Self { output, line: Vec::new(), written: 0 };
        writer.put(&Header { schema: SCHEMA.to_owned(), ..header.clone() })?;
        Ok(writer)
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// The output's, or a sample of more than a mebibyte.
    pub fn write(&mut self, sample: &Sample) -> Result<(), Error> {
        self.put(sample)
    }

    /// Flushes everything written so far.
    ///
    /// # Errors
    /// The output's.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.output.flush().map_err(|source| Error::Write { path: None, line: self.written, source })
    }

    /// Ends the recording and returns the flushed output.
    ///
    /// # Errors
    /// The output's, or an end of more than a mebibyte.
    pub fn finish(mut self, end: &End) -> Result<W, Error> {
        #[derive(Serialize)]
        struct EndLine<'e> {
            end: &'e End,
        }
        self.put(&EndLine { end })?;
        self.flush()?;
        Ok(self.output)
    }

    /// Leaves a recording without an end.
    pub(crate) fn into_inner(self) -> W {
        self.output
    }

    fn put(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let line = self.written + 1;
        self.line.clear();
        serde_json::to_writer(&mut self.line, value).map_err(|error| Error::Write {
            path: None,
            line,
            source: error.into(),
        })?;
        if self.line.len() > LONGEST_LINE {
            let problem =
                format!("it takes {} bytes, and a line has at most {LONGEST_LINE}", self.line.len());
            return Err(Error::Write {
                path: None,
                line,
                source: io::Error::new(io::ErrorKind::InvalidInput, problem),
            });
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line).map_err(|source| Error::Write { path: None, line, source })?;
        self.written = line;
        Ok(())
    }
}

/// In the metric's own field if that can hold it and decides, or in addition.
fn state(sample: &mut Sample, metric: Metric, ns: u64) {
    let has_room = sample.get(metric).is_none() && sample.set(metric, Some(ns));
    if !has_room || sample.get(metric) != Some(ns) {
        sample.stated_ns.insert(metric, ns);
    }
}

pub(super) struct Native {
    state: State,
    samples: u64,
    failed: u64,
    lost: Lost,
}

enum State {
    New(Output),
    Begun(Writer<Output>),
    /// A header that could not be written.
    Broken,
}

impl Native {
    pub(super) fn new(output: Output) -> Self {
        Self { state: State::New(output), samples: 0, failed: 0, lost: Lost::default() }
    }

    /// Writes an empty header first if there is none yet.
    fn writer(&mut self) -> Result<&mut Writer<Output>, Error> {
        if let State::New(_) = self.state {
            self.begin(&Header::default())?;
        }
        match &mut self.state {
            State::Begun(writer) => Ok(writer),
            State::New(_) | State::Broken => {
                Err(Error::Write { path: None, line: 1, source: io::ErrorKind::BrokenPipe.into() })
            }
        }
    }
}

impl Sink for Native {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.samples += 1;
        self.failed += u64::from(event.sample.error.is_some());
        let mut own = None;
        if event.sample.error.is_none() {
            for &(metric, milliseconds) in event.exact {
                let ns = self.lost.round(milliseconds, 1);
                if event.sample.get(metric) != Some(ns) {
                    state(own.get_or_insert_with(|| event.sample.clone()), metric, ns);
                }
            }
        }
        self.writer()?.write(own.as_ref().unwrap_or(event.sample))
    }

    fn counts(&mut self, _: &Counts) -> Result<(), Error> {
        Err(refuse_counts(Target::Native, self.samples + 2))
    }
}

impl Recorder for Native {
    fn begin(&mut self, header: &Header) -> Result<(), Error> {
        if let State::New(output) = std::mem::replace(&mut self.state, State::Broken) {
            self.state = State::Begun(Writer::new(output, header)?);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, end: &End) -> Result<Written, Error> {
        self.writer()?;
        let State::Begun(writer) = self.state else { return Ok(Written::default()) };
        let end = End { samples: self.samples, failed: self.failed, ..end.clone() };
        let output = writer.finish(&end)?;
        output.finish(self.samples + 2)?;
        Ok(Written { samples: self.samples, without_metric: 0, lost: self.lost.sentences() })
    }
}
