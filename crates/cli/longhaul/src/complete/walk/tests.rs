//! Tests of completion on incomplete command lines.

use super::walk;
use crate::Cli;

fn at(line: &str) -> (Vec<String>, bool) {
    let mut command = Cli::conventional();
    command.build();
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let (current, before) = words.split_last().unwrap();
    let next = walk(&command, before, current);
    (next.candidates.into_iter().map(|candidate| candidate.value).collect(), next.files)
}

#[track_caller]
fn candidates(line: &str, expected: &[&str]) {
    let (found, files) = at(line);
    assert_eq!(found, expected, "{line}");
    assert!(!files, "{line}");
}

#[test]
fn commands_and_their_commands() {
    candidates("pr", &["probe"]);
    candidates("lab c", &["cp", "catchment", "capture"]);
    candidates("lab fault ho", &["host"]);
    candidates("lab nonsense ", &[]);
    candidates("comple", &["completions"]);
}

#[test]
fn flags_by_what_was_given_already() {
    candidates("lab down --", &["--planet", "--all", "--json", "--help", "--version"]);
    candidates("lab down --all --j", &["--json"]);
    candidates("lab down --json --j", &[]);
    candidates("lab capture --link a-b --li", &["--link"]);
    candidates("ping --duration 3s --jso", &["--json"]);
}

#[test]
fn values_of_flags_in_both_spellings() {
    candidates("compare a.csv --metric ttfb_", &["ttfb_without_dns"]);
    candidates("compare a.csv --metric=ttfb_", &["--metric=ttfb_without_dns"]);
    candidates("completions f", &["fish"]);
    candidates("probe http://a --count ", &[]);
}

#[test]
fn files_where_files_are_expected() {
    for line in
        ["run ", "lab up w", "lab map -o ", "merge a.csv ", "compare ", "compare a.csv b", "lab map --out="]
    {
        assert_eq!(at(line), (Vec::new(), true), "{line}");
    }
    assert!(at("lab exec visitor -- l").1);
}

#[test]
fn a_value_that_may_follow_a_flag_does_not_hide_what_comes_instead() {
    let (found, _) = at("lab fault host h --down c");
    assert_eq!(found, ["carrier"]);
    let (found, _) = at("lab fault host h --down carrier --lo");
    assert_eq!(found, ["--loss"]);
}
