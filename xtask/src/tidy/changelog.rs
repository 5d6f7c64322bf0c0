//! Rule `changelog`: entries are one line each, and releases are frequent.

use super::{ratchet::Finding, source::TextFile};

/// Entries that are too long, and releases with too many entries.
pub(super) fn findings(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with("CHANGELOG.md")) {
        for Entry { line, length } in entries(&source.text).into_iter().filter(|entry| entry.length > LONGEST)
        {
            let text = format!("the entry has {length} characters; state the effect for users in {LONGEST}");
            findings.push(Finding::new("changelog", source, line, text));
        }
        for (line, entries) in releases(&source.text).into_iter().filter(|&(_, entries)| entries > MOST) {
            let text = format!("the release has {entries} entries; release after {MOST}, or merge entries");
            findings.push(Finding::new("changelog", source, line, text));
        }
    }
    findings
}

struct Entry {
    line: usize,
    /// Characters, without the sign of the list.
    length: usize,
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let length = line.trim().chars().count();
        if line.starts_with("- ") {
            entries.push(Entry { line: index + 1, length: length - 2 });
            is_open = true;
        } else if is_open && line.starts_with("  ") {
            entries.last_mut().into_iter().for_each(|entry| entry.length += 1 + length);
        } else {
            is_open = false;
        }
    }
    entries
}

/// The line of each release, and its number of entries.
fn releases(text: &str) -> Vec<(usize, usize)> {
    let mut releases: Vec<(usize, usize)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("## ") {
            releases.push((index + 1, 0));
        } else if line.starts_with("- ") {
            releases.last_mut().into_iter().for_each(|(_, entries)| *entries += 1);
        }
    }
    releases
}

/// Characters of an entry.
const LONGEST: usize = 160;

/// Entries of a release.
const MOST: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<String> {
        let source = TextFile::new("CHANGELOG.md", "top", text);
        findings(&[source]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn long_entry_is_found_on_one_line_and_on_two() {
        let half = "n".repeat(80);
        assert_eq!(
            places(&format!("## 1\n\n- {half}\n  {half}\n- short\n- {half}{half}n\n")),
            ["CHANGELOG.md:3", "CHANGELOG.md:6"]
        );
        assert_eq!(places(&format!("- {half}{half}\n\n  text\n")), [""; 0]);
    }

    #[test]
    fn release_with_many_entries_is_found() {
        assert_eq!(
            places(&format!("## 2\n{}## 1\n{}", "- a\n".repeat(60), "- a\n".repeat(61))),
            ["CHANGELOG.md:62"]
        );
    }
}
