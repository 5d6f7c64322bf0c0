//! Rules `prose` and `messages`: plain technical English in comments and documents, and in the
//! sentences that users read. Phrases to avoid are listed in `xtask/tidy/phrases.txt`.

pub(super) mod blocks;
mod phrases;
mod strings;

use std::collections::BTreeMap;

use super::{ratchet::Finding, source::TextFile};
use phrases::{Hit, Phrases};

/// Comments and documents. Each folder may have a few of the phrases, as good prose of other
/// projects has.
pub(super) fn prose(sources: &[TextFile]) -> Vec<Finding> {
    let phrases = Phrases::new();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.path.ends_with("CHANGELOG.md")) {
        for block in source.blocks() {
            *words.entry(&source.folder).or_default() += count(&block.text);
            let found = phrases.hits(&block.text);
            let found =
                found.iter().map(|hit| finding("prose", source, block.line(hit.offset), hit, &block.text));
            findings.entry(&source.folder).or_default().extend(found);
        }
    }
    findings.retain(|folder, found| found.len() * 10_000 > words.get(folder).unwrap_or(&0) * MOST);
    findings.into_values().flatten().collect()
}

/// String literals of the product that users read.
pub(super) fn messages(sources: &[TextFile]) -> Vec<Finding> {
    let phrases = Phrases::new();
    let mut findings = Vec::new();
    for source in sources {
        for (line, text) in source.product().map(strings::messages).unwrap_or_default() {
            let found = phrases.hits(&text);
            findings.extend(found.iter().map(|hit| finding("messages", source, line, hit, &text)));
        }
    }
    findings
}

fn finding(rule: &'static str, source: &TextFile, line: usize, hit: &Hit, text: &str) -> Finding {
    let Hit { offset, end, name, advice } = *hit;
    Finding::new(rule, source, line, format!("\"{}\" ({name}); {advice}", &text[offset..end]))
}

/// The number of words. Reads bytes, because this is half of the time in an unoptimised program.
pub(super) fn count(text: &str) -> usize {
    let (mut words, mut is_inside) = (0, false);
    for &byte in text.as_bytes() {
        let is_letter = byte.is_ascii_alphabetic();
        words += usize::from(is_letter && !is_inside);
        is_inside = is_letter || is_inside && byte == b'\'';
    }
    words
}

/// Phrases per 10 000 words that are allowed in a folder; documentation of similar projects has 8
/// to 10.
const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> TextFile {
        TextFile::new(path, "a", text)
    }

    #[test]
    fn folder_over_the_rate_has_findings() {
        let found = prose(&[source("a/b.rs", "//! Reads a file.\n//! The one that is told.\n")]);
        assert_eq!(found[0].place, "a/b.rs:2");
        assert!(found[0].text.starts_with("\"one that\" (those-that); "), "{found:?}");
    }

    #[test]
    fn folder_under_the_rate_has_none() {
        let plain = "The cache stores a response. ".repeat(1000);
        let text = format!("{plain}\n\nNo more of those that expired.\n");
        assert_eq!(prose(&[source("a.md", &text)]).len(), 0);
    }

    #[test]
    fn message_has_no_phrase() {
        let bad = "fn a() { bail!(\"the peer is told about {name}\") }\n";
        assert_eq!(messages(&[source("a/src/b.rs", bad)])[0].place, "a/src/b.rs:1");
        let good = "fn a() { bail!(\"cannot notify the peer {name}\") }\n";
        assert_eq!(messages(&[source("a/src/b.rs", good)]).len(), 0);
        assert_eq!(messages(&[source("a/tests/b.rs", bad)]).len(), 0, "tests are not read by users");
    }

    #[test]
    fn words_are_counted() {
        assert_eq!(count("It's 4 o'clock: 'go' now-ish."), 5);
    }
}
