//! The subjects of the commands, for the overview in `longhaul --help`.

use std::fmt::Write as _;

use clap::Command;

const SUBJECTS: [(&str, &[&str]); 4] = [
    (
        "Measure",
        &["probe", "ping", "transfer", "speed", "compare", "convert", "merge", "tcp", "serve", "example"],
    ),
    ("Emulate", &["run", "lab", "doctor"]),
    ("Run an edge network", &["edge"]),
    ("Shell", &["completions", "manual", "help"]),
];

pub(crate) fn group(mut command: Command) -> Command {
    command.build();
    let mut list = String::new();
    for (subject, names) in SUBJECTS {
        let _ = writeln!(list, "{subject}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let _ = writeln!(list, "  {name:<12} {}", about.map(ToString::to_string).unwrap_or_default());
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn each_command_has_one_subject() {
        let mut listed: Vec<_> = SUBJECTS.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.sort_unstable();
        let mut command = Cli::command();
        command.build();
        let mut all: Vec<_> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(listed, all);
    }
}
