//! Rule `folder-size`: a folder has few files, so that a reader can know all of them.

use std::{collections::BTreeMap, path::Path};

use super::{ratchet::Finding, source::TextFile};

/// A finding per folder with too many Rust files. Its weight is the number of files above the
/// limit.
pub(super) fn findings(sources: &[TextFile]) -> Vec<Finding> {
    let mut folders: BTreeMap<&Path, Vec<&TextFile>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        folders.entry(source.path.parent().unwrap_or(Path::new(""))).or_default().push(source);
    }
    folders.retain(|_, files| files.len() > MOST);
    let finding = |(folder, files): (&Path, Vec<&TextFile>)| {
        let text = format!(
            "the folder {} has {} files; group them in folders of at most {MOST}",
            folder.display(),
            files.len()
        );
        Finding::new("folder-size", files[0], 1, text).with_count(files.len() - MOST)
    };
    folders.into_iter().map(finding).collect()
}

/// Files in a folder.
const MOST: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: usize) -> Vec<TextFile> {
        (0..files).map(|index| TextFile::new(format!("a/src/f{index}.rs"), "a", "")).collect()
    }

    #[test]
    fn folder_with_too_many_files_is_found() {
        let found = findings(&folder(17));
        assert_eq!(found.iter().map(|finding| finding.count).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn folder_of_fifteen_files_passes() {
        assert_eq!(findings(&folder(15)).len(), 0);
    }
}
