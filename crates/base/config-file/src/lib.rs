//! TOML configuration files with includes, and mistakes in them with file, line and column.
//!
//! - [`Document`]: start here. A TOML file, and the files that it includes.
//! - [`Diagnostic`]: an error message with its position in a file.
//! - [`suggestion`]: the known name nearest to a misspelt one.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    ops::Range,
    path::Path,
};

use serde::de::DeserializeOwned;

/// A TOML file in memory, followed by the files that it includes. Spans are byte offsets from the
/// start of the first file.
#[derive(Debug, Clone)]
pub struct Document {
    files: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    path: String,
    text: String,
    /// Offset of its first byte in the document's spans.
    start: usize,
}

/// An error in a file, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The path as the user gave it.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The error and the expected input.
    pub message: String,
}

impl Document {
    /// Reads a file of at most [`LARGEST`] bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(path.display().to_string(), read_text(path)?))
    }

    /// A document with one file of the given text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { files: vec![Source { path: path.into(), text: text.into(), start: 0 }] }
    }

    /// The text of the first file.
    pub fn text(&self) -> &str {
        &self.files[0].text
    }

    /// Deserializes the first file. An error for an unknown key or name suggests the nearest one.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        self.parse_file(0)
    }

    /// A mistake at the span of a parsed value.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let file = &self.files[self.file_of(&span)];
        let before = file.text.get(..span.start.saturating_sub(file.start)).unwrap_or(&file.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Diagnostic {
            path: file.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }

    /// Appends an included file and returns its index for [`Self::parse_file`].
    pub fn append(&mut self, path: String, text: String) -> usize {
        let last = self.files.last().expect("a document has a first file");
        // The end of a file differs from the start of the next.
        let start = last.start + last.text.len() + 1;
        self.files.push(Source { path, text, start });
        self.files.len() - 1
    }

    /// Deserializes the file with this index.
    pub fn parse_file<T: DeserializeOwned>(&self, number: usize) -> Result<T, Diagnostic> {
        let file = &self.files[number];
        toml::from_str(&("\n".repeat(file.start) + &file.text)).map_err(|error| {
            let message = with_suggestion(&in_plain_words(error.message()));
            self.mistake(error.span().unwrap_or(file.start..file.start), message)
        })
    }

    /// Size of all files together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.text.len() as u64).sum()
    }

    /// File, line and column of a span as `file:line:column`.
    pub fn place(&self, span: Range<usize>) -> String {
        let Diagnostic { path, line, column, .. } = self.mistake(span, "");
        format!("{path}:{line}:{column}")
    }

    /// The path of the file that contains a span.
    pub fn path_of(&self, span: &Range<usize>) -> &Path {
        Path::new(&self.files[self.file_of(span)].path)
    }

    fn file_of(&self, span: &Range<usize>) -> usize {
        self.files.partition_point(|file| file.start <= span.start) - 1
    }
}

/// Reads a text file of at most [`LARGEST`] bytes.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("more than the limit of {LARGEST} bytes")));
    }
    Ok(text)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path, self.line, self.column, self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Returns `; did you mean "x"?` if `word` is close to one of `known`, else an empty string.
pub fn suggestion<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    units::nearest(word, known).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

fn in_plain_words(message: &str) -> String {
    let plain = EXPECTED_NUMBERS.iter().find_map(|(expected, plain)| {
        let before = message.trim_end().strip_suffix(expected)?.strip_suffix("expected ")?;
        Some(format!("{before}expected {plain}"))
    });
    plain.unwrap_or_else(|| message.to_owned())
}

