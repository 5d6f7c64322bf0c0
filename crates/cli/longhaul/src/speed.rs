//! `longhaul speed`: measures the speed of a line and rates it.

mod live;
mod render;
mod score;
mod serve;
mod test;
mod token;

use std::process::ExitCode;

use clap::Subcommand;

/// Test the speed of a line, and rate it for typical uses
#[derive(Debug, Subcommand)]
pub(crate) enum Speed {
    Serve(serve::Serve),
    Test(test::Test),
    Score(score::Score),
    Token(token::Token),
}

impl Speed {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Serve(serve) => serve.run(),
            Self::Test(test) => test.run(),
            Self::Score(score) => score.run(),
            Self::Token(token) => token.run(),
        }
    }
}
