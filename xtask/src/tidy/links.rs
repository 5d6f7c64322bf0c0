//! Links between Markdown documents: each leads to a file of the project and, with `#anchor`, to a section in
//! it. Pages in `docs` are also a book: `docs/SUMMARY.md` lists each of them, and they link only to files
//! that the book contains.
//!
//! Inline links outside of code are checked: `[text](path#anchor)`. Web addresses are not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
};

use anyhow::Context;

use crate::root;

/// The findings about all documents among these files.
pub(super) fn findings(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut documents = BTreeMap::new();
    for path in files.iter().filter(|path| is_document(path)) {
        let text = fs::read_to_string(root().join(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        documents.insert(path.as_path(), Document::read(&text));
    }
    let files = files.iter().map(PathBuf::as_path).collect();
    Ok(check(&documents, &files))
}

/// The relevant parts of a document.
struct Document {
    /// The anchors of its sections.
    anchors: BTreeSet<String>,
    /// Line numbers and targets of its links.
    links: Vec<(usize, String)>,
}

impl Document {
    fn read(text: &str) -> Self {
        let lines = without_listings(text);
        let mut anchors = BTreeSet::new();
        let mut uses: BTreeMap<String, usize> = BTreeMap::new();
        for heading in lines.iter().filter_map(|line| heading(line)) {
            let name = anchor(heading);
            let used = uses.entry(name.clone()).or_default();
            anchors.insert(if *used == 0 { name } else { format!("{name}-{used}") });
            *used += 1;
        }
        let prose = without_code(&lines.join("\n"));
        let links = (1..)
            .zip(prose.lines())
            .flat_map(|(number, line)| targets(line).map(move |target| (number, target.to_owned())));
        Self { anchors, links: links.collect() }
    }
}

/// The findings, a sentence each, in the order of the documents.
fn check(documents: &BTreeMap<&Path, Document>, files: &BTreeSet<&Path>) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, document) in documents {
        let folder = path.parent().unwrap_or(Path::new(""));
        for (line, link) in &document.links {
            if let Some(problem) = problem(path, folder, link, documents, files) {
                findings.push(format!("{}:{line}: {problem}", path.display()));
            }
        }
    }
    if let Some(summary) = documents.get(Path::new(SUMMARY)) {
        let listed: BTreeSet<_> =
            summary.links.iter().filter_map(|(_, link)| resolve(Path::new(BOOK), link)).collect();
        let pages = documents.keys().filter(|path| path.starts_with(BOOK) && **path != Path::new(SUMMARY));
        let missing = pages.filter(|path| !listed.contains(**path));
        findings.extend(missing.map(|path| format!("{}: is not in {SUMMARY}", path.display())));
    }
    findings
}

/// What is wrong with a link of a document in this folder.
fn problem(
    path: &Path,
    folder: &Path,
    link: &str,
    documents: &BTreeMap<&Path, Document>,
    files: &BTreeSet<&Path>,
) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { Some(path.to_owned()) } else { resolve(folder, file) };
    let Some(target) = target.filter(|target| files.iter().any(|file| file.starts_with(target))) else {
        return Some(format!("{link}: no such file"));
    };
    if path.starts_with(BOOK) && !target.starts_with(BOOK) {
        return Some(format!("{link}: is not in the book; write the path as code"));
    }
    let document = documents.get(target.as_path()).filter(|_| !anchor.is_empty())?;
    (!document.anchors.contains(anchor)).then(|| format!("{link}: no section #{anchor}"))
}

/// The path of a link from this folder; `None` if it leaves the project.
fn resolve(folder: &Path, link: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

/// The lines of a text; those of fenced code blocks are empty.
fn without_listings(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut line = |line| match (fence, fence_of(line)) {
        (None, None) => line,
        (None, opened) => {
            fence = opened;
            ""
        }
        (Some(open), Some(close)) if close.starts_with(open) && line.trim() == close => {
            fence = None;
            ""
        }
        _ => "",
    };
    text.lines().map(&mut line).collect()
}

/// The backticks or tildes with which a line begins or ends a code block.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let end = line.find(|other| other != mark).unwrap_or(line.len());
    (end >= 3).then(|| &line[..end])
}

/// The text with blanks instead of code spans, which may continue on the next line of a paragraph.
fn without_code(text: &str) -> String {
    let mut prose = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let (before, inside) = (&rest[..at], &rest[at + ticks..]);
        prose.push_str(before);
        rest = inside;
        if let Some(end) = end_of_code(inside, ticks) {
            let is_break = |letter: char| if letter == '\n' { '\n' } else { ' ' };
            prose.extend(inside[..end].chars().map(is_break));
            rest = &inside[end + ticks..];
        }
    }
    prose + rest
}