const EXPECTED_NUMBERS: [(&str, &str); 11] = [
    ("a nonzero u16", "a whole number from 1 to 65535, such as 5201"),
    ("a nonzero u32", "a whole number from 1 to 4294967295, such as 4"),
    ("a nonzero u64", "a whole number from 1 on, such as 4"),
    ("a nonzero usize", "a whole number from 1 on, such as 4"),
    ("u8", "a whole number from 0 to 255, such as 4"),
    ("u16", "a whole number from 0 to 65535, such as 38"),
    ("u32", "a whole number from 0 to 4294967295, such as 200"),
    ("u64", "a whole number from 0 on, such as 42"),
    ("usize", "a whole number from 0 on, such as 4"),
    ("f32", "a number such as 1.5, without quotes"),
    ("f64", "a number such as 1.5, without quotes"),
];

/// Serde's message is "unknown field `rtf`, expected one of `rtt`, `rate`": the first name in
/// backquotes is the one found, the others are the known ones.
fn with_suggestion(message: &str) -> String {
    let message = message.trim();
    if !message.starts_with("unknown ") {
        return message.to_owned();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let found = quoted.next().unwrap_or_default();
    format!("{message}{}", suggestion(found, quoted))
}

/// Largest size of a file, and of all files of a document together, in bytes.
pub const LARGEST: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Link {
        #[expect(dead_code, reason = "only its parsing matters")]
        rate: units::Bitrate,
    }

    fn said(text: &str) -> String {
        Document::new("w.toml", text).parse::<Link>().unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_key_is_located_and_corrected() {
        assert_eq!(
            said("# a link\nrate = \"1Gbit\"\nrato = 3\n"),
            "w.toml:3:1: unknown field `rato`, expected `rate`; did you mean \"rate\"?"
        );
    }

    #[test]
    fn an_impossible_value_is_located() {
        assert_eq!(
            said("rate = \"10 parsecs\"\n"),
            "w.toml:1:8: \"10 parsecs\" has the unknown unit \"parsecs\"; expected one of bit, Kbit, Mbit, Gbit (a second)"
        );
    }

    #[test]
    fn a_number_is_asked_for_with_its_range_and_an_example() {
        #[derive(Debug, Deserialize)]
        struct Numbers {
            #[expect(dead_code, reason = "only its parsing matters")]
            port: Option<std::num::NonZero<u16>>,
            #[expect(dead_code, reason = "only its parsing matters")]
            threads: Option<std::num::NonZero<usize>>,
            #[expect(dead_code, reason = "only its parsing matters")]
            count: Option<u32>,
            #[expect(dead_code, reason = "only its parsing matters")]
            share: Option<f64>,
        }
        for (text, expected) in [
            (
                "port = 0",
                "w.toml:1:8: invalid value: integer `0`, expected a whole number from 1 to 65535, such as 5201",
            ),
            ("port = 65536", "expected a whole number from 1 to 65535, such as 5201"),
            ("threads = 0", "expected a whole number from 1 on, such as 4"),
            ("count = -1", "expected a whole number from 0 to 4294967295, such as 200"),
            ("count = 'many'", "invalid type: string \"many\", expected a whole number from 0 to 4294967295"),
            ("share = 'half'", "expected a number such as 1.5, without quotes"),
        ] {
            let said = Document::new("w.toml", text).parse::<Numbers>().unwrap_err().to_string();
            assert!(said.contains(expected), "expected {expected}\n  but got {said}");
        }
    }

    #[test]
    fn a_span_knows_its_file() {
        let mut document = Document::new("a.toml", "rate = '1Gbit'\n");
        let second = document.append("b.toml".into(), "# b\nrate = 'fast'\n".into());
        let said = document.parse_file::<Link>(second).unwrap_err();
        assert_eq!((said.path.as_str(), said.line, said.column), ("b.toml", 2, 8));
        assert_eq!(document.mistake(0..0, "").to_string(), "a.toml:1:1: ");
        assert_eq!(document.mistake(15..15, "").to_string(), "a.toml:2:1: ");
        assert_eq!(document.mistake(16..16, "").to_string(), "b.toml:1:1: ");
    }

    #[test]
    fn broken_syntax_is_located() {
        assert!(said("rate = \n").starts_with("w.toml:1:8: "), "{}", said("rate = \n"));
    }
}
