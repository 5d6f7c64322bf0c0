//! Which format a file has, by its content: names lie, and a pipe has none.

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON lines with a header.
    Native,
    /// Rows of columns.
    Csv,
}

/// The format of a file that begins with this line; or, if it is something known that is not read, what it is.
pub(crate) fn detect(first_line: &[u8]) -> Result<Format, &'static str> {
    let begins = |magic: &[u8]| first_line.starts_with(magic);
    if begins(&[0x1F, 0x8B]) {
        return Err("a gzip file (unpack it first)");
    }
    if begins(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return Err("a zstd file (unpack it first)");
    }
    if begins(b"PK\x03\x04") {
        return Err("a zip file or a spreadsheet (export it as CSV)");
    }
    match first_line.trim_ascii_start().first() {
        Some(b'{') => Ok(Format::Native),
        Some(b'[') => Err("a JSON array"),
        Some(b'<') => Err("HTML or XML"),
        _ => Ok(Format::Csv),
    }
}

/// What [`detect`] finds acceptable, for messages.
pub(crate) const EXPECTED: &str = "a native recording, which begins with {\"schema\":\"longhaul.recording/1\"}, or CSV \
                                   with a column such as latency_ms";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_content() {
        assert_eq!(detect(b"  {\"schema\":1}"), Ok(Format::Native));
        for csv in ["latency_ms", "12.5", "a,b", "", "\"latency_ms\",x"] {
            assert_eq!(detect(csv.as_bytes()), Ok(Format::Csv), "{csv}");
        }
        assert!(detect(b"\x1f\x8b\x08").unwrap_err().contains("gzip"));
        assert!(detect(b"[1, 2]").unwrap_err().contains("array"));
    }
}
