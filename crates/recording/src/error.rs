//! What can be wrong with a recording, and where.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A place in a file: "path:line:column". Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or what stands for it.
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

/// A recording that could not be read or written. The first five are the environment's and the caller's, the rest is the file's.
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
        /// The file; `None` for what is written to something without a name.
        path: Option<PathBuf>,
        /// The line that was being written, from 1.
        line: u64,
        /// Why not.
        source: io::Error,
    },
    /// What is to be written would take the place of what is read.
    #[error(
        "{} is not written: it is the input {}, which would be lost; write to another name",
        output.display(),
        input.display()
    )]
    WouldReplace {
        /// The input.
        input: PathBuf,
        /// The output, which may be another name of the same file.
        output: PathBuf,
    },
    /// Whoever asked for it asked to stop.
    #[error("stopped: {} is not written", path.display())]
    Stopped {
        /// What was being written.
        path: PathBuf,
    },
    /// There are no samples, or none with a value.
    #[error("{place}: {found}; expected {expected}")]
    Empty {
        /// Where the samples ought to be.
        place: Place,
        /// What is there instead.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// The file is something else.
    #[error("{place}: {found}; expected {expected}")]
    NotARecording {
        /// Where it shows.
        place: Place,
        /// What it seems to be.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// A native recording, or other JSON with a schema, that this version does not read.
    #[error(
        "{place}: the schema is \"{found}\"; expected \"{}\", the only one that this version reads",
        crate::SCHEMA
    )]
    Schema {
        /// The header line.
        place: Place,
        /// The schema that it names.
        found: String,
    },
    /// A byte that no text has.
    #[error("{place}: the byte 0x{byte:02x} is not text; expected UTF-8 without NUL")]
    NotText {
        /// Where it is.
        place: Place,
        /// The byte.
        byte: u8,
    },
    /// A line longer than anything that a recording holds.
    #[error("{place}: the line goes on after {limit} bytes; expected a line end before that")]
    LineTooLong {
        /// The end of what was read.
        place: Place,
        /// How long a line may be.
        limit: usize,
    },
    /// Something that is not a number where one must be, or a number that cannot be a time.
    #[error("{place}: found {found}; expected {expected}")]
    Number {
        /// Where the field begins.
        place: Place,
        /// What is there, quoted.
        found: String,
        /// What would do, with its unit.
        expected: &'static str,
    },
    /// A row with more or fewer columns than the first.
    #[error("{place}: found {}; expected {expected}, as in the first row", counted(*found as u64, "column"))]
    Columns {
        /// The end of the row, or its first surplus field.
        place: Place,
        /// How many it has.
        found: usize,
        /// How many the first row has.
        expected: usize,
    },
    /// A line of a native recording that is not a sample.
    #[error("{place}: {problem}; expected {expected}")]
    Sample {
        /// Where it goes wrong.
        place: Place,
        /// What the JSON reader says.
        problem: String,
        /// What would do.
        expected: &'static str,
    },
    /// A part of the time that the recording does not have, or does not know.
    #[error("{label}: {problem}; expected {expected}")]
    Period {
        /// The recording.
        label: String,
        /// What is wrong.
        problem: String,
        /// What would do.
        expected: &'static str,
    },
    /// The metric that was asked for is not in the file, or the file leaves open which one is meant.
    #[error("{place}: found {found}; expected {expected}")]
    Metric {
        /// Where it ought to be.
        place: Place,
        /// What there is.
        found: String,
        /// What would do.
        expected: String,
    },
}

/// A word on the command line that names nothing known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} \"{found}\"; expected {expected}")]
pub struct Unknown {
    /// What the word should have named.
    pub what: &'static str,
    /// The word.
    pub found: String,
    /// What would do.
    pub expected: &'static str,
}

impl Error {
    /// The same, with the file that could not be written, unless it says so already.
    pub(crate) fn of_output(self, output: &Path) -> Self {
        match self {
            Self::Write { path: None, line, source } => {
                Self::Write { path: Some(output.to_owned()), line, source }
            }
            other => other,
        }
    }
}

/// What is written, in a message.
fn written(path: Option<&Path>) -> String {
    path.map_or_else(|| "the recording".to_owned(), |path| path.display().to_string())
}

/// "1 sample", "2 samples".
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
