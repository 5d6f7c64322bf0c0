//! Detects a world file where a scenario is expected, and vice versa: both are TOML and share most
//! tables.

use std::{fmt, path::Path};

#[derive(Debug)]
pub(crate) struct FileKindHint {
    path: String,
    found: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    World,
    Scenario,
}

pub(crate) fn instead_of_world(path: &Path, error: anyhow::Error) -> anyhow::Error {
    instead_of(Kind::World, path, error)
}

pub(crate) fn instead_of_scenario(path: &Path, error: anyhow::Error) -> anyhow::Error {
    instead_of(Kind::Scenario, path, error)
}

fn instead_of(wanted: Kind, path: &Path, error: anyhow::Error) -> anyhow::Error {
    match config_file::read_text(path).ok().and_then(|text| kind(&text)) {
        Some(found) if found != wanted => {
            FileKindHint { path: crate::shell::shell_word(&path.display().to_string()), found }.into()
        }
        _ => error,
    }
}

/// A scenario has the table `scenario`, a world only tables of worlds.
fn kind(text: &str) -> Option<Kind> {
    let tables: toml::Table = text.parse().ok()?;
    let is_of_world = |name: &String| {
        ["world", "city", "link", "access", "host", "visitors", "anycast", "fault"].contains(&name.as_str())
    };
    if tables.contains_key("scenario") {
        Some(Kind::Scenario)
    } else if !tables.is_empty() && tables.keys().all(is_of_world) {
        Some(Kind::World)
    } else {
        None
    }
}

impl FileKindHint {
    pub(crate) fn hint(&self) -> String {
        match self.found {
            Kind::Scenario => format!("run it with: longhaul run {}", self.path),
            Kind::World => format!(
                "bring it up with: longhaul lab up {}; a scenario names it in its table [scenario]: world = \"FILE\"",
                self.path
            ),
        }
    }
}

impl fmt::Display for FileKindHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            Kind::Scenario => write!(f, "{}: this is a scenario, and a world is expected", self.path),
            Kind::World => write!(f, "{}: this is a world, and a scenario is expected", self.path),
        }
    }
}

impl std::error::Error for FileKindHint {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_tables() {
        let host = "[[host]]\nname = 'a'\ncity = 'london'\n";
        assert_eq!(kind(host), Some(Kind::World));
        assert_eq!(kind(&format!("[world]\nname = 'w'\n{host}")), Some(Kind::World));
        assert_eq!(kind(&format!("[scenario]\ntitle = 't'\n{host}")), Some(Kind::Scenario));
        assert_eq!(kind(&format!("[scenaro]\ntitle = 't'\n{host}")), None);
        assert_eq!(kind(&format!("{host}[[probe]]\nside = 's'\n")), None);
        assert_eq!(kind(""), None);
        assert_eq!(kind("[world\n"), None);
    }
}