/// Where the same number of backticks follows in the paragraph.
fn end_of_code(text: &str, ticks: usize) -> Option<usize> {
    let text = text.split("\n\n").next()?;
    let mut from = 0;
    while let Some(at) = text[from..].find('`').map(|at| from + at) {
        let found = text[at..].len() - text[at..].trim_start_matches('`').len();
        if found == ticks {
            return Some(at);
        }
        from = at + found;
    }
    None
}

/// The text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// The anchor of a heading by GitHub's rule: lower case, hyphens for blanks, no punctuation.
fn anchor(heading: &str) -> String {
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    };
    heading.to_lowercase().chars().filter_map(letter).collect()
}

/// The targets of the inline links in a line of prose.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split_once(')')?.0;
        target.split_whitespace().next()
    })
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The folder of the book.
const BOOK: &str = "docs";

/// The contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings about these documents, in a project that also has `src/main.rs` and `docs/picture.svg`.
    fn said(documents: &[(&str, &str)]) -> Vec<String> {
        let files = documents.iter().map(|(path, _)| Path::new(*path));
        let files = files.chain([Path::new("src/main.rs"), Path::new("docs/picture.svg")]).collect();
        let documents =
            documents.iter().map(|(path, text)| (Path::new(*path), Document::read(text))).collect();
        check(&documents, &files)
    }

    #[test]
    fn a_link_leads_to_a_file_or_a_folder_of_the_project() {
        let good = "[one](src/main.rs), [two](src), [three](./src/../src/main.rs 'with a title'),\n\
                    [a long\ntext](src/main.rs), [web](https://example.org/x.md#y), <https://example.org>";
        assert_eq!(said(&[("README.md", good)]), [""; 0]);
        let bad = "# Title\n\n[one](src/lost.rs) and [two](../outside.md)\n![three](lost.png)";
        assert_eq!(
            said(&[("README.md", bad)]),
            [
                "README.md:3: src/lost.rs: no such file",
                "README.md:3: ../outside.md: no such file",
                "README.md:4: lost.png: no such file",
            ]
        );
    }

    #[test]
    fn an_anchor_is_a_section_of_its_document() {
        let page = "# A page\n## What is it, and what not?\n## `[[link]]` of TCP\n## Limits\n### Limits\n";
        let good = "[a](p.md#a-page) [b](p.md#what-is-it-and-what-not) [c](p.md#link-of-tcp)\n\
                    [d](p.md#limits) [e](p.md#limits-1) [f](#here)\n\n# Here";
        assert_eq!(said(&[("p.md", page), ("q.md", good)]), [""; 0]);
        let bad = "# Here\n[a](#there)\n[b](p.md#limits-2)";
        assert_eq!(
            said(&[("p.md", page), ("q.md", bad)]),
            ["q.md:2: #there: no section #there", "q.md:3: p.md#limits-2: no section #limits-2"]
        );
    }

    #[test]
    fn code_has_neither_links_nor_sections() {
        let code = "```sh\n# comment\n[a](lost.md)\n```\n~~~~\n```\n[b](lost.md)\n~~~\n~~~~\n\
                    `[c](lost.md)` ``[`d`](lost.md)`` `a span of\ntwo lines [e](lost.md)`\n\n\
                    a lone ` and [f](lost.md)\n\na lone ` [g](#comment)";
        assert_eq!(
            said(&[("q.md", code)]),
            ["q.md:13: lost.md: no such file", "q.md:15: #comment: no section #comment"]
        );
    }

    #[test]
    fn the_book_is_complete_and_links_to_nothing_else() {
        let summary = ("docs/SUMMARY.md", "- [Start](README.md)\n  - [One](one.md)");
        let start = ("docs/README.md", "[one](one.md) ![it](picture.svg)");
        assert_eq!(said(&[summary, start, ("docs/one.md", "")]), [""; 0]);
        let one = ("docs/one.md", "\n[code](../src/main.rs)");
        assert_eq!(
            said(&[summary, start, one, ("docs/two.md", ""), ("README.md", "[one](docs/one.md)")]),
            [
                "docs/one.md:2: ../src/main.rs: is not in the book; write the path as code",
                "docs/two.md: is not in docs/SUMMARY.md",
            ]
        );
    }
}
