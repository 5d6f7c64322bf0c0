//! `longhaul edge`: runs an edge network, operates it, and simulates one in virtual time.

mod ca;
mod check;
mod explain;
mod init;
mod kv;
mod pools;
mod purge;
mod run;
mod simulate;
mod status;
mod token;
mod top;

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::ExitCode,
};

use anyhow::bail;
use clap::{Args, Subcommand};
use edge::admin::api::Operator;

/// Run, operate and simulate HTTP caches, tiers and key-value stores
#[derive(Debug, Subcommand)]
pub(crate) enum Edge {
    Run(run::Run),
    Init(init::Init),
    Check(check::Check),
    Status(status::Status),
    Top(top::Top),
    Explain(explain::Explain),
    Purge(purge::Purge),
    Simulate(simulate::Simulate),
    Token(token::Token),
    #[command(subcommand)]
    Kv(kv::Kv),
    #[command(subcommand)]
    Ca(ca::Ca),
}

impl Edge {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Run(run) => run.run(),
            Self::Init(init) => init.run(),
            Self::Check(check) => check.run(),
            Self::Status(status) => status.run(),
            Self::Top(top) => top.run(),
            Self::Explain(explain) => explain.run(),
            Self::Purge(purge) => purge.run(),
            Self::Simulate(simulate) => simulate.run(),
            Self::Token(token) => token.run(),
            Self::Kv(kv) => kv.run(),
            Self::Ca(ca) => ca.run(),
        }
    }
}

/// Refuses listening addresses that are given twice.
fn no_duplicates<'a>(addresses: impl IntoIterator<Item = &'a SocketAddr>) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    match addresses.into_iter().find(|address| address.port() != 0 && !seen.insert(**address)) {
        Some(twice) => bail!("{twice} is given twice: each listener needs its own address and port"),
        None => Ok(()),
    }
}

const ADMIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4480);

/// The data centre to connect to.
#[derive(Debug, Args)]
pub(super) struct Admin {
    /// The operator's address of the data centre: `admin` in the network's file
    #[arg(long, value_name = "ADDRESS", default_value_t = ADMIN)]
    admin: SocketAddr,
}

impl Admin {
    fn operator(&self) -> Operator {
        Operator::at(self.admin)
    }
}
