//! `longhaul edge purge`: purges stored objects.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use edge::admin::api::{PurgedIn, Purges};
use units::show::{latency, plural};

use super::Admin;
use crate::output;

/// Purge stored objects by URL, tag, host or prefix, or all of a zone
///
/// Matching objects become stale and are revalidated at their origin; with --hard they are deleted. In a
/// network of linked data centres, a purge applies in all of them: the command lists data centres that
/// confirm it within three seconds with the time that it took. The others apply it when they are
/// reachable again. The token is read from the environment: LONGHAUL_TOKEN. `longhaul edge token` makes one.
///
/// Example: longhaul edge purge shop --tag prices --tag home
#[derive(Debug, Args)]
pub(crate) struct Purge {
    /// The zone
    zone: String,
    /// A URL with scheme and host; purges all its variants
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// A tag from the Cache-Tag header of responses
    #[arg(long)]
    tag: Vec<String>,
    /// A host
    #[arg(long)]
    host: Vec<String>,
    /// A prefix of URLs, from the host on: www.shop.example/img/
    #[arg(long)]
    prefix: Vec<String>,
    /// All objects of the zone
    #[arg(long)]
    everything: bool,
    /// Delete the objects instead of marking them stale
    #[arg(long)]
    hard: bool,
    #[command(flatten)]
    admin: Admin,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Purge {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let token = std::env::var("LONGHAUL_TOKEN")
            .context("LONGHAUL_TOKEN has no token; `longhaul edge token` makes one, and [admin] tokens lists its SHA-256")?;
        let purges = Purges {
            files: self.url,
            tags: self.tag,
            hosts: self.host,
            prefixes: self.prefix,
            purge_everything: self.everything,
            hard: self.hard,
        };
        let purged = self.admin.operator().purge(&self.zone, &token, &purges)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.purge/1", purged))?;
        } else {
            let objects = plural(purged.objects, "object");
            let others: String = purged.data_centres.iter().map(line).collect();
            let hint = if purged.objects == 0 { NOTHING } else { "" };
            output::print(&format!(
                "zone {}: {objects} purged, epoch {}\n{hint}{others}",
                purged.id, purged.epoch
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Not an error: other data centres and the disk may have matching objects.
const NOTHING: &str = "no object in memory matched: check the zone, the scheme and the spelling with `longhaul edge explain URL`\n";

fn line(PurgedIn { data_centre, applied_ms, unreachable }: &PurgedIn) -> String {
    match (applied_ms, unreachable) {
        (Some(ms), _) => format!("{data_centre}: purged after {} ms\n", latency(*ms)),
        (None, why) => {
            let why = why.as_deref().unwrap_or("it did not answer");
            format!("{data_centre}: not reached, and purges it when it is ({why})\n")
        }
    }
}
