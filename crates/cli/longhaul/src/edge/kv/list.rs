//! `longhaul edge kv list`: lists the keys of a namespace.

use std::process::ExitCode;

use clap::Args;
use http_stack::clock::wall_ns;
use kv_server::{KvClient, Listed, ListedKey};
use report::terminal::table::table;
use units::show::span;

use super::Store;
use crate::output;

/// List the keys that have a value, in byte order
///
/// Example: longhaul edge kv list --prefix user/ --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct List {
    /// List only keys with this prefix
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,
    /// Maximum number of keys; default: all
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    #[command(flatten)]
    store: Store,
    /// Print them with their expirations and metadata as JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let listed = self.all(&self.store.remote()?)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.list/1", listed))?;
        } else {
            let now = now_s();
            let rows = listed.keys.iter().map(|key| row(key, now));
            output::print(&table(["key", "over in", "metadata"].map(str::to_owned), rows))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn all(&self, remote: &KvClient) -> Result<Listed, kv_server::Error> {
        let mut all = Listed { keys: Vec::new(), complete: false, cursor: None };
        while !all.complete {
            let missing = self.limit.map_or(MOST, |limit| limit.saturating_sub(all.keys.len()).min(MOST));
            if missing == 0 {
                break;
            }
            let page = remote.list(&self.prefix, missing, all.cursor.as_deref())?;
            all.keys.extend(page.keys);
            (all.complete, all.cursor) = (page.complete, page.cursor);
        }
        Ok(all)
    }
}

fn row(key: &ListedKey, now_s: u64) -> [String; 3] {
    #[expect(clippy::cast_precision_loss, reason = "a span for a person")]
    let over = |at: u64| span(at.saturating_sub(now_s) as f64);
    [
        key.name.escape_debug().to_string(),
        key.expiration.map_or_else(|| "-".to_owned(), over),
        key.metadata.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
    ]
}

pub(super) fn now_s() -> u64 {
    u64::try_from(wall_ns() / 1_000_000_000).unwrap_or(0)
}

const MOST: usize = 1000;
