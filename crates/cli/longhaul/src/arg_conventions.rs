//! Conventions that all commands share: one name per kind of option, and one syntax for its values.

mod address;

pub(crate) use address::listen;
use clap::{Arg, Args, Command};

use crate::log::Log;

pub(crate) fn keep(command: Command) -> Command {
    let has_short_o = command.get_arguments().any(|arg| arg.get_short() == Some('o') && !is_output(arg));
    let command = command.mut_args(|arg| match arg.get_long() {
        Some("for" | "duration") => arg.long("for").visible_alias("duration"),
        Some("out" | "output") => {
            let arg = arg.long("out").visible_alias("output");
            if has_short_o { arg } else { arg.short('o') }
        }
        Some("listen") => arg.value_parser(listen).value_name("[ADDRESS:]PORT"),
        Some("admin") => arg.value_parser(listen),
        _ => arg,
    });
    let is_long = !command.has_subcommands() && LONG_RUNNING.contains(&command.get_name());
    let command = if is_long { Log::augment_args(command) } else { command };
    command.mut_subcommands(keep)
}

const LONG_RUNNING: [&str; 11] =
    ["capture", "ping", "probe", "publish", "read", "run", "send", "serve", "sweep", "test", "up"];

fn is_output(arg: &Arg) -> bool {
    matches!(arg.get_long(), Some("out" | "output"))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    fn commands() -> Vec<(String, Command)> {
        fn below(path: &str, command: &Command, found: &mut Vec<(String, Command)>) {
            let path = format!("{path} {}", command.get_name()).trim().to_owned();
            let is_group = command.is_subcommand_required_set();
            if !is_group && path != "longhaul" {
                found.push((path.clone(), command.clone()));
            }
            for command in command.get_subcommands() {
                below(&path, command, found);
            }
        }
        let mut found = Vec::new();
        below("", &keep(Cli::command()), &mut found);
        assert!(found.len() > 30, "{found:?}");
        found
    }

    #[test]
    fn each_command_says_in_its_own_words_what_it_does() {
        let mut said = std::collections::BTreeMap::new();
        for (path, command) in commands() {
            let about = command.get_about().unwrap().to_string();
            let other = said.insert(about.clone(), path.clone());
            assert_eq!(other, None, "{path}: {about}");
        }
    }

    fn with_long<'c>(command: &'c Command, long: &str) -> Option<&'c Arg> {
        command.get_arguments().find(|arg| arg.get_long() == Some(long))
    }

    #[test]
    fn a_thing_has_one_name_in_all_commands() {
        for (path, command) in commands() {
            for (first, second) in [("for", "duration"), ("out", "output")] {
                assert!(with_long(&command, second).is_none(), "{path} --{second}");
                if let Some(arg) = with_long(&command, first) {
                    assert_eq!(arg.get_visible_aliases(), Some(vec![second]), "{path} --{first}");
                }
            }
            if let Some(arg) = with_long(&command, "out") {
                assert_eq!(arg.get_short(), Some('o'), "{path}");
            }
        }
    }

    #[test]
    fn every_command_with_a_result_prints_json() {
        // Two commands print text for shells. The others run until Ctrl-C and have no result.
        let without = [
            "longhaul completions",
            "longhaul complete",
            "longhaul serve",
            "longhaul edge run",
            "longhaul speed serve",
            "longhaul transfer serve",
            "longhaul tcp oscil serve",
        ];
        for (path, command) in commands() {
            assert!(with_long(&command, "json").is_some() || without.contains(&path.as_str()), "{path}");
        }
    }

    #[test]
    fn an_address_to_listen_on_is_read_alike_everywhere() {
        let mut listening = 0;
        for (path, mut command) in commands() {
            if with_long(&command, "listen").is_none() {
                continue;
            }
            listening += 1;
            command = command.mut_args(|arg| arg.required(false)).ignore_errors(true);
            let matches = command.try_get_matches_from(["", "--listen", ":8080"]).unwrap();
            let address = matches.get_many::<SocketAddr>("listen").unwrap().next().unwrap();
            assert_eq!(address.to_string(), "127.0.0.1:8080", "{path}");
        }
        assert!(listening >= 4);
    }

    #[test]
    fn nothing_in_the_command_line_contradicts_itself() {
        keep(Cli::command()).debug_assert();
    }
}
