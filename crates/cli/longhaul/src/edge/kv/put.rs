//! `longhaul edge kv put`: sets the value of a key.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use units::duration;

use super::Store;
use crate::output;

/// Set the value of a key
///
/// The value is durable when the command ends. Without VALUE and --file the value is read from standard
/// input.
///
/// Example: longhaul edge kv put user/7 '{"name": "Ada"}' --ttl 1h --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct Put {
    /// The key
    key: String,
    /// Its value
    #[arg(conflicts_with = "file")]
    value: Option<String>,
    /// A file with the value, of up to 25 MiB
    #[arg(long)]
    file: Option<PathBuf>,
    /// Time to live, at least a minute: 1h
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, conflicts_with = "expiration")]
    ttl: Option<Duration>,
    /// Expiration as Unix time in seconds
    #[arg(long, value_name = "SECONDS")]
    expiration: Option<u64>,
    /// JSON metadata of up to 1024 bytes
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    #[command(flatten)]
    store: Store,
    /// Print the version of the value as JSON
    #[arg(long)]
    json: bool,
}

impl Put {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let value = match (self.value, &self.file) {
            (Some(value), _) => value.into_bytes(),
            (None, Some(file)) => {
                let open = || read(File::open(file)?);
                open().with_context(|| format!("{}: cannot be read", file.display()))?
            }
            (None, None) => read(io::stdin()).context("standard input cannot be read")?,
        };
        let put = kv_server::Put {
            value,
            expiration: self.expiration,
            expiration_ttl: self.ttl.map(|ttl| ttl.as_secs()),
            metadata: self.metadata,
        };
        let written = self.store.remote()?.put(&self.key, put)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.written/1", written))?;
        } else {
            output::print(&format!("{}: version {}\n", written.key, written.version.unwrap_or_default()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// One byte more than the largest value is enough to detect a value that is too long.
fn read(from: impl Read) -> io::Result<Vec<u8>> {
    let mut value = Vec::new();
    from.take(kv_server::Config::LARGEST + 1).read_to_end(&mut value)?;
    Ok(value)
}
