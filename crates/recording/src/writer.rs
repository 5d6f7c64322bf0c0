//! Writes the native format: a header, a sample a line, an end.

use std::io::{self, Write};

use serde::Serialize;

use crate::{End, Error, Header, SCHEMA, Sample, lines::LONGEST_LINE};

/// Writes a recording while it is made. Each line is one write, so give it a [`std::io::BufWriter`], and flush it when
/// a reader shall see what there is. Dropping it without [`Writer::finish`] leaves a recording that says of itself that
/// it was cut off.
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
    /// Begins a recording with its header. The schema is always [`SCHEMA`], whatever the header says.
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
    /// The output's, or a sample of more than a mebibyte, which no reader would take.
    pub fn write(&mut self, sample: &Sample) -> Result<(), Error> {
        self.put(sample)
    }

    /// Hands on to the disk, or wherever, what has been written so far.
    ///
    /// # Errors
    /// The output's.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.output.flush().map_err(|source| Error::Write { line: self.written, source })
    }

    /// Ends the recording and gives the output back, flushed.
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

    /// One line, in one write.
    fn put(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let line = self.written + 1;
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)
            .map_err(|error| Error::Write { line, source: error.into() })?;
        if self.line.len() > LONGEST_LINE {
            let problem =
                format!("it takes {} bytes, and a line has at most {LONGEST_LINE}", self.line.len());
            return Err(Error::Write { line, source: io::Error::new(io::ErrorKind::InvalidInput, problem) });
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line).map_err(|source| Error::Write { line, source })?;
        self.written = line;
        Ok(())
    }
}
