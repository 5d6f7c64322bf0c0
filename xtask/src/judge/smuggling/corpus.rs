//! The messages: each contains an ambiguous request, and another request after or inside it.

use anyhow::{Context, bail};

pub(super) fn corpus() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let case = |line: &str| {
        let (name, message) = line.split_once('\t').with_context(|| format!("no tab in \"{line}\""))?;
        Ok((name.to_owned(), bytes(message)?))
    };
    include_str!("corpus.txt").lines().map(case).collect()
}

/// Decodes \\r, \\n, \\t, \\0 and \\x0b.
fn bytes(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let escapes = [("r", b'\r'), ("n", b'\n'), ("t", b'\t'), ("0", 0), ("x0b", 0x0b)];
        let found = escapes.iter().find_map(|(name, byte)| Some((byte, behind.strip_prefix(name)?)));
        let Some((byte, behind)) = found else { bail!("an unknown escape in \"{text}\"") };
        bytes.push(*byte);
        rest = behind;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_another_and_has_a_second_request() {
        let corpus = corpus().unwrap();
        let names: std::collections::BTreeSet<_> = corpus.iter().map(|(name, _)| name).collect();
        assert_eq!((names.len(), corpus.len()), (163, 163));
        for (name, message) in &corpus {
            let text = String::from_utf8_lossy(message);
            assert!(text.contains("smuggled HTTP/1.1\r\n"), "{name}");
        }
        assert_eq!(bytes(r"a\r\n\t\0\x0bb").unwrap(), b"a\r\n\t\0\x0bb");
        bytes(r"\q").unwrap_err();
    }
}
