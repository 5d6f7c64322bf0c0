//! The fields of one row.

/// With their offsets. The outer quotes are removed, doubled ones inside are unchanged.
/// [`is_unclosed`] detects a quoted field that does not end on its line.
pub(super) fn fields(row: &[u8], delimiter: u8) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = &row[start..];
        let quoted =
            rest.strip_prefix(b"\"").and_then(|inner| closing_quote(inner, delimiter).ok().flatten());
        let (field, length) = match quoted {
            Some(length) => (&rest[1..=length], length + 2),
            None => {
                let length = memchr::memchr(delimiter, rest).unwrap_or(rest.len());
                (&rest[..length], length)
            }
        };
        next = (length < rest.len()).then_some(start + length + 1);
        Some((start, field))
    })
}

pub(super) fn unclosed_quote(row: &[u8], delimiter: u8) -> Option<usize> {
    fields(row, delimiter).map(|(at, _)| at).find(|&at| is_unclosed(&row[at..], delimiter))
}

pub(super) fn is_unclosed(rest: &[u8], delimiter: u8) -> bool {
    rest.strip_prefix(b"\"").is_some_and(|inner| closing_quote(inner, delimiter) == Err(Open))
}

/// A quote that is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open;

/// `None` if other text than a delimiter follows the quote.
fn closing_quote(inner: &[u8], delimiter: u8) -> Result<Option<usize>, Open> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'"', &inner[from..]).ok_or(Open)?;
        match inner.get(at + 1) {
            None => return Ok(Some(at)),
            Some(&next) if next == delimiter => return Ok(Some(at)),
            Some(b'"') => from = at + 2,
            Some(_) => return Ok(None),
        }
    }
}

pub(in crate::read) struct Cells {
    /// Without the outer quotes, and doubled ones once.
    pub texts: Vec<String>,
    pub places: Vec<usize>,
}

impl Cells {
    /// An error is where a quote begins that nothing closes.
    pub(in crate::read) fn of(row: &[u8], delimiter: u8) -> Result<Self, usize> {
        if let Some(at) = unclosed_quote(row, delimiter) {
            return Err(at);
        }
        let text = |field: &[u8]| String::from_utf8_lossy(field).replace("\"\"", "\"");
        let (places, texts) = fields(row, delimiter).map(|(at, field)| (at, text(field))).unzip();
        Ok(Self { texts, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(row: &str) -> Vec<(usize, String)> {
        fields(row.as_bytes(), b',')
            .map(|(at, field)| (at, String::from_utf8(field.to_vec()).unwrap()))
            .collect()
    }

    fn texts(row: &str) -> Vec<String> {
        of(row).into_iter().map(|(_, field)| field).collect()
    }

    #[test]
    fn plain() {
        assert_eq!(of("1,22,"), [(0, "1".to_owned()), (2, "22".to_owned()), (5, String::new())]);
        assert_eq!(texts(""), [""]);
    }

    #[test]
    fn quoted() {
        assert_eq!(of(r#""a,b",2"#), [(0, "a,b".to_owned()), (6, "2".to_owned())]);
        assert_eq!(texts(r#""say ""hi"", please",2"#), [r#"say ""hi"", please"#, "2"]);
        assert_eq!(texts("\"\",2"), ["", "2"]);
        assert_eq!(texts("2,\"\""), ["2", ""]);
        assert_eq!(texts(r#""a"b,2"#), [r#""a"b"#, "2"]);
        assert_eq!(texts(r#""a""#), ["a"]);
    }

    #[test]
    fn quotes_that_nothing_closes() {
        let unclosed = |row: &str| unclosed_quote(row.as_bytes(), b',');
        assert_eq!(unclosed("1,\"a,b"), Some(2));
        assert_eq!((unclosed("\""), unclosed("1,\"\"\"")), (Some(0), Some(2)));
        assert_eq!(unclosed(r#"1,"say ""hi"#), Some(2));
        for row in ["1,2", r#""a,b",2"#, "\"\"\"\",2", "1,\"\"\"\"", r#"5" disk,2"#, r#""a"b,2"#, ""] {
            assert_eq!(unclosed(row), None, "{row}");
        }
    }
}
