//! `longhaul edge kv`: access to the key-value store of a network.

mod accept;
mod check;
mod delete;
mod export;
mod file;
mod get;
mod import;
mod list;
mod namespace;
mod put;
mod repair;
mod salvage;
mod watch;

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};
use http_stack::{Origin, Scheme, client::Trust};
use kv_server::KvClient;

/// Read and write the key-value store of a network; list, export and import its keys; compare their versions
/// between data centres; check its file
///
/// The store's address is `listen` of [kv], or `kv_listen` of a data centre, in the network's file. The token
/// is read from the environment: LONGHAUL_TOKEN.
#[derive(Debug, Subcommand)]
pub(crate) enum Kv {
    Get(get::Get),
    Put(put::Put),
    Delete(delete::Delete),
    List(list::List),
    Export(export::Export),
    Import(import::Import),
    Watch(watch::Watch),
    Accept(accept::Accept),
    Check(check::Check),
    Repair(repair::Repair),
    Salvage(salvage::Salvage),
    #[command(subcommand)]
    Namespace(namespace::Namespace),
}

impl Kv {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Get(get) => get.run(),
            Self::Put(put) => put.run(),
            Self::Delete(delete) => delete.run(),
            Self::List(list) => list.run(),
            Self::Export(export) => export.run(),
            Self::Import(import) => import.run(),
            Self::Watch(watch) => watch.run(),
            Self::Accept(accept) => accept.run(),
            Self::Check(check) => check.run(),
            Self::Repair(repair) => repair.run(),
            Self::Salvage(salvage) => salvage.run(),
            Self::Namespace(namespace) => namespace.run(),
        }
    }
}

/// A store and a namespace in it.
#[derive(Debug, Args)]
struct Store {
    /// The namespace, by its name or id; not needed if the token allows only one
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// The store to connect to.
#[derive(Debug, Args)]
struct Place {
    /// The store's address: `listen` of [kv], or `kv_listen` of a data centre, in the network's file;
    /// https://NAME:PORT for TLS
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4490", value_parser = place)]
    at: Origin,
    /// With TLS, trust only certificates that are in this file or signed by one of them (PEM)
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Store {
    fn remote(&self) -> anyhow::Result<KvClient> {
        self.place.remote(self.namespace.as_deref())
    }
}

impl Place {
    fn remote(&self, namespace: Option<&str>) -> anyhow::Result<KvClient> {
        let token = std::env::var("LONGHAUL_TOKEN").context(
            "LONGHAUL_TOKEN has no token; `longhaul edge token` makes one, and tokens of a [[kv.namespace]] lists its SHA-256",
        )?;
        let trust = self.ca.clone().map_or(Trust::System, Trust::File);
        Ok(KvClient::at(self.at.clone(), trust, namespace, &token)?)
    }
}

fn place(text: &str) -> Result<Origin, String> {
    if text.contains("://") {
        return text.parse().map_err(|error: http_stack::OriginError| error.to_string());
    }
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "expected an address such as 127.0.0.1:4490, or https://kv.example:4491".to_owned())?;
    let host = address.ip().to_string();
    Ok(Origin { scheme: Scheme::Http, host, port: address.port(), server_name: None })
}
