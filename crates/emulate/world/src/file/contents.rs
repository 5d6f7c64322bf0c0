//! The contents of trace and table files that a world names.

use serde::{Deserialize, Serialize};

/// A file's name before it is read, and its text afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a file's name")]
pub enum Contents {
    /// The path, relative to the file that contains it.
    File(String),
    /// The content.
    Text {
        /// The path.
        file: String,
        /// The text.
        text: String,
    },
}
