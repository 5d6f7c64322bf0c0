//! Files that a command wrote: the output of `example --json` and `manual --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// Their names.
    pub files: Vec<String>,
}
