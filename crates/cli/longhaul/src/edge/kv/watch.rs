//! `longhaul edge kv watch`: shows the version of a key in each data centre.

use std::process::ExitCode;

use clap::Args;
use kv_server::WouldAnswer;
use report::terminal::table::table;
use units::show::latency;

use super::Store;
use crate::output;

/// Show the response of each data centre for a key: its version, its age and its source
///
/// A data centre without a copy fetches the key as for a client but does not store it; its upper tiers do.
/// Exits with 1 if a data centre does not respond.
///
/// Example: longhaul edge kv watch user/7 --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The key
    key: String,
    #[command(flatten)]
    store: Store,
    /// Print a line of JSON for each data centre
    #[arg(long)]
    json: bool,
}

impl Watch {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let remote = self.store.remote()?;
        let namespace = match self.store.namespace {
            Some(namespace) => namespace,
            None => remote.only_namespace()?,
        };
        let all = remote.whereabouts(&namespace, &self.key)?.data_centres;
        if self.json {
            for answer in &all {
                output::print_json_line(&output::named("longhaul.edge.kv.watch/1", answer))?;
            }
        } else {
            output::print(&table(COLUMNS.map(str::to_owned), all.iter().map(row)))?;
        }
        let is_answered = all.iter().all(|answer| answer.error.is_none());
        Ok(if is_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn row(answer: &WouldAnswer) -> [String; 5] {
    let WouldAnswer { data_centre, found, version, age_ms, source, error } = answer;
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    #[expect(clippy::cast_precision_loss, reason = "an age for a person")]
    let age = |ms: u64| latency(ms as f64);
    [
        data_centre.clone(),
        match found {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => or_none(error),
        },
        or_none(version),
        age_ms.map_or_else(|| "-".to_owned(), age),
        or_none(source),
    ]
}

const COLUMNS: [&str; 5] = ["data centre", "value", "version", "age ms", "source"];
