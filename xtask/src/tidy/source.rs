//! The files that the rules read, each with the name under which its findings are counted.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{
    items::{self, Item},
    prose::blocks::{self, Block},
};
use crate::root;

/// A text file of the project.
pub(super) struct TextFile {
    pub(super) path: PathBuf,
    /// The package that contains the file, otherwise the top folder; "top" for files without a
    /// folder.
    pub(super) folder: String,
    pub(super) text: String,
    items: OnceLock<Vec<Item>>,
    product_lines: OnceLock<usize>,
    blocks: OnceLock<Vec<Block>>,
}

impl TextFile {
    pub(super) fn new(path: impl Into<PathBuf>, folder: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, folder, text) = (path.into(), folder.into(), text.into());
        Self {
            path,
            folder,
            text,
            items: OnceLock::new(),
            product_lines: OnceLock::new(),
            blocks: OnceLock::new(),
        }
    }

    /// The functions and types of a Rust file.
    pub(super) fn items(&self) -> &[Item] {
        self.items.get_or_init(|| if self.is_rust() { items::items(&self.text) } else { Vec::new() })
    }

    /// The functions and types of the product.
    pub(super) fn product_items(&self) -> impl Iterator<Item = &Item> {
        let count = || self.product().map_or(0, |code| code.lines().count());
        let lines = *self.product_lines.get_or_init(count);
        self.items().iter().take_while(move |item| item.line <= lines)
    }

    /// The paragraphs of prose.
    pub(super) fn blocks(&self) -> &[Block] {
        self.blocks.get_or_init(|| blocks::blocks(&self.path, &self.text))
    }

    /// The place of a line for a finding.
    pub(super) fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    pub(super) fn is_rust(&self) -> bool {
        super::is_rust(&self.path)
    }

    /// The code without its tests, if it is Rust outside a folder of tests, benchmarks or examples.
    pub(super) fn product(&self) -> Option<&str> {
        let is_aside = |part: &Path| TEST_FOLDERS.iter().any(|folder| part == Path::new(folder));
        let is_product = self.is_rust()
            && !super::is_test(&self.path)
            && !self.path.iter().any(|part| is_aside(Path::new(part)));
        is_product.then(|| without_tests(&self.text))
    }
}

/// Reads all files that are text.
pub(super) fn read(files: &[PathBuf]) -> Vec<TextFile> {
    let texts = files.iter().filter_map(|path| Some((path, fs::read_to_string(root().join(path)).ok()?)));
    let texts: Vec<_> = texts.collect();
    let manifests = texts.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let packages: BTreeMap<_, _> =
        manifests.filter_map(|(path, text)| Some((path.parent()?.to_owned(), package(text)?))).collect();
    let source = |(path, text): (&PathBuf, String)| TextFile::new(path, folder(path, &packages), text);
    texts.into_iter().map(source).collect()
}

/// The code before the test module at the end of a file.
pub(super) fn without_tests(text: &str) -> &str {
    let at_end = text.trim_end().strip_suffix("#[cfg(test)]\nmod tests;");
    let inline = || text.split_once("#[cfg(test)]\nmod tests {").map(|(before, _)| before);
    at_end.or_else(inline).unwrap_or(text)
}

fn package(manifest: &str) -> Option<String> {
    let manifest: toml::Table = manifest.parse().ok()?;
    Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
}

fn folder(path: &Path, packages: &BTreeMap<PathBuf, String>) -> String {
    if let Some(name) = path.ancestors().skip(1).find_map(|folder| packages.get(folder)) {
        return name.clone();
    }
    let mut parts = path.iter();
    match (parts.next(), parts.next()) {
        (Some(first), Some(_)) => first.to_string_lossy().into_owned(),
        _ => "top".to_owned(),
    }
}

const TEST_FOLDERS: [&str; 3] = ["test", "benches", "examples"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_the_package_or_the_top_folder() {
        let packages = [(PathBuf::from("crates/edge/node"), "lh-edge".to_owned())].into();
        let folder = |path: &str| folder(Path::new(path), &packages);
        assert_eq!(folder("crates/edge/node/src/lib.rs"), "lh-edge");
        assert_eq!(folder("docs/pictures/a.svg"), "docs");
        assert_eq!(folder("README.md"), "top");
    }

    #[test]
    fn product_ends_before_the_tests() {
        let source =
            |path: &str| TextFile::new(path, "a", "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n");
        assert_eq!(source("crates/a/src/b.rs").product(), Some("fn a() {}\n"));
        assert_eq!(source("crates/a/src/b.rs").product_items().count(), 1);
        assert_eq!(source("crates/a/tests/b.rs").product(), None);
        assert_eq!(source("docs/b.md").product(), None);
    }
}
