//! Errors in a file or a text that describes a link. Every variant is the author's mistake.

/// A trace, a table or a list of losses that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Nothing is in it.
    #[error("the file is empty; expected {expected}")]
    Empty {
        /// The expected content.
        expected: &'static str,
    },
    /// Something else than a number of the right kind.
    #[error("line {line}: found {found:?}; expected {expected}")]
    Unexpected {
        /// Counted from 1.
        line: usize,
        /// The text found, at most its first 40 characters.
        found: String,
        /// The expected content.
        expected: &'static str,
    },
    /// A trace whose time runs backwards.
    #[error("line {line}: {after} ms is after {before} ms; sort the opportunities by time")]
    Decreasing {
        /// Counted from 1.
        line: usize,
        /// The time in the line before.
        before: u32,
        /// The time in this line.
        after: u32,
    },
    /// A trace that ends when it begins.
    #[error("line {line}: the last opportunity is at 0 ms, so the trace has no length; let it end later")]
    NoLength {
        /// Counted from 1.
        line: usize,
    },
    /// More than is kept in memory.
    #[error("line {line}: more than {limit} values; cut the file")]
    TooLong {
        /// Counted from 1.
        line: usize,
        /// How many are kept.
        limit: usize,
    },
}

/// A name that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{found}\" is not a {kind}; expected {expected}")]
pub struct NameError {
    /// The expected kind of name.
    pub kind: &'static str,
    /// The given text.
    pub found: String,
    /// The valid names.
    pub expected: &'static str,
}

impl NameError {
    pub(crate) fn new(kind: &'static str, found: &str, expected: &'static str) -> Self {
        Self { kind, found: found.to_owned(), expected }
    }
}

impl FileError {
    pub(crate) fn unexpected(line: usize, found: &[u8], expected: &'static str) -> Self {
        let start = &found[..found.len().min(160)];
        let found = String::from_utf8_lossy(start).chars().take(40).collect();
        Self::Unexpected { line, found, expected }
    }
}
