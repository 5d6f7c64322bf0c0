//! Copies a scenario and the files in its folder, with the changes of a mutant.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use scenario::Mutant;

pub(super) fn copy(scenario: &Path, mutant: &Mutant, into: &Path) -> anyhow::Result<PathBuf> {
    let folder = scenario.parent().context("a scenario is in a folder")?;
    let name = scenario.file_name().context("a scenario is a file")?;
    let into = into.join("scenarios");
    let _ = fs::remove_dir_all(&into);
    files(folder, &into)?;
    let path = into.join(name);
    let text = fs::read_to_string(&path)?;
    fs::write(&path, without_mutants(&text)?)?;
    for change in &mutant.changes {
        let path = change.file.as_ref().map_or_else(|| path.clone(), |file| into.join(file));
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(text.contains(&change.from), "{} does not contain {:?}", path.display(), change.from);
        fs::write(&path, text.replace(&change.from, &change.to))?;
    }
    Ok(path)
}

fn without_mutants(text: &str) -> anyhow::Result<&str> {
    let Some((before, mutants)) = text.split_once("\n[[mutant]]") else { return Ok(text) };
    let later = mutants.lines().find(|line| line.starts_with('[') && *line != "[[mutant]]");
    ensure!(later.is_none(), "{} follows a mutant; mutants must be last", later.unwrap_or_default());
    Ok(before)
}

fn files(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use scenario::Change;

    use super::*;

    fn mutant(file: Option<&str>, from: &str) -> Mutant {
        let change = Change { file: file.map(PathBuf::from), from: from.to_owned(), to: "off".to_owned() };
        Mutant { without: "it".to_owned(), fails: Vec::new(), changes: vec![change] }
    }

    #[test]
    fn changes_reach_files_beside_the_scenario_and_leave_the_original() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("networks")).unwrap();
        fs::write(from.path().join("networks/n.toml"), "on, on").unwrap();
        let text = "[x]\nit = 'on'\n\n[[mutant]]\nfrom = 'on'\n\n[[mutant]]\nfrom = 'on'\n";
        let scenario = from.path().join("s.toml");
        fs::write(&scenario, text).unwrap();
        let changed = copy(&scenario, &mutant(None, "on"), to.path()).unwrap();
        assert_eq!(fs::read_to_string(&changed).unwrap(), "[x]\nit = 'off'\n");
        let changed = copy(&scenario, &mutant(Some("networks/n.toml"), "on"), to.path()).unwrap();
        assert_eq!(fs::read_to_string(&changed).unwrap(), "[x]\nit = 'on'\n");
        let beside = changed.with_file_name("networks/n.toml");
        assert_eq!(fs::read_to_string(beside).unwrap(), "off, off");
        assert_eq!(fs::read_to_string(&scenario).unwrap(), text);
        let missing = copy(&scenario, &mutant(None, "onn"), to.path()).unwrap_err().to_string();
        assert!(missing.ends_with("does not contain \"onn\""), "{missing}");
        fs::write(&scenario, text.to_owned() + "\n[y]\n").unwrap();
        let late = copy(&scenario, &mutant(None, "on"), to.path()).unwrap_err().to_string();
        assert_eq!(late, "[y] follows a mutant; mutants must be last");
    }
}
