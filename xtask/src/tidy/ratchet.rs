//! Findings that are counted instead of forbidden: `xtask/tidy/ratchet.toml` records how many
//! findings of a rule a folder has, and the number can only fall.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, anyhow};

use super::source::TextFile;
use crate::root;

/// A finding of a counted rule.
#[derive(Debug)]
pub(super) struct Finding {
    rule: &'static str,
    folder: String,
    path: PathBuf,
    /// `path:line`.
    pub(super) place: String,
    /// The fault and its remedy.
    pub(super) text: String,
    /// The weight of the finding.
    pub(super) count: usize,
}

impl Finding {
    pub(super) fn new(rule: &'static str, source: &TextFile, line: usize, text: String) -> Self {
        let (folder, path) = (source.folder.clone(), source.path.clone());
        Self { rule, folder, path, place: source.at(line), text, count: 1 }
    }

    /// A finding about a folder.
    pub(super) fn about(rule: &'static str, folder: &str, path: &Path, text: String) -> Self {
        let place = path.display().to_string();
        Self { rule, folder: folder.to_owned(), path: path.to_owned(), place, text, count: 1 }
    }

    /// Counts the finding for all folders together.
    pub(super) fn of_all(self) -> Self {
        Self { folder: "all".to_owned(), ..self }
    }

    pub(super) fn with_count(self, count: usize) -> Self {
        Self { count, ..self }
    }
}

/// Rule, folder, number of findings.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct RuleCounts(BTreeMap<String, BTreeMap<String, usize>>);

impl RuleCounts {
    pub(super) fn of(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            let folders = counts.0.entry(finding.rule.to_owned()).or_default();
            *folders.entry(finding.folder.clone()).or_default() += finding.count;
        }
        counts
    }

    /// The recorded counts; `None` without a file.
    pub(super) fn read() -> anyhow::Result<Option<Self>> {
        let text = match fs::read_to_string(root().join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context(format!("cannot read {FILE}")),
        };
        let counts = toml::from_str(&text).map_err(|error| anyhow!("{FILE}: {error}"))?;
        Ok(Some(Self(counts)))
    }

    pub(super) fn write(&self) -> anyhow::Result<()> {
        fs::write(root().join(FILE), self.toml()).with_context(|| format!("cannot write {FILE}"))
    }

    fn toml(&self) -> String {
        let table = |(rule, folders): (&String, &BTreeMap<String, usize>)| {
            let lines: Vec<_> =
                folders.iter().map(|(folder, count)| format!("{folder} = {count}\n")).collect();
            format!("\n[{rule}]\n{}", lines.concat())
        };
        let tables: Vec<_> = self.0.iter().map(table).collect();
        format!("{HEADER}{}", tables.concat())
    }

    fn get(&self, rule: &str, folder: &str) -> usize {
        self.0.get(rule).and_then(|folders| folders.get(folder)).copied().unwrap_or(0)
    }

    /// These counts, but none above the present one.
    pub(super) fn lowered(&self, present: &Self) -> Self {
        let mut lowered = Self::default();
        for (rule, folders) in &self.0 {
            let folders =
                folders.iter().map(|(folder, &count)| (folder, count.min(present.get(rule, folder))));
            let left: BTreeMap<_, _> = folders
                .filter(|&(_, count)| count > 0)
                .map(|(folder, count)| (folder.clone(), count))
                .collect();
            if !left.is_empty() {
                lowered.0.insert(rule.clone(), left);
            }
        }
        lowered
    }

    fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .flat_map(|(rule, folders)| folders.keys().map(|folder| (rule.as_str(), folder.as_str())))
    }
}

