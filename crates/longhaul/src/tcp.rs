//! `longhaul tcp`: what the kernel's TCP tells, and why it is as it is.

mod mptcp;
mod oscil;
mod sweep;

use std::process::ExitCode;

use clap::Subcommand;

/// Say what the kernel's TCP does, and why
#[derive(Debug, Subcommand)]
pub(crate) enum Tcp {
    Mptcp(mptcp::Mptcp),
    #[command(subcommand)]
    Oscil(oscil::Oscil),
    Sweep(sweep::Sweep),
}

impl Tcp {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Mptcp(mptcp) => mptcp.run(),
            Self::Oscil(oscil) => oscil.run(),
            Self::Sweep(sweep) => sweep.run(),
        }
    }
}
