//! `longhaul edge kv namespace`: lists namespaces, and manages those that the network's file does
//! not define.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use kv_server::{KvClient, NamespaceLine};
use report::terminal::table::table;

use super::Place;
use crate::output;

/// List the namespaces of a store; create, rename and delete namespaces that the network's file does not
/// define
#[derive(Debug, Subcommand)]
pub(crate) enum Namespace {
    List(List),
    Create(Create),
    Rename(Rename),
    Delete(Delete),
}

/// List the namespaces that the token allows
///
/// Example: longhaul edge kv namespace list
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    place: Place,
    /// Print names and ids as JSON
    #[arg(long)]
    json: bool,
}

/// Create a namespace, which tokens of [admin] can use in all data centres
///
/// Example: longhaul edge kv namespace create staging
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Its name
    name: String,
    #[command(flatten)]
    change: Change,
}

/// Rename a namespace; it keeps its id and its keys
///
/// Example: longhaul edge kv namespace rename staging next
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The namespace, by its name or id
    namespace: String,
    /// Its new name
    name: String,
    #[command(flatten)]
    change: Change,
}

/// Delete a namespace and all of its keys
///
/// Example: longhaul edge kv namespace delete staging
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The namespace, by its name or id
    namespace: String,
    #[command(flatten)]
    change: Change,
}

/// Options of the commands that change a namespace.
#[derive(Debug, Args)]
struct Change {
    #[command(flatten)]
    place: Place,
    /// Print its name and id as JSON
    #[arg(long)]
    json: bool,
}

impl Namespace {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::List(list) => list.run(),
            Self::Create(Create { name, change }) => {
                change.run("created", |remote| remote.make_namespace(&name))
            }
            Self::Rename(Rename { namespace, name, change }) => {
                change.run("renamed", |remote| remote.rename_namespace(&namespace, &name))
            }
            Self::Delete(Delete { namespace, change }) => {
                change.run("deleted", |remote| remote.remove_namespace(&namespace))
            }
        }
    }
}

impl Change {
    fn run(
        self,
        done: &str,
        change: impl FnOnce(&KvClient) -> Result<NamespaceLine, kv_server::Error>,
    ) -> anyhow::Result<ExitCode> {
        let line = change(&self.place.remote(None)?)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.namespace/1", line))?;
        } else {
            output::print(&format!("{}: {done}, id {}\n", line.name.escape_debug(), line.id))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    fn run(self) -> anyhow::Result<ExitCode> {
        let listed = self.place.remote(None)?.namespaces()?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.namespaces/1", listed))?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = listed.namespaces.iter().map(|one| [one.name.escape_debug().to_string(), one.id.clone()]);
        output::print(&table(["namespace", "id"].map(str::to_owned), rows))?;
        if let Some(missing) = &listed.missing {
            output::print(&format!("\n{missing}\n"))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
