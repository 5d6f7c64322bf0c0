//! Rule `impls`: the methods of a type are in at most two files.

use std::collections::{BTreeMap, BTreeSet};

use super::{ratchet::Finding, source::TextFile};

/// A finding per file beyond the second one. Types of a crate with the same name are counted
/// together, with two files each.
pub(super) fn findings(sources: &[TextFile]) -> Vec<Finding> {
    let mut types: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut files: BTreeMap<(&str, &str), Vec<(&TextFile, usize)>> = BTreeMap::new();
    for source in sources {
        let Some(code) = source.product() else { continue };
        for item in source.product_items().filter(|item| item.is_type()) {
            *types.entry((&source.folder, item.name.as_str())).or_default() += 1;
        }
        let mut seen = BTreeSet::new();
        for (line, name) in inherent(code).into_iter().filter(|(_, name)| seen.insert(*name)) {
            files.entry((&source.folder, name)).or_default().push((source, line));
        }
    }
    let beyond = files.into_iter().flat_map(|(of, files)| {
        let text = format!(
            "`impl {}` is in {} files; split the type, or move the methods to other types and functions",
            of.1,
            files.len()
        );
        let allowed = MOST * types.get(&of).copied().unwrap_or(1);
        let beyond = files.into_iter().skip(allowed);
        beyond.map(move |(source, line)| Finding::new("impls", source, line, text.clone()))
    });
    beyond.collect()
}

/// The lines of `impl` blocks without a trait, and their types.
fn inherent(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("\nimpl") {
        let header = &code[start + "\nimpl".len()..];
        let header = header.split('{').next().unwrap_or(header);
        let of_trait = header.split_whitespace().any(|word| word == "for");
        if let Some(name) = without_parameters(header).and_then(type_name).filter(|_| !of_trait) {
            found.push((code[..=start].matches('\n').count() + 1, name));
        }
    }
    found
}

/// The last name of a path at the start of a text.
fn type_name(text: &str) -> Option<&str> {
    let is_in_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let path = text.trim_start().split(|letter| !is_in_path(letter)).next()?;
    path.rsplit("::").next().filter(|name| !name.is_empty())
}

/// The text after `<...>`.
fn without_parameters(text: &str) -> Option<&str> {
    if text.starts_with(' ') {
        return Some(text);
    }
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return text.starts_with('<').then(|| &text[at + 1..]);
        }
        before = letter;
    }
    None
}

/// Files with methods of a type.
const MOST: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> TextFile {
        TextFile::new(path, "a", text)
    }

    #[test]
    fn third_file_with_methods_is_found() {
        let files =
            ["a/src/a.rs", "a/src/b.rs", "a/src/c.rs"].map(|path| source(path, "//! A.\nimpl Core {\n}\n"));
        let found = findings(&files);
        assert_eq!(found.len(), 1);
        assert!(found[0].place == "a/src/c.rs:2" && found[0].text.starts_with("`impl Core` is in 3 files"));
        assert_eq!(findings(&files[..2]).len(), 0);
    }

    #[test]
    fn types_of_the_same_name_have_two_files_each() {
        let files = ["a/src/a.rs", "a/src/b.rs", "a/src/c.rs"];
        assert_eq!(findings(&files.map(|path| source(path, "struct A;\nimpl A {}\n"))).len(), 0);
    }

    #[test]
    fn impl_of_a_trait_is_not_inherent() {
        let code = "//! A.\nimpl<T: Fn() -> u8> Core<T> {\n}\nimpl fmt::Display for Core {\n}\n\
                    impl<'a> a::Part<'a>\nwhere\n    T: for<'b> Copy<'b>,\n{\n}\n";
        assert_eq!(inherent(code), [(2, "Core"), (6, "Part")]);
        assert_eq!(inherent("//! A.\nimpl<T> From<T>\n    for Core {\n}\n"), []);
    }
}
