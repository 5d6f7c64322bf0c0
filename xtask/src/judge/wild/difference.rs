//! The committed list of differences between the edge and its peers, each with its reason.

use anyhow::{Context, ensure};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    /// The case or the signature of a random script, in which `*` is any text.
    pub(super) case: String,
    pub(super) server: String,
    does: String,
    /// An RFC and section, or a documented choice.
    why: String,
    /// Whether it depends on timing, so that a run may not have it.
    #[serde(default)]
    sometimes: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Difference>,
}

pub(super) struct Explanations {
    entries: Vec<(Difference, usize)>,
}

impl Explanations {
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let file: File = toml::from_str(text).context("the list of differences")?;
        for entry in &file.difference {
            let is_known = ["nginx", "varnish"].contains(&entry.server.as_str());
            ensure!(is_known, "{}: there is no server {}", entry.case, entry.server);
            ensure!(
                !entry.does.is_empty() && !entry.why.is_empty(),
                "{}: it needs `does` and `why`",
                entry.case
            );
        }
        Ok(Self { entries: file.difference.into_iter().map(|entry| (entry, 0)).collect() })
    }

    /// All entries that fit count as needed.
    pub(super) fn explain(&mut self, case: &str, server: &str) -> bool {
        let mut is_explained = false;
        for (entry, needed) in &mut self.entries {
            if entry.server == server && fits(&entry.case, case) {
                *needed += 1;
                is_explained = true;
            }
        }
        is_explained
    }

    pub(super) fn unused(&self, kind: Kind) -> Vec<&Difference> {
        let of_kind = |entry: &Difference| entry.case.starts_with(RANDOM) == (kind == Kind::Random);
        self.entries
            .iter()
            .filter(|(entry, needed)| *needed == 0 && !entry.sometimes && of_kind(entry))
            .map(|(entry, _)| entry)
            .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Named,
    Random,
}

pub(super) const RANDOM: &str = "random: ";

fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_any_text_where_a_star_is() {
        assert!(fits("a/*", "a/b"));
        assert!(fits("*/private", "304/private"));
        assert!(fits("a*b*c", "axxbyyc"));
        assert!(!fits("a*b*c", "axxc"));
        assert!(!fits("a", "ab"));
        assert!(fits("a", "a"));
    }

    #[test]
    fn an_entry_that_explains_nothing_is_found() {
        let entry = |case: &str| {
            format!("[[difference]]\ncase = '{case}'\nserver = 'nginx'\ndoes = 'x'\nwhy = 'y'\n")
        };
        let mut list = Explanations::read(&(entry("a/*") + &entry("b"))).unwrap();
        assert!(list.explain("a/b", "nginx"));
        assert!(!list.explain("a/b", "varnish"));
        assert_eq!(list.unused(Kind::Named).len(), 1);
        assert_eq!(list.unused(Kind::Random).len(), 0);
    }

    #[test]
    fn the_committed_list_can_be_read() {
        Explanations::read(include_str!("differences.toml")).unwrap();
    }
}
