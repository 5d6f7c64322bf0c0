//! `longhaul edge kv import`: writes keys and values from JSON lines.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    mem,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use kv_server::{ExportLine, Moved};
use units::show::{bytes, plural};

use super::{Store, list::now_s};
use crate::output;

/// Write keys and values from the JSON lines of `edge kv export`
///
/// All lines of a file are checked before the first one is written. Up to a thousand keys become durable per
/// request. Keys that have expired, or expire within a minute, are skipped.
///
/// Example: longhaul edge kv import sessions.jsonl --namespace sessions
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; - is standard input
    file: PathBuf,
    #[command(flatten)]
    store: Store,
    /// Print the number of keys and bytes as JSON
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let remote = self.store.remote()?;
        let namespace = match &self.store.namespace {
            Some(name) => name.clone(),
            None => remote.only_namespace()?,
        };
        let moved = if self.file == Path::new("-") {
            import(io::stdin().lock(), &self.file, |lines| Ok(remote.put_several(&namespace, lines)?))?
        } else {
            import(self.open()?, &self.file, |_| Ok(()))?;
            import(self.open()?, &self.file, |lines| Ok(remote.put_several(&namespace, lines)?))?
        };
        if self.json {
            output::print_json(&output::named("longhaul.edge.kv.moved/1", moved))?;
        } else {
            let left_out = match moved.left_out {
                0 => String::new(),
                some => format!(", {} left out that were over or almost", plural(some, "key")),
            };
            let (keys, bytes) = (plural(moved.keys, "key"), bytes(moved.bytes));
            output::print(&format!("{keys} imported, {bytes}{left_out}\n"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn open(&self) -> anyhow::Result<BufReader<File>> {
        let cannot = || format!("{}: cannot be read", self.file.display());
        Ok(BufReader::new(File::open(&self.file).with_context(cannot)?))
    }
}

fn import(
    from: impl BufRead,
    file: &Path,
    write: impl Fn(&[ExportLine]) -> anyhow::Result<()>,
) -> anyhow::Result<Moved> {
    let (mut moved, mut waiting, mut room) = (Moved::default(), Vec::new(), MOST_BYTES);
    for (number, text) in from.lines().enumerate() {
        let place = || format!("{}:{}", file.display(), number + 1);
        let text = text.with_context(place)?;
        if text.trim().is_empty() {
            continue;
        }
        let line = ExportLine::read(&text).with_context(place)?;
        if line.is_almost_over(now_s()) {
            moved.left_out += 1;
            continue;
        }
        if !waiting.is_empty() && (waiting.len() == MOST_KEYS || text.len() > room) {
            write(&mem::take(&mut waiting)).with_context(|| format!("before {}", place()))?;
            room = MOST_BYTES;
        }
        room = room.saturating_sub(text.len());
        moved.keys += 1;
        moved.bytes += line.bytes() as u64;
        waiting.push(line);
    }
    if !waiting.is_empty() {
        write(&waiting)?;
    }
    Ok(moved)
}

/// Per request.
const MOST_KEYS: usize = 1000;
/// Per request, unless a single value is longer. Far below the limit of a store.
const MOST_BYTES: usize = 8 << 20;
