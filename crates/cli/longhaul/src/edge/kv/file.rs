//! The output of `edge kv check`, `repair` and `salvage`, and their progress.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use kv_server::{FileCheck, Gap};
use units::show::{bytes, count, plural};

use crate::{
    output,
    progress::{Watch, watch},
};

pub(super) fn print(check: &FileCheck, json: bool, done: Option<&str>) -> anyhow::Result<()> {
    if json {
        return output::print_json(&output::named("longhaul.edge.kv.file/1", check));
    }
    output::print(&text(check, done))
}

fn text(check: &FileCheck, done: Option<&str>) -> String {
    let mut text = format!(
        "{}: {} with {}, {} known as deleted\n",
        check.file.display(),
        plural(check.keys, "key"),
        bytes(check.bytes),
        count(check.deleted)
    );
    for key in &check.damaged {
        let _ = writeln!(text, "damaged: {key}");
    }
    let unnamed = check.damaged_keys.saturating_sub(check.damaged.len() as u64);
    if unnamed > 0 {
        let _ = writeln!(text, "damaged: {} more", count(unnamed));
    }
    for Gap { after, before } in &check.gaps {
        let place = match (after, before) {
            (Some(after), Some(before)) => format!("between {after} and {before}"),
            (Some(after), None) => format!("after {after}"),
            (None, Some(before)) => format!("before {before}"),
            (None, None) => "in the whole store".to_owned(),
        };
        let _ = writeln!(text, "lost: any keys {place}");
    }
    if check.doubtful_keys > 0 {
        let _ = writeln!(
            text,
            "doubtful: {} in a damaged page may be older than the last write",
            plural(check.doubtful_keys, "key")
        );
    }
    if let (Some(damaged), Some(blocks)) = (check.damaged_blocks, check.blocks) {
        let _ = writeln!(text, "blocks: {}, {} damaged", count(blocks), count(damaged));
    }
    if let Some(line) = done {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{}", if check.is_intact { "intact" } else { "damaged" });
    text
}

pub(super) struct Progress {
    blocks: Arc<(AtomicU64, AtomicU64)>,
    _watch: Watch,
}

impl Progress {
    pub(super) fn start() -> anyhow::Result<Self> {
        let blocks = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let seen = Arc::clone(&blocks);
        let view = move |_, _| {
            let (done, all) = (seen.0.load(Relaxed), seen.1.load(Relaxed));
            if all == 0 {
                "reading all keys".to_owned()
            } else {
                format!("{} of {} verified", bytes(done * 4096), bytes(all * 4096))
            }
        };
        Ok(Self { blocks, _watch: watch(view)? })
    }

    pub(super) fn set(&self, done: u64, all: u64) {
        self.blocks.0.store(done, Relaxed);
        self.blocks.1.store(all, Relaxed);
    }
}
