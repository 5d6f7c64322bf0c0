//! Random fault injection in data centres on a planet: processes are killed, links are cut, a disk is full,
//! clocks jump by hours. The responses that clients received are checked against the documented guarantees. A
//! seed determines the faults and the requests.

mod ask;
mod centres;
mod clock;
mod cluster;
mod kv;
mod network;
mod outcome;
mod rng;
mod scenarios;
mod server;
mod tiers;
mod timeline;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use nix::unistd::Uid;

use self::{cluster::Place, outcome::Total};
use crate::root;

pub(crate) fn check(program: &str) -> anyhow::Result<()> {
    ["kv", "tiers"].into_iter().try_for_each(|subject| judge(subject, &["1", "--program", program]))
}

#[derive(Debug, Clone, Copy)]
enum Subject {
    Kv,
    Tiers,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Self::Kv => "kv",
            Self::Tiers => "tiers",
        }
    }
}

struct Options {
    runs: u64,
    seed: u64,
    is_json: bool,
    program: Option<PathBuf>,
}

pub(crate) fn judge(subject: &str, words: &[&str]) -> anyhow::Result<()> {
    let subject = match subject {
        "kv" => Subject::Kv,
        "tiers" => Subject::Tiers,
        _ => bail!("expected kv or tiers, and how many runs"),
    };
    let options = Options::read(words)?;
    if !Uid::effective().is_root() {
        return judge_as_root(subject, words);
    }
    let program = options.program()?;
    let clocks = Path::new(FAKETIME);
    let clocks = clocks.exists().then_some(clocks);
    if clocks.is_none() {
        eprintln!("no clock is set: {FAKETIME} is not there (Debian: libfaketime)");
    }
    let place = Place::up(&program)?;
    let origin = tiers::Origin::start(&place)?;
    let mut total = Total::default();
    let run = |seed| match subject {
        Subject::Kv => kv::run(&place, seed, clocks),
        Subject::Tiers => tiers::run(&place, &origin, seed, clocks),
    };
    for seed in options.seed..options.seed + options.runs {
        match run(seed) {
            Ok(run) => {
                eprintln!("{run}");
                total.add(run);
            }
            Err(why) => {
                eprintln!("seed {seed}\n  INVALID: {why:#}");
                total.add_failed(seed, format!("{why:#}"));
            }
        }
    }
    match options.is_json {
        true => println!("{:#}", total.json(subject.name())),
        false => println!("{}: {total}", subject.name()),
    }
    ensure!(!total.has_violations(), "promises were broken");
    ensure!(total.is_worth_something(), "no run is valid");
    Ok(())
}

/// Only root can enter the network of a host, so the judge runs in a user namespace as root.
fn judge_as_root(subject: Subject, words: &[&str]) -> anyhow::Result<()> {
    let own = std::env::current_exe()?;
    let own = own.to_str().context("the path of xtask is not UTF-8")?;
    let judge = ["--map-root-user", "--mount", own, "judge", "faults", subject.name()];
    crate::run(".", "unshare", &[&judge, words].concat())
}

impl Options {
    fn read(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { runs: 0, seed: 1, is_json: false, program: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match *word {
                "--seed" => options.seed = value()?.parse().context("--seed is a number")?,
                "--program" => options.program = Some(PathBuf::from(value()?)),
                "--json" => options.is_json = true,
                runs => {
                    options.runs = runs.parse().with_context(|| format!("{runs} is not a number of runs"))?;
                }
            }
        }
        ensure!(options.runs > 0, "how many runs? Such as: cargo xtask judge faults kv 200");
        Ok(options)
    }

    fn program(&self) -> anyhow::Result<PathBuf> {
        if let Some(program) = &self.program {
            return program.canonicalize().with_context(|| format!("no program {}", program.display()));
        }
        crate::run(".", "cargo", &["build", "--quiet", "--package", "longhaul"])?;
        Ok(root().join("target/debug/longhaul"))
    }
}

const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