/// A sentence for each count that differs from the recorded one, after the findings that it counts.
pub(super) fn differences(findings: &[Finding], recorded: &RuleCounts) -> Vec<String> {
    let present = RuleCounts::of(findings);
    let keys: BTreeSet<_> = present.keys().chain(recorded.keys()).collect();
    let mut out = Vec::new();
    for (rule, folder) in keys {
        let (now, before) = (present.get(rule, folder), recorded.get(rule, folder));
        match now.cmp(&before) {
            Ordering::Equal => {}
            Ordering::Greater => {
                out.extend(shown(findings.iter().filter(|it| it.rule == rule && it.folder == folder)));
                out.push(format!(
                    "{FILE}: the count of {rule} in {folder} is {now}, recorded {before}; correct findings \
                     above until they are equal"
                ));
            }
            Ordering::Less => out.push(format!(
                "{FILE}: the count of {rule} in {folder} is {now}, recorded {before}; \
                 run `cargo xtask tidy --lower`"
            )),
        }
    }
    out
}

/// The finding if no counts are recorded.
pub(super) fn missing() -> String {
    format!("{FILE}: does not exist; run `cargo xtask tidy --lower` to write it")
}

/// The findings in files that changed last come first; these are probably new.
fn shown<'f>(findings: impl Iterator<Item = &'f Finding>) -> Vec<String> {
    let mut findings: Vec<_> = findings.collect();
    findings.sort_by_cached_key(|finding| Reverse(changed(&finding.path)));
    let left = findings.len().saturating_sub(SHOWN);
    let mut lines: Vec<_> =
        findings.iter().take(SHOWN).map(|finding| format!("{}: {}", finding.place, finding.text)).collect();
    if left > 0 {
        lines.push(format!("and {left} more in files that changed earlier"));
    }
    lines
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(root().join(path)).and_then(|data| data.modified()).ok()
}

const FILE: &str = "xtask/tidy/ratchet.toml";

const HEADER: &str = "\
# How many findings of a rule each crate or folder still has. `cargo xtask tidy` fails if one has more or fewer.
# `cargo xtask tidy --lower` writes the present counts where they are lower. To write the file from nothing, for
# example after crates were renamed, delete it first.
";

/// Findings that are listed per rule and folder.
const SHOWN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(count: usize) -> Vec<Finding> {
        let source = TextFile::new("crates/a/b.rs", "a", "");
        (1..=count).map(|line| Finding::new("prose", &source, line, "is wrong; do it".to_owned())).collect()
    }

    #[test]
    fn count_as_recorded_passes() {
        assert_eq!(differences(&findings(2), &RuleCounts::of(&findings(2))), [""; 0]);
    }

    #[test]
    fn higher_count_is_listed_with_its_findings() {
        let said = differences(&findings(2), &RuleCounts::of(&findings(1)));
        assert_eq!(said[..2], ["crates/a/b.rs:1: is wrong; do it", "crates/a/b.rs:2: is wrong; do it"]);
        assert!(said[2].contains("the count of prose in a is 2, recorded 1; correct"), "{said:?}");
        let many = differences(&findings(SHOWN + 3), &RuleCounts::default());
        assert_eq!(many[SHOWN], "and 3 more in files that changed earlier");
    }

    #[test]
    fn lower_count_names_the_command() {
        let said = differences(&findings(1), &RuleCounts::of(&findings(2)));
        assert!(said[0].ends_with("run `cargo xtask tidy --lower`"), "{said:?}");
    }

    #[test]
    fn lowered_counts_never_rise() {
        let (one, two) = (RuleCounts::of(&findings(1)), RuleCounts::of(&findings(2)));
        assert_eq!(two.lowered(&one), one);
        assert_eq!(one.lowered(&two), one);
        assert_eq!(one.lowered(&RuleCounts::default()), RuleCounts::default());
        assert_eq!(RuleCounts::default().lowered(&one), RuleCounts::default());
    }

    #[test]
    fn file_is_read_as_written() {
        let counts = RuleCounts::of(&findings(2));
        assert_eq!(RuleCounts(toml::from_str(&counts.toml()).unwrap()), counts);
    }
}
