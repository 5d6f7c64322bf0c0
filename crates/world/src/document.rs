//! A configuration file's text, and mistakes in it said with file, line and column.

use std::{fmt, fs::File, io::Read, ops::Range, path::Path};

use serde::de::DeserializeOwned;

/// A TOML file in memory.
#[derive(Debug, Clone)]
pub struct Document {
    path: String,
    text: String,
}

/// What is wrong in a file, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// As the user gave it.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Document {
    /// Reads a file of at most [`LARGEST`] bytes.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let mut text = String::new();
        File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LARGEST {
            return Err(std::io::Error::other(format!("more than the limit of {LARGEST} bytes")));
        }
        Ok(Self::new(path.display().to_string(), text))
    }

    /// A file whose text is already here.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as a `T`. A misspelt key or name is answered with the nearest one that is known.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Mistake> {
        toml::from_str(&self.text).map_err(|error| {
            let message = with_suggestion(error.message());
            self.mistake(error.span().unwrap_or_default(), message)
        })
    }

    /// A mistake at a span that a parsed value remembered.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>) -> Mistake {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Mistake {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path, self.line, self.column, self.message)
    }
}

impl std::error::Error for Mistake {}

/// "; did you mean "x"?" when `word` is nearly one of `known`.
pub fn suggestion<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    units::nearest(word, known).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// Serde reports an unknown key or variant as "unknown field `rtf`, expected one of `rtt`, `rate`": the first name in
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

/// A description of a planet has no reason to be larger than this.
const LARGEST: u64 = 16 << 20;

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
    fn broken_syntax_is_located() {
        assert!(said("rate = \n").starts_with("w.toml:1:8: "), "{}", said("rate = \n"));
    }
}
