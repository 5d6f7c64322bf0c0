//! `longhaul edge kv export`: writes all keys of a namespace and their values as JSON lines.

use std::{
    io::{self, BufWriter, ErrorKind, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use kv_server::{ExportLine, KvClient, Moved};
use units::show::{bytes, plural};

use super::Store;
use crate::output::{self, say};

/// Write all keys with their values to JSON lines, for `edge kv import`
///
/// A line contains a key, its value (in base64 if it is not text), its expiration and its metadata. The
/// export is not a snapshot: a key that is written during it has either its old or its new value.
///
/// Example: longhaul edge kv export --namespace sessions -o sessions.jsonl
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Export only keys with this prefix
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,
    /// The file to write; it appears when it is complete. Default: standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    store: Store,
    /// Print the number of keys and bytes as JSON
    #[arg(long, requires = "out")]
    json: bool,
}

impl Export {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let remote = self.store.remote()?;
        let moved = match &self.out {
            None => match export(&remote, &self.prefix, io::stdout().lock()) {
                Err(error) if is_broken_pipe(&error) => return Ok(ExitCode::SUCCESS),
                moved => moved?,
            },
            Some(file) => recording::write_whole_by(file, |to| export(&remote, &self.prefix, to))
                .with_context(|| format!("{}: cannot be written", file.display()))?,
        };
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.moved/1", moved))?;
        } else {
            say(&format!("{} exported, {}", plural(moved.keys, "key"), bytes(moved.bytes)));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn export(remote: &KvClient, prefix: &str, to: impl Write) -> anyhow::Result<Moved> {
    let (mut to, mut moved, mut cursor) = (BufWriter::new(to), Moved::default(), None);
    loop {
        let page = remote.list(prefix, 1000, cursor.as_deref())?;
        for key in page.keys {
            // The key may have expired or been deleted since it was listed.
            let Some(came) = remote.get(&key.name)? else { continue };
            let line = ExportLine::of(key.name, &came.value, came.expiration, came.metadata);
            writeln!(to, "{}", serde_json::to_string(&line)?)?;
            moved.keys += 1;
            moved.bytes += came.value.len() as u64;
        }
        cursor = page.cursor;
        if page.complete || cursor.is_none() {
            to.flush()?;
            return Ok(moved);
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
