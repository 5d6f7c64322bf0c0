//! Command line options of `bench edge`: what to measure and how long.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};

use super::scenario::{SCENARIOS, Scenario};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) rounds: usize,
    pub(super) seconds: u32,
    pub(super) arms: Vec<Arm>,
    pub(super) before: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    Load(&'static Scenario),
    Latency,
    Idle,
}

impl Arm {
    fn all() -> impl Iterator<Item = Self> {
        SCENARIOS.iter().map(Self::Load).chain([Self::Latency, Self::Idle])
    }

    fn name(self) -> &'static str {
        match self {
            Self::Load(scenario) => scenario.name,
            Self::Latency => "latency",
            Self::Idle => "idle",
        }
    }
}

impl Options {
    pub(super) fn read(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { rounds: 5, seconds: 3, arms: Arm::all().collect(), before: None };
        let mut words = words.iter();
        while let Some(&option) = words.next() {
            let mut value = || words.next().with_context(|| format!("{option} needs a value"));
            match option {
                "--rounds" => options.rounds = number(option, value()?)?,
                "--seconds" => options.seconds = number(option, value()?)?,
                "--before" => options.before = Some(program(value()?)?),
                "--only" => {
                    options.arms = value()?.split(',').map(named).collect::<anyhow::Result<_>>()?;
                }
                _ => {
                    bail!("edge has no option \"{option}\"; it has --rounds, --seconds, --only and --before")
                }
            }
        }
        Ok(options)
    }
}

fn named(name: &str) -> anyhow::Result<Arm> {
    let names = || Arm::all().map(Arm::name).collect::<Vec<_>>().join(", ");
    let found = Arm::all().find(|arm| arm.name() == name);
    found.with_context(|| format!("no scenario \"{name}\"; there are {}", names()))
}

fn program(path: &str) -> anyhow::Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("--before {path}: expected a program"))
}

fn number<T: std::str::FromStr + PartialOrd + From<u8>>(option: &str, text: &str) -> anyhow::Result<T> {
    let number = text.parse().ok().with_context(|| format!("{option} {text}: expected a whole number"))?;
    ensure!(number >= T::from(1), "{option} {text}: expected at least 1");
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = Options::read(&["--only", "hit-64k,idle", "--rounds", "2"]).unwrap();
        let names: Vec<_> = options.arms.iter().map(|arm| arm.name()).collect();
        assert_eq!((options.rounds, options.seconds, names), (2, 3, vec!["hit-64k", "idle"]));
        assert_eq!(Options::read(&[]).unwrap().arms.len(), SCENARIOS.len() + 2);
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            (&["--rounds"][..], "--rounds needs a value"),
            (&["--rounds", "0"], "expected at least 1"),
            (&["--seconds", "x"], "expected a whole number"),
            (&["--only", "hit"], "no scenario \"hit\"; there are hit-1k,"),
            (&["--before", "/nowhere"], "expected a program"),
            (&["quickly"], "no option \"quickly\""),
        ] {
            let said = Options::read(words).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
