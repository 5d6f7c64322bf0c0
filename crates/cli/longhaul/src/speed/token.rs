//! `longhaul speed token`: makes a token for the operator of a speed server.

use std::process::ExitCode;

use clap::Args;
use speedtest::stored_results::Secret;

use crate::output;

/// Make a token that shows all stored results of a speed server, and its hash for that server
///
/// Example: longhaul speed token
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Print both as JSON
    #[arg(long)]
    json: bool,
}

impl Token {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let secret = Secret::make()?;
        if self.json {
            output::print_json(&output::named("longhaul.speed.token/1", secret))?;
        } else {
            output::print(&format!(
                "for the page at /operator:  {}\nfor the server:             longhaul speed serve --keep FILE --operator {}\n",
                secret.token, secret.sha256
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
