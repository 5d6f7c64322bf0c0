//! The fields of one row.

/// The fields of a row, each with its offset. A field in double quotes may hold delimiters, and quotes written twice;
/// the outer quotes are taken off, the inner are left as they are. A quoted field ends on its line at the latest.
pub(super) fn fields(row: &[u8], delimiter: u8) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = &row[start..];
        let quoted = rest.strip_prefix(b"\"").and_then(|inner| closing_quote(inner, delimiter));
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

/// Where the quote is that ends a field, before a delimiter or the row's end.
fn closing_quote(inner: &[u8], delimiter: u8) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'"', &inner[from..])?;
        match inner.get(at + 1) {
            None => return Some(at),
            Some(&next) if next == delimiter => return Some(at),
            Some(b'"') => from = at + 2,
            Some(_) => return None,
        }
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
        // Never closed, or closed in mid-field: not quoted at all.
        assert_eq!(texts("\"a,b"), ["\"a", "b"]);
        assert_eq!(texts("\""), ["\""]);
        assert_eq!(texts(r#""a"b,2"#), [r#""a"b"#, "2"]);
        assert_eq!(texts(r#""a""#), ["a"]);
    }
}
