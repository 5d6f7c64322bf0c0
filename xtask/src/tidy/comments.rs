//! Rules `comment-width`, `sentences` and `private-docs`: comments are short enough to be read, and
//! names make most of them unnecessary.

use std::collections::BTreeMap;

use super::{prose::count, ratchet::Finding, source::TextFile};

/// Lines of comments that are too wide. Tables and addresses cannot be wrapped.
pub(super) fn width(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        for (index, line) in source.text.lines().enumerate().filter(|(_, line)| line.len() > WIDEST) {
            let width = line.chars().count();
            if width > WIDEST && comment(line).is_some_and(can_be_wrapped) {
                let text = format!("the comment has {width} columns; wrap it at {WIDEST}");
                findings.push(Finding::new("comment-width", source, index + 1, text));
            }
        }
    }
    findings
}

fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!', ' ']))
}

fn can_be_wrapped(text: &str) -> bool {
    !text.starts_with('|') && !text.contains("://")
}

/// Sentences of comments that are too long.
pub(super) fn sentences(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        for block in source.blocks() {
            let mut offset = 0;
            for sentence in block.text.split_inclusive(". ") {
                let words = count(sentence);
                if words > LONGEST && !sentence.starts_with('|') {
                    let text = format!("the sentence has {words} words; split it by {LONGEST}");
                    findings.push(Finding::new("sentences", source, block.line(offset), text));
                }
                offset += sentence.len();
            }
        }
    }
    findings
}

/// Crates in which too many words of comments describe items that are not public. The weight is the
/// share above the limit in per cent.
pub(super) fn private_docs(sources: &[TextFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, (&TextFile, Words)> = BTreeMap::new();
    for source in sources {
        let Some(code) = source.product() else { continue };
        let (_, words) = crates.entry(&source.folder).or_insert((source, Words::default()));
        words.add(code);
    }
    let finding = |(folder, (source, words)): (&str, (&TextFile, Words))| {
        let share = words.private * 100 / words.all.max(1);
        let text = format!(
            "{share} % of the words in comments of {folder} describe private items, limit {MOST_PRIVATE} %; \
             choose names that need no description"
        );
        let count = share.saturating_sub(MOST_PRIVATE);
        (count > 0).then(|| Finding::new("private-docs", source, 1, text).with_count(count))
    };
    crates.into_iter().filter_map(finding).collect()
}

/// Words of comments.
#[derive(Default, Debug, PartialEq, Eq)]
struct Words {
    all: usize,
    /// Those of doc comments of items that are not `pub`.
    private: usize,
}

impl Words {
    fn add(&mut self, code: &str) {
        let (mut docs, mut is_in_public) = (0, false);
        for line in code.lines() {
            // Variants and methods of a trait are public without a word.
            if line.starts_with(['p', '}']) {
                is_in_public = line.starts_with("pub enum") || line.starts_with("pub trait");
            }
            let line = line.trim_start();
            let words = line.strip_prefix("//").map_or(0, count);
            self.all += words;
            if line.starts_with("///") {
                docs += words;
            } else if !line.starts_with("#[") && docs > 0 {
                let is_public = is_in_public || line.starts_with("pub ");
                self.private += if is_public { 0 } else { docs };
                docs = 0;
            }
        }
    }
}

/// Columns of a line with a comment.
const WIDEST: usize = 110;

/// Words of a sentence.
const LONGEST: usize = 30;

/// Per cent of a crate's words in comments.
const MOST_PRIVATE: usize = 25;

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> TextFile {
        TextFile::new("a/src/a.rs", "a", text)
    }

    #[test]
    fn wide_comment_is_found() {
        let wide = format!("fn a() {{}}\n    /// {}\n", "word ".repeat(22));
        assert_eq!(width(&[source(&wide)])[0].place, "a/src/a.rs:2");
        let table = format!("//! | {}\n", "word ".repeat(22));
        let narrow = format!("// {}\n", "é".repeat(107));
        let code = format!("let a = \"{}\";\n", "word ".repeat(22));
        assert_eq!(width(&[source(&format!("{table}{narrow}{code}"))]).len(), 0);
    }

    #[test]
    fn long_sentence_is_found() {
        let long = format!("// One.\n// A {}end. Last.\n", "word ".repeat(30));
        let found = sentences(&[source(&long)]);
        assert!(found.len() == 1 && found[0].text.contains("32 words"), "{found:?}");
        let short = format!("// {0}end. {0}end.\n", "word ".repeat(29));
        assert_eq!(sentences(&[source(&short)]).len(), 0);
    }

    #[test]
    fn crate_with_many_private_docs_is_found() {
        let found = private_docs(&[source("//! One two.\n\n/// Three four.\nstruct A;\n")]);
        assert_eq!(found[0].count, 25, "half of the words");
        let public = "/// One two.\n#[a]\npub enum A {\n    /// Three four.\n    B,\n}\n";
        assert_eq!(private_docs(&[source(public)]).len(), 0);
    }
}
