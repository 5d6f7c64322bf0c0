//! The prose of a file: the paragraphs of its comments, or of its Markdown.

use std::path::Path;

/// A paragraph. Its lines are joined, so that a phrase may wrap.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// Where each line starts in the text, and its number.
    lines: Vec<(usize, usize)>,
}

impl Block {
    /// The number of the line that contains an offset of the text.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        after.checked_sub(1).map_or(1, |last| self.lines[last].1)
    }

    fn add(&mut self, number: usize, line: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        without_code(line, &mut self.text);
    }
}

/// The paragraphs of a file; none if the file has no prose.
pub(crate) fn blocks(path: &Path, text: &str) -> Vec<Block> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => paragraphs(text.lines().map(|line| Some(("", line)))),
        Some("rs") => paragraphs(text.lines().map(rust)),
        Some("ts" | "mjs") => paragraphs(text.lines().map(script)),
        Some("toml") => paragraphs(text.lines().map(configuration)),
        _ => Vec::new(),
    }
}

/// Joins lines to paragraphs. A line is a kind of comment and its text, or `None` for code.
fn paragraphs<'t>(lines: impl Iterator<Item = Option<(&'t str, &'t str)>>) -> Vec<Block> {
    let mut blocks = vec![Block::default()];
    let (mut kind, mut is_code) = ("", false);
    for (index, line) in lines.enumerate() {
        let (new, text) = line.map_or(("", ""), |(kind, text)| (kind, text.trim()));
        let is_fence = text.starts_with("```");
        if new != kind || text.is_empty() || is_fence || is_start(text) {
            blocks.push(Block::default());
        }
        is_code = line.is_some() && is_code != is_fence;
        kind = new;
        if is_code || is_fence || text.is_empty() {
            continue;
        }
        if let Some(block) = blocks.last_mut() {
            block.add(index + 1, text);
        }
        if text.starts_with(['#', '|']) {
            blocks.push(Block::default());
        }
    }
    blocks.retain(|block| !block.text.is_empty());
    blocks
}

/// A heading, a row of a table, or an entry of a list.
fn is_start(text: &str) -> bool {
    ["# ", "## ", "### ", "|", "- ", "* "].iter().any(|mark| text.starts_with(mark))
}

fn rust(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start().strip_prefix("//")?;
    let (kind, text) = text.split_at(usize::from(text.starts_with(['/', '!'])));
    (!text.starts_with('/')).then_some((kind, text))
}

fn script(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if let Some(text) = line.strip_prefix("//") {
        return Some(("//", text));
    }
    let text = line.strip_prefix('/').unwrap_or(line).strip_prefix('*')?.trim_start_matches('*');
    (!text.starts_with('/')).then_some(("*", text))
}

fn configuration(line: &str) -> Option<(&str, &str)> {
    line.trim_start().strip_prefix('#').filter(|text| !text.starts_with('!')).map(|text| ("#", text))
}

/// Appends a line in which each piece of code in backticks is one letter, which is no word of a
/// phrase.
fn without_code(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((_, after)) = after.split_once('`') else { break };
        out.push_str(before);
        out.push_str(" X ");
        rest = after;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        blocks(Path::new(path), text).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn lines_of_one_comment_are_joined() {
        let text = "//! One.\n\n/// Two\n/// three.\nfn a() {} // not this\n    // Four.\n";
        assert_eq!(texts("a.rs", text), ["One.", "Two three.", "Four."]);
        let all = blocks(Path::new("a.rs"), text);
        assert_eq!((all[1].line(0), all[1].line(4)), (3, 4));
    }

    #[test]
    fn code_is_not_prose() {
        assert_eq!(
            texts("a.md", "Run `a b` now.\n```\ncode\n```\n- one\n- two\n"),
            ["Run  X  now.", "- one", "- two"]
        );
        assert_eq!(texts("a.rs", "/// ```\n/// code\n/// ```\n/// Text.\n"), ["Text."]);
        assert_eq!(texts("a.html", "text"), [""; 0]);
    }

    #[test]
    fn comments_of_scripts_and_configuration_are_prose() {
        assert_eq!(texts("a.ts", "/** One\n * two. */\n// Three.\n"), ["One two. */", "Three."]);
        assert_eq!(texts("a.toml", "# One\n# two.\na = 1\n"), ["One two."]);
    }
}
