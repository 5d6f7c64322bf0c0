//! What separates the cells of a row.

/// "sep=;", as spreadsheets write it.
pub(super) fn of_line(text: &[u8]) -> Option<u8> {
    let text = text.trim_ascii_end();
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    match text.get(..4)?.eq_ignore_ascii_case(b"sep=").then_some(&text[4..])? {
        // A tab at the end of the line is a blank too.
        b"" => Some(b'\t'),
        [delimiter] if !delimiter.is_ascii_alphanumeric() => Some(*delimiter),
        _ => None,
    }
}

pub(super) fn of_header(first: &[u8]) -> u8 {
    let candidates = [b'\t', b',', b';'];
    let outside: Vec<u8> = first.split(|&byte| byte == b'"').step_by(2).flatten().copied().collect();
    let found =
        |text: &[u8]| candidates.into_iter().find(|&delimiter| memchr::memchr(delimiter, text).is_some());
    found(&outside).or_else(|| found(first)).unwrap_or(b',')
}
