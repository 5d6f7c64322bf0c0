//! Texts of other files that a world names: traces and tables.

use serde::{Deserialize, Serialize};

/// A text from another file: the file's name until it has been read, and then the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a file's name")]
pub enum Contents {
    /// The file, relative to the one that names it.
    File(String),
    /// Its content.
    Text {
        /// The file.
        file: String,
        /// Its text.
        text: String,
    },
}
