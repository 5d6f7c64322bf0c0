//! Formats of the access log.

use serde::Deserialize;

/// Format of the access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// JSON lines that `longhaul compare` reads, with the phases of each request.
    #[default]
    Recording,
    /// The combined log format of Apache and nginx.
    Combined,
}
