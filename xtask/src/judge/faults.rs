//! Data centres on a planet where things go wrong by chance - processes are killed, links are cut, a disk is full, clocks are set by hours -
//! and what their visitors were told is held against what is promised. A seed says what goes wrong and what visitors ask for.

mod ask;
mod centres;
mod chance;
mod clock;
mod kv;
mod network;
mod outcome;
mod place;
mod scenes;
mod server;
mod tiers;
mod timeline;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use nix::unistd::Uid;

use self::{outcome::Total, place::Place};
use crate::root;

/// One run of each subject, whose faults are always the same.
pub(crate) fn check(program: &str) -> anyhow::Result<()> {
    ["kv", "tiers"].into_iter().try_for_each(|subject| judge(subject, &["1", "--program", program]))
}

/// What is judged.
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

/// What is asked for on the command line.
struct Options {
    runs: u64,
    seed: u64,
    is_json: bool,
    /// Which program, if it is not to be built.
    program: Option<PathBuf>,
}

/// Makes so many runs of a subject, which is `kv` or `tiers`.
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
    ensure!(total.is_worth_something(), "no run says anything");
    Ok(())
}

/// The same in a user namespace whose root this user is: a thread can join a host's network only as root.
fn judge_as_root(subject: Subject, words: &[&str]) -> anyhow::Result<()> {
    let own = std::env::current_exe()?;
    let own = own.to_str().context("xtask lies in a folder that is no text")?;
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

    /// The program as it is tested, built if none is named.
    fn program(&self) -> anyhow::Result<PathBuf> {
        if let Some(program) = &self.program {
            return program.canonicalize().with_context(|| format!("no program {}", program.display()));
        }
        crate::run(".", "cargo", &["build", "--quiet", "--package", "longhaul"])?;
        Ok(root().join("target/debug/longhaul"))
    }
}

const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
