//! `cargo xtask verify mutants`: runs each scenario, and copies of it without the feature that it
//! demonstrates (mutants). A claim that also holds for a mutant does not depend on the feature.

mod copy;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use report::Report;
use scenario::{Mutant, Plan};

use self::table::Row;
use crate::{release, root};

pub(crate) fn mutants(words: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(words)?;
    let scenarios = scenarios(&options.names)?;
    let program = options.program()?;
    let mut rows = Vec::new();
    for path in &scenarios {
        rows.extend(verify(path, &program)?);
    }
    print!("{}", table::table(&rows));
    let failed = table::failed(&rows);
    ensure!(
        failed.is_empty(),
        "claims that do not depend on the feature of their scenario: {}",
        failed.join("; ")
    );
    Ok(())
}

fn verify(path: &Path, program: &Path) -> anyhow::Result<Vec<Row>> {
    let plan = Plan::read(path)?;
    let out = root().join("target/mutants").join(&plan.name);
    eprintln!("{}", plan.name);
    let original = run(program, path, &out.join("original"));
    let mut rows = Vec::new();
    for (number, mutant) in (1..).zip(&plan.mutants) {
        eprintln!("{} without {}", plan.name, mutant.without);
        let folder = out.join(format!("mutant-{number}"));
        let changed = copy::copy(path, mutant, &folder)?;
        let changed = run(program, &changed, &folder.join("out"));
        rows.extend(judge(&plan.name, mutant, &original, &changed));
    }
    Ok(rows)
}

fn judge(
    scenario: &str,
    mutant: &Mutant,
    original: &anyhow::Result<Report>,
    changed: &anyhow::Result<Report>,
) -> Vec<Row> {
    let row = |claim: &String| {
        let row = Row {
            scenario: scenario.to_owned(),
            without: mutant.without.clone(),
            claim: claim.clone(),
            original: table::said(original, claim),
            mutant: table::said(changed, claim),
        };
        eprintln!("  {}: {claim}\n    with:    {}\n    without: {}", row.verdict(), row.original, row.mutant);
        row
    };
    mutant.fails.iter().map(row).collect()
}

/// Exit code 1 is allowed: it means that a claim failed or the machine was too busy, and the report
/// contains the details.
fn run(program: &Path, scenario: &Path, out: &Path) -> anyhow::Result<Report> {
    let _ = fs::remove_dir_all(out);
    let mut command = Command::new(program);
    command.arg("run").arg(scenario).arg("--out").arg(out).args(["--json"]).current_dir(root());
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let said = String::from_utf8_lossy(&output.stderr);
        let why =
            said.lines().rev().find(|line| line.starts_with("error: ")).unwrap_or("error: it broke off");
        bail!("{}", why.trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("its result is not a report")
}

fn scenarios(names: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let folder = root().join("scenarios");
    if !names.is_empty() {
        let named = names.iter().map(|name| folder.join(format!("{name}.toml")));
        let named: Vec<_> = named.collect();
        if let Some(missing) = named.iter().find(|path| !path.exists()) {
            bail!("no scenario {}", missing.display());
        }
        return Ok(named);
    }
    let mut all: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    all.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    all.sort();
    Ok(all)
}

#[derive(Default)]
struct Options {
    names: Vec<String>,
    program: Option<PathBuf>,
}

impl Options {
    fn read(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--program" => {
                    options.program = Some(words.next().context("--program needs a file")?.into());
                }
                name => options.names.push(name.trim_end_matches(".toml").to_owned()),
            }
        }
        Ok(options)
    }

    fn program(&self) -> anyhow::Result<PathBuf> {
        if let Some(program) = &self.program {
            return program.canonicalize().with_context(|| format!("no program {}", program.display()));
        }
        release::build()?;
        Ok(root().join("target/release/longhaul"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_has_a_mutant_whose_changes_fit_it() {
        for path in scenarios(&[]).unwrap() {
            let plan = Plan::read(&path).unwrap();
            assert!(!plan.mutants.is_empty(), "{} names no [[mutant]]", plan.name);
            for mutant in &plan.mutants {
                let folder = tempfile::tempdir().unwrap();
                let changed = copy::copy(&path, mutant, folder.path()).unwrap();
                let changed = Plan::read(&changed).unwrap();
                let texts =
                    |plan: &Plan| plan.claims.iter().map(|claim| claim.text.clone()).collect::<Vec<_>>();
                assert_eq!(texts(&plan), texts(&changed), "{} without {}", plan.name, mutant.without);
            }
        }
    }

    #[test]
    fn scenarios_are_found_by_name() {
        let names = ["quick".to_owned()];
        assert!(scenarios(&names).unwrap()[0].ends_with("scenarios/quick.toml"));
        assert!(scenarios(&["quik".to_owned()]).unwrap_err().to_string().contains("quik.toml"));
    }
}
