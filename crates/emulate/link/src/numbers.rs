//! Files of numbers: text, with the line of every word for error messages.

/// With the line, counted from 1. Text after a `#` is ignored.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes.split(|byte| *byte == b'\n').enumerate().flat_map(|(index, line)| {
        let text = line.split(|byte| *byte == b'#').next().unwrap_or(line);
        text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(move |word| (index + 1, word))
    })
}

pub(crate) fn number<N: std::str::FromStr>(word: &[u8]) -> Option<N> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
