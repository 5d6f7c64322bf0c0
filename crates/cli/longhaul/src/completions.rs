//! `longhaul completions`: the completion scripts of shells. Those for bash, zsh and fish call the
//! program ([`crate::complete`]); clap makes the others.

use std::process::ExitCode;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::{Cli, output};

/// Print the completion script of a shell
///
/// For bash, zsh and fish, the completions include running planets, their hosts and cities, and the
/// metrics of recordings.
///
/// Examples:
///   longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
///   longhaul completions zsh > "${fpath[1]}/_longhaul"
///   longhaul completions fish > ~/.config/fish/completions/longhaul.fish
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let script = match self.shell {
            Shell::Bash => include_str!("completions/longhaul.bash").to_owned(),
            Shell::Zsh => include_str!("completions/longhaul.zsh").to_owned(),
            Shell::Fish => include_str!("completions/longhaul.fish").to_owned(),
            other => {
                let mut script = Vec::new();
                generate(other, &mut Cli::conventional(), "longhaul", &mut script);
                String::from_utf8(script)?
            }
        };
        output::print(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
