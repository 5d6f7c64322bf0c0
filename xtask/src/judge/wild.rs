//! A differential run: the same scripts of requests and origin answers against the edge, nginx and Varnish. A case fails if the edge does
//! something that its RFC forbids, or if a peer does something else and the list of differences does not explain it.

mod case;
mod chance;
mod client;
mod clock;
mod difference;
mod message;
mod model;
mod origin;
mod parallel;
mod play;
mod servers;
mod summary;
mod vtc;
mod wpt;

use std::path::Path;

use anyhow::{Context, ensure};

use self::{
    case::Case,
    difference::{Explanations, Kind},
    parallel::{on_each, side_by_side},
    play::play,
    summary::Summary,
};

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    seed: u64,
    count: usize,
    is_json: bool,
    is_verbose: bool,
    only: Option<String>,
    tests: Option<Tests>,
}

#[derive(Debug, PartialEq, Eq)]
enum Tests {
    WebPlatform(String),
    Varnish(String),
}

pub(crate) fn judge(words: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(words)?;
    match &options.tests {
        Some(Tests::WebPlatform(folder)) => return wpt::judge(Path::new(folder)),
        Some(Tests::Varnish(folder)) => return vtc::judge(Path::new(folder), options.only.as_deref()),
        None => {}
    }
    let mut explanations = Explanations::read(include_str!("wild/differences.toml"))?;
    let cases: Vec<_> = cases()?.into_iter().filter(|case| options.wants(case)).collect();
    let folder = tempfile::tempdir()?;
    eprintln!("starting the edge, nginx and Varnish");
    let servers = servers::start(folder.path())?;
    eprintln!("{} named cases", cases.len());
    let played = side_by_side(&cases, |at, case| {
        on_each(&servers, |server| (!case.lacks(server.name)).then(|| play(case, server, &format!("w{at}w"))))
    });
    let mut summary = Summary::default();
    for (case, transcripts) in cases.iter().zip(&played) {
        summary.add(case, transcripts, &mut explanations, options.is_verbose);
    }
    if options.only.is_none() {
        eprintln!("{} random scripts from seed {}", options.count, options.seed);
        chance::run(&servers, options.seed, options.count, &mut explanations, &mut summary);
        summary.unused(&explanations, Kind::Named);
        if options.count >= MANY {
            summary.unused(&explanations, Kind::Random);
        }
    }
    summary.show(options.is_json);
    ensure!(summary.is_good(), "the edge breaks a rule, or the list of differences is not right");
    Ok(())
}

fn cases() -> anyhow::Result<Vec<Case>> {
    let mut all = Vec::new();
    for (name, text) in FILES {
        all.extend(case::read(text).with_context(|| format!("cases/{name}.toml"))?);
    }
    Ok(all)
}

impl Options {
    fn read(words: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { seed: 1, count: 200, ..Self::default() };
        let mut numbers: Vec<u64> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words.next().map(|word| (*word).to_owned()).with_context(|| format!("{word} needs a value"))
            };
            match *word {
                "--json" => options.is_json = true,
                "--verbose" => options.is_verbose = true,
                "--only" => options.only = Some(value()?),
                "--wpt" => options.tests = Some(Tests::WebPlatform(value()?)),
                "--varnishtest" => options.tests = Some(Tests::Varnish(value()?)),
                number => {
                    numbers.push(number.parse::<u64>().with_context(|| format!("{number} is not a number"))?);
                }
            }
        }
        ensure!(numbers.len() <= 2, "expected a seed and a count, nothing more");
        if let Some(seed) = numbers.first() {
            options.seed = *seed;
        }
        if let Some(count) = numbers.get(1) {
            options.count = usize::try_from(*count)?;
        }
        Ok(options)
    }

    fn wants(&self, case: &Case) -> bool {
        self.only.as_ref().is_none_or(|part| case.name.contains(part.as_str()))
    }
}

const FILES: &[(&str, &str)] = &[
    ("collapse", include_str!("wild/cases/collapse.toml")),
    ("merge", include_str!("wild/cases/merge.toml")),
    ("recent", include_str!("wild/cases/recent.toml")),
    ("request", include_str!("wild/cases/request.toml")),
    ("path", include_str!("wild/cases/path.toml")),
    ("ttl", include_str!("wild/cases/ttl.toml")),
    ("broken", include_str!("wild/cases/broken.toml")),
    ("invalidate", include_str!("wild/cases/invalidate.toml")),
    ("reuse", include_str!("wild/cases/reuse.toml")),
];

/// A number of random scripts in which each difference of the list occurs.
const MANY: usize = 1000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_committed_cases_can_be_read_and_have_different_names() {
        let cases = cases().unwrap();
        let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
    }

    #[test]
    fn a_seed_and_a_count_may_be_left_out() {
        assert_eq!(Options::read(&[]).unwrap().count, 200);
        let options = Options::read(&["7", "9", "--json"]).unwrap();
        assert_eq!((options.seed, options.count, options.is_json), (7, 9, true));
        assert!(Options::read(&["many"]).is_err());
    }
}
