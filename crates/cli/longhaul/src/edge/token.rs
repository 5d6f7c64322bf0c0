//! `longhaul edge token`: makes a token for purges.

use std::process::ExitCode;

use clap::Args;

use crate::output;

/// Make a token for purges, and its hash for the network's file
///
/// Example: longhaul edge token
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Print both as JSON
    #[arg(long)]
    json: bool,
}

impl Token {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let token = edge::Token::make()?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.token/1", token))?;
        } else {
            output::print(&format!(
                "for clients that purge: export LONGHAUL_TOKEN={}\nfor the network's file:  [admin]\n                         tokens = [\"{}\"]\n",
                token.token, token.sha256
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
