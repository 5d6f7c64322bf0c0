//! The operator's token.

use std::io;

use http_stack::token::{TokenHash, make};
use schemars::JsonSchema;
use serde::Serialize;

/// A token that grants access to all results of a server: `speed token --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Secret {
    /// The token. It is stored nowhere else.
    pub token: String,
    /// Its SHA-256, for `speed serve --operator`.
    pub sha256: String,
}

impl Secret {
    /// A new token with 192 random bits.
    ///
    /// # Errors
    ///
    /// The system's random number generator fails.
    pub fn make() -> io::Result<Self> {
        let token = make()?;
        Ok(Self { sha256: TokenHash::of(token.as_bytes()).to_string(), token })
    }
}
