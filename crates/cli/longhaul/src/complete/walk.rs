//! Walks the clap commands along the words of a command line and returns the completions of the
//! last word.

// circle: what fits after some words depends on the values of those before, and values on the words.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, Command, ValueHint};

use super::values;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub candidates: Vec<Candidate>,
    pub files: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub value: String,
    pub what: String,
}

impl Candidate {
    pub(super) fn new(value: impl Into<String>, what: impl Into<String>) -> Self {
        Self { value: value.into(), what: what.into() }
    }
}

pub(super) struct Reached<'c> {
    pub command: &'c Command,
    pub path: String,
    pub given: Vec<(&'c Arg, String)>,
    flags: Vec<&'c Arg>,
    positions: usize,
    /// The option whose value is expected next, required or optional.
    pending: Option<&'c Arg>,
    is_behind_dashes: bool,
}

/// `command` must have been built.
pub(super) fn walk(command: &Command, before: &[String], current: &str) -> Next {
    let mut reached = Reached {
        command,
        path: String::new(),
        given: Vec::new(),
        flags: Vec::new(),
        positions: 0,
        pending: None,
        is_behind_dashes: false,
    };
    for word in before {
        reached.step(word);
    }
    let mut next = reached.next(current);
    next.candidates.retain(|candidate| candidate.value.starts_with(current));
    // An option with an optional value also offers the candidates of the next positional.
    let mut seen = BTreeSet::new();
    next.candidates.retain(|candidate| seen.insert(candidate.value.clone()));
    next
}

impl<'c> Reached<'c> {
    fn step(&mut self, word: &str) {
        if let Some(arg) = self.pending.take()
            && (needs_value(arg) || !word.starts_with('-'))
        {
            self.given.push((arg, word.to_owned()));
        } else if self.is_behind_dashes {
            self.positions += 1;
        } else if word == "--" {
            self.is_behind_dashes = true;
        } else if word.starts_with('-') && word.len() > 1 {
            self.flag(word);
        } else if self.positions == 0
            && let Some(command) = self.command.find_subcommand(word)
        {
            self.command = command;
            self.path = format!("{} {}", self.path, command.get_name()).trim().to_owned();
        } else {
            if let Some(arg) = self.positional() {
                self.given.push((arg, word.to_owned()));
            }
            self.positions += 1;
        }
    }

    fn flag(&mut self, word: &str) {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let Some(arg) = self.named(name) else { return };
        self.flags.push(arg);
        match value {
            Some(value) => self.given.push((arg, value.to_owned())),
            None if takes_next(arg) => self.pending = Some(arg),
            None => {}
        }
    }

    /// The argument of `--name`, or of the last letter of `-abc`.
    fn named(&self, name: &str) -> Option<&'c Arg> {
        let mut arguments = self.command.get_arguments();
        if let Some(long) = name.strip_prefix("--") {
            arguments.find(|arg| {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long() == Some(long) || aliases.contains(&long)
            })
        } else {
            let last = name.chars().next_back();
            arguments.find(|arg| arg.get_short().is_some() && arg.get_short() == last)
        }
    }

    fn positional(&self) -> Option<&'c Arg> {
        let all: Vec<_> = self.command.get_positionals().collect();
        let is_last = |arg: &&&Arg| arg.is_last_set() == self.is_behind_dashes;
        let fitting: Vec<_> = all.iter().filter(is_last).copied().collect();
        let repeats = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Append) || takes_many(arg);
        fitting.get(self.positions).copied().or_else(|| fitting.last().copied().filter(repeats))
    }

    fn next(&self, current: &str) -> Next {
        if let Some(arg) = self.pending {
            let mut next = self.values(arg, "", current);
            if !needs_value(arg) {
                next.candidates.extend(self.positional_values(current).candidates);
            }
            return next;
        }
        if self.is_behind_dashes {
            return Next { files: true, ..Next::default() };
        }
        if let Some((name, value)) = current.split_once('=')
            && name.starts_with("--")
            && let Some(arg) = self.named(name)
        {
            return self.values(arg, &format!("{name}="), value);
        }
        if current.starts_with('-') {
            return Next { candidates: self.flags(), files: false };
        }
        let mut next = self.positional_values(current);
        if self.positions == 0 {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let candidates = commands.map(|command| {
                let about = command.get_about().map(ToString::to_string).unwrap_or_default();
                Candidate::new(command.get_name(), about)
            });
            next.candidates.splice(0..0, candidates);
        }
        next
    }

    fn positional_values(&self, current: &str) -> Next {
        self.positional().map_or_else(Next::default, |arg| self.values(arg, "", current))
    }

    fn values(&self, arg: &Arg, prefix: &str, current: &str) -> Next {
        let mut next = match values::of(self, arg.get_id().as_str(), current) {
            Some(next) => next,
            None => {
                let possible = arg.get_possible_values();
                let shown = possible.iter().filter(|value| !value.is_hide_set());
                let candidates = shown.map(|value| {
                    let help = value.get_help().map(ToString::to_string).unwrap_or_default();
                    Candidate::new(value.get_name(), help)
                });
                let is_path = matches!(
                    arg.get_value_hint(),
                    ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
                );
                Next { candidates: candidates.collect(), files: is_path }
            }
        };
        for candidate in &mut next.candidates {
            candidate.value.insert_str(0, prefix);
        }
        next
    }

    fn flags(&self) -> Vec<Candidate> {
        let all = self.command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
        let fitting = all.filter(|arg| {
            let is_given = self.flags.iter().any(|given| given.get_id() == arg.get_id());
            !is_given || matches!(arg.get_action(), ArgAction::Append | ArgAction::Count)
        });
        let long = |arg: &Arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            arg.get_long().map(|long| Candidate::new(format!("--{long}"), help))
        };
        fitting.filter_map(long).collect()
    }

    pub(super) fn value(&self, id: &str) -> Option<&str> {
        let mut given = self.given.iter().rev();
        given.find(|(arg, _)| arg.get_id() == id).map(|(_, value)| value.as_str())
    }
}

fn takes_next(arg: &Arg) -> bool {
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    takes_values && !arg.is_require_equals_set()
}

fn needs_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.min_values() > 0)
}

fn takes_many(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.max_values() > 1)
}

#[cfg(test)]
mod tests;
