//! The result of checking, repairing or salvaging a store's file.

use std::path::{Path, PathBuf};

use kv_redb::Inspection;
use schemars::JsonSchema;
use serde::Serialize;

/// The content of a store's file: `--json` of `edge kv check`, `edge kv repair` and `edge kv salvage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileCheck {
    /// The file.
    pub file: PathBuf,
    /// Whether all keys can be read.
    pub is_intact: bool,
    /// Keys with a value that can be read.
    pub keys: u64,
    /// Bytes of their values.
    pub bytes: u64,
    /// Deleted or expired keys that the store still remembers.
    pub deleted: u64,
    /// Keys that cannot be read.
    pub damaged_keys: u64,
    /// The names of damaged keys, with their namespaces' ids, 1000 at most.
    pub damaged: Vec<String>,
    /// Keys that can be read, but in a damaged page that may be older than the last write.
    pub doubtful_keys: u64,
    /// Ranges of keys that may be missing.
    pub gaps: Vec<Gap>,
    /// Blocks of 4 KiB that do not match their checksums, in use or not; absent if not all of them were
    /// verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged_blocks: Option<u64>,
    /// Blocks of 4 KiB that were verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// The path of the damaged file after a repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
    /// The new file of a salvage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salvaged_to: Option<PathBuf>,
}

/// A range of keys that may be missing, between two readable keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap {
    /// The key before the range; absent at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The key after the range; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

impl FileCheck {
    /// The result of an inspection of this file.
    pub fn new(file: &Path, inspection: Inspection) -> Self {
        let is_intact = inspection.is_intact();
        let Inspection {
            keys,
            bytes,
            deleted,
            damaged,
            damaged_keys,
            doubtful_keys,
            gaps,
            damaged_blocks,
            blocks,
        } = inspection;
        let gaps = gaps.into_iter().map(|(after, before)| Gap { after, before }).collect();
        Self {
            file: file.to_owned(),
            is_intact,
            keys,
            bytes,
            deleted,
            damaged_keys,
            damaged,
            doubtful_keys,
            gaps,
            damaged_blocks: (blocks > 0).then_some(damaged_blocks),
            blocks: (blocks > 0).then_some(blocks),
            kept: None,
            salvaged_to: None,
        }
    }
}
