//! Rules `names` and `homonyms`: a name is a noun or a verb of the field, and a type name has one
//! meaning.

use std::collections::BTreeMap;

use super::{items::Item, ratchet::Finding, source::TextFile};

/// Files, modules, types and visible functions whose whole name is a participle or a pronoun.
pub(super) fn banned(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let stem = source.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if is_banned(stem) {
            findings.push(finding(source, 1, "file", stem));
        }
        let named = source.product_items().filter(|item| is_named_badly(item));
        findings.extend(named.map(|item| finding(source, item.line, item.kind, &item.name)));
    }
    findings
}

/// The file of a module is counted instead of its declaration.
fn is_named_badly(item: &Item) -> bool {
    is_banned(&item.name) && (item.is_type() || item.kind == "fn" && item.is_public)
}

fn is_banned(name: &str) -> bool {
    BANNED.contains(&name.to_lowercase().as_str())
}

fn finding(source: &TextFile, line: usize, kind: &str, name: &str) -> Finding {
    let text = format!(
        "the {kind} `{name}` is named by a participle or a pronoun; use a noun or a verb of the field"
    );
    Finding::new("names", source, line, text)
}

/// Visible types whose name is defined in more than two crates: a finding per crate beyond the
/// second one. They are counted for all crates together, because a new type would otherwise raise
/// the counts of other crates.
pub(super) fn homonyms(sources: &[TextFile]) -> Vec<Finding> {
    let mut types: BTreeMap<&str, BTreeMap<&str, (&TextFile, usize)>> = BTreeMap::new();
    for source in sources {
        for item in source.product_items().filter(|item| item.is_type() && item.is_public) {
            let crates = types.entry(&item.name).or_default();
            crates.entry(&source.folder).or_insert((source, item.line));
        }
    }
    types.retain(|name, crates| !CONVENTIONAL.contains(name) && crates.len() > MOST);
    let mut findings = Vec::new();
    for (name, crates) in types {
        let all: Vec<_> = crates.keys().copied().collect();
        let text = format!("`{name}` is a type of {}; use more exact names", all.join(", "));
        let beyond = crates.values().skip(MOST);
        findings.extend(
            beyond.map(|(source, line)| Finding::new("homonyms", source, *line, text.clone()).of_all()),
        );
    }
    findings
}

/// Crates that may define a type with the same name.
const MOST: usize = 2;

/// Names that every crate may use.
const CONVENTIONAL: [&str; 5] = ["Config", "Error", "Kind", "Options", "State"];

const BANNED: [&str; 34] = [
    "alike", "anybody", "asked", "asking", "begun", "beside", "came", "given", "gone", "had", "heard",
    "held", "kept", "keeping", "known", "lasting", "nobody", "other", "others", "said", "seen", "somebody",
    "taken", "telling", "those", "told", "toward", "wanted", "way", "ways", "what", "whom", "whose",
    "written",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn source(folder: &str, path: &str, text: &str) -> TextFile {
        TextFile::new(path, folder, text)
    }

    #[test]
    fn participles_and_pronouns_are_no_names() {
        let code = "pub struct Came;\npub fn told() {}\nfn told() {}\nmod kept;\npub struct KeptFor;\n";
        let found = banned(&[source("a", "a/src/others.rs", code)]);
        let places: Vec<_> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["a/src/others.rs:1", "a/src/others.rs:1", "a/src/others.rs:2"]);
    }

    #[test]
    fn nouns_of_the_field_are_names() {
        let found = banned(&[source("a", "a/src/peers.rs", "pub struct Peers;\npub fn connect() {}\n")]);
        assert_eq!(found.len(), 0);
    }

    #[test]
    fn type_of_three_crates_is_found() {
        let code = "pub struct Place;\npub enum Error {}\nstruct Own;\n";
        let in_crate = |name: &str| source(name, &format!("{name}/src/a.rs"), code);
        let found = homonyms(&[in_crate("a"), in_crate("b"), in_crate("c")]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].place == "c/src/a.rs:1" && found[0].text.starts_with("`Place` is a type of a, b, c;")
        );
        assert_eq!(homonyms(&[in_crate("a"), in_crate("b")]).len(), 0);
    }
}
