//! `longhaul tcp`: what the kernel's TCP tells, and why it is as it is.

mod explain;
mod mptcp;

use std::process::ExitCode;

use clap::Subcommand;

/// Say what the kernel's TCP does, and why
#[derive(Debug, Subcommand)]
pub(crate) enum Tcp {
    Explain(explain::Explain),
    Mptcp(mptcp::Mptcp),
}

impl Tcp {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Explain(explain) => explain.run(),
            Self::Mptcp(mptcp) => mptcp.run(),
        }
    }
}
