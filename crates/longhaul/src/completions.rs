//! `longhaul completions`: what a shell needs to complete our commands.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

/// Print the completion script of a shell
///
/// Example: longhaul completions bash > /etc/bash_completion.d/longhaul
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run<C: CommandFactory>(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        generate(self.shell, &mut C::command(), "longhaul", &mut script);
        crate::output::print(&String::from_utf8(script)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
