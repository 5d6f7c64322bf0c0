//! The items of Rust code that is formatted by rustfmt, found by the start of their lines.

/// An item with a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// From 1.
    pub(super) line: usize,
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Visible outside its module.
    pub(super) is_public: bool,
}

impl Item {
    pub(super) fn is_type(&self) -> bool {
        self.kind != "fn"
    }
}

/// The functions and types of a file, with those inside other items.
pub(super) fn items(code: &str) -> Vec<Item> {
    let lines = code.lines().enumerate();
    lines.filter_map(|(index, line)| item(index + 1, line.trim_start())).collect()
}

fn item(line: usize, text: &str) -> Option<Item> {
    if !text.starts_with(['a', 'c', 'e', 'f', 'p', 's', 't', 'u']) {
        return None;
    }
    let (is_public, mut rest) = visibility(text);
    loop {
        let (word, after) = rest.split_once(' ')?;
        if let Some(kind) = KINDS.into_iter().find(|kind| *kind == word) {
            let name = after.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
            return (!name.is_empty()).then_some(Item { line, kind, name: name.to_owned(), is_public });
        }
        if !BEFORE.contains(&word) {
            return None;
        }
        rest = after;
    }
}

/// Whether an item is visible outside its module, and the text after its visibility.
fn visibility(text: &str) -> (bool, &str) {
    match text.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (true, rest.split_once(") ").map_or("", |(_, rest)| rest)),
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        _ => (false, text),
    }
}

const KINDS: [&str; 5] = ["enum", "fn", "struct", "trait", "union"];

/// Words before the kind.
const BEFORE: [&str; 5] = ["async", "const", "extern", "unsafe", "\"C\""];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_with_visibility() {
        let code = "pub(crate) async fn a<T>() {}\nstruct B;\n    pub enum C {\nconst D: u8 = 1;\n// fn e\nlet f = 1;\n";
        let found: Vec<_> =
            items(code).into_iter().map(|item| (item.line, item.kind, item.is_public, item.name)).collect();
        let expected = [(1, "fn", true, "a"), (2, "struct", false, "B"), (3, "enum", true, "C")];
        assert_eq!(
            found,
            expected.map(|(line, kind, is_public, name)| (line, kind, is_public, name.to_owned()))
        );
    }

    #[test]
    fn visibility_is_cut_off() {
        assert_eq!(visibility("pub(in crate::a) fn b"), (true, "fn b"));
        assert_eq!(visibility("public = 1"), (false, "public = 1"));
    }
}
