//! The result of checking, repairing or salvaging a store's file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use vault::Inspection;

/// The content of a store's file: `--json` of `edge kv check`, `edge kv repair` and `edge kv salvage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileCheck {
    /// The file.
    pub file: PathBuf,
    /// Whether every key can be read.
    pub is_intact: bool,
    /// Keys with a value that can be read.
    pub keys: u64,
    /// Bytes of their values.
    pub bytes: u64,
    /// Keys that were deleted or have expired, and that the store still knows.
    pub deleted: u64,
    /// Keys that cannot be read.
    pub damaged_keys: u64,
    /// Their names, each with its namespace's id in front, 1000 at most.
    pub damaged: Vec<String>,
    /// Keys that can be read, in a damaged page that may be older than the last write.
    pub doubtful_keys: u64,
    /// Places in the order of keys where others may have been.
    pub gaps: Vec<Gap>,
    /// Blocks of 4 KiB that do not match their checksums, in use or not; absent where they were not all verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged_blocks: Option<u64>,
    /// Blocks of 4 KiB that were verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Where the damaged file is now, after a repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
    /// The new file of a salvage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salvaged_to: Option<PathBuf>,
}

/// A place in the order of keys, between two that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap {
    /// The key before it; absent at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The key behind it; absent at the end.
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
