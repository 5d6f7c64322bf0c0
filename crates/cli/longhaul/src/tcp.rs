//! `longhaul tcp`: diagnoses the kernel's TCP, and runs experiments.

mod charts;
mod explain;
mod finding;
mod mptcp;
mod oscil;
mod ports;
mod sweep;
mod window;

use std::process::ExitCode;

use clap::Subcommand;

/// Diagnose the kernel's TCP, and run experiments
#[derive(Debug, Subcommand)]
pub(crate) enum Tcp {
    Explain(explain::Explain),
    Mptcp(mptcp::Mptcp),
    #[command(subcommand)]
    Oscil(oscil::Oscil),
    Ports(ports::Ports),
    Sweep(sweep::Sweep),
    Window(window::Window),
}

impl Tcp {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Explain(explain) => explain.run(),
            Self::Mptcp(mptcp) => mptcp.run(),
            Self::Oscil(oscil) => oscil.run(),
            Self::Ports(ports) => ports.run(),
            Self::Sweep(sweep) => sweep.run(),
            Self::Window(window) => window.run(),
        }
    }
}
