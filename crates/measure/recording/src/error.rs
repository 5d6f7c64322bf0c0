//! Errors in a recording, and where they are.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A position in a file: "path:line:column". Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or its substitute.
    pub path: PathBuf,
    /// The line.
    pub line: u64,
    /// The column, in bytes.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// A recording that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Reading failed half-way.
    #[error("{place}: cannot read on")]
    Read {
        /// The line that was being read.
        place: Place,
        /// Why not.
        source: io::Error,
    },
    /// Writing failed.
    #[error("cannot write line {line} of {}", written(path.as_deref()))]
    Write {
        /// The file; `None` for a destination without a name.
        path: Option<PathBuf>,
        /// The line that was being written, from 1.
        line: u64,
        /// Why not.
        source: io::Error,
    },
    /// The output would replace an input.
    #[error(
        "{} is not written: it is the input {}, which would be lost; write to another name",
        output.display(),
        input.display()
    )]
    WouldReplace {
        /// The input.
        input: PathBuf,
        /// The output, possibly another name of the same file.
        output: PathBuf,
    },
    /// The caller stopped the operation.
    #[error("stopped: {} is not written", path.display())]
    Stopped {
        /// The file being written.
        path: PathBuf,
    },
    /// There are no samples, or none with a value.
    #[error("{place}: {found}; expected {expected}")]
    Empty {
        /// The expected position of the samples.
        place: Place,
        /// The content found.
        found: String,
        /// The expected content.
        expected: &'static str,
    },
    /// The file is something else.
    #[error("{place}: {found}; expected {expected}")]
    NotARecording {
        /// The position that shows it.
        place: Place,
        /// The suspected format.
        found: String,
        /// The expected content.
        expected: &'static str,
    },
    /// A schema that this version does not read.
    #[error(
        "{place}: the schema is \"{found}\"; expected \"{}\", the only schema that this version reads",
        crate::SCHEMA
    )]
    Schema {
        /// The header line.
        place: Place,
        /// The schema in it.
        found: String,
    },
    /// A byte that is not valid in text.
    #[error("{place}: the byte 0x{byte:02x} is not text; expected UTF-8 without NUL")]
    NotText {
        /// Where it is.
        place: Place,
        /// The byte.
        byte: u8,
    },
    /// A line longer than any in a recording.
    #[error("{place}: the line is longer than {limit} bytes; expected a line end before that")]
    LineTooLong {
        /// The end of the data read.
        place: Place,
        /// The maximum length of a line.
        limit: usize,
    },
    /// Not a number, or a number that cannot be a time.
    #[error("{place}: found {found}; expected {expected}")]
    Number {
        /// Where the field begins.
        place: Place,
        /// The text found, quoted.
        found: String,
        /// The expected value, with its unit.
        expected: &'static str,
    },
    /// A row with more or fewer columns than the first.
    #[error("{place}: found {}; expected {expected}, as in the first row", counted(*found as u64, "column"))]
    Columns {
        /// The end of the row, or its first surplus field.
        place: Place,
        /// The number of its columns.
        found: usize,
        /// The number of columns of the first row.
        expected: usize,
    },
    /// A line of a native recording that is not a sample.
    #[error("{place}: {problem}; expected {expected}")]
    Sample {
        /// The position of the error.
        place: Place,
        /// The JSON reader's message.
        problem: String,
        /// The expected content.
        expected: &'static str,
    },
    /// A part of the time that the recording does not contain or that is unknown.
    #[error("{label}: {problem}; expected {expected}")]
    Period {
        /// The recording.
        label: String,
        /// The problem.
        problem: String,
        /// The expected form.
        expected: &'static str,
    },
    /// Every sample failed, so the metric has no values.
    #[error("{place}: found {}, {}failed; expected at least one sample with {wanted}", counted(*failed, "sample"), if *failed > 1 { "all " } else { "" })]
    AllFailed {
        /// The last sample.
        place: Place,
        /// The number of samples.
        failed: u64,
        /// The requested metrics.
        wanted: String,
        /// The recording's own label, or the file's name without its extension.
        label: String,
        /// The format of the file.
        format: &'static str,
    },
    /// The requested metric is not in the file, or it is ambiguous.
    #[error("{place}: found {found}; expected {expected}")]
    Metric {
        /// The expected position.
        place: Place,
        /// The metrics found.
        found: String,
        /// The expected metrics.
        expected: String,
    },
}

/// An unknown word on the command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} \"{found}\"; expected {expected}")]
pub struct Unknown {
    /// The kind of word.
    pub what: &'static str,
    /// The word.
    pub found: String,
    /// The known words.
    pub expected: &'static str,
}

impl Error {
    /// Adds the file that could not be written, unless the error contains it already.
    pub(crate) fn of_output(self, output: &Path) -> Self {
        match self {
            Self::Write { path: None, line, source } => {
                Self::Write { path: Some(output.to_owned()), line, source }
            }
            other => other,
        }
    }
}

fn written(path: Option<&Path>) -> String {
    path.map_or_else(|| "the recording".to_owned(), |path| path.display().to_string())
}

/// "1 sample", "2 samples".
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
