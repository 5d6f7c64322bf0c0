//! The operator's token.

use std::io;

use http::token::{TokenHash, make};
use schemars::JsonSchema;
use serde::Serialize;

/// A token that shows all results that a server keeps: `speed token --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Secret {
    /// For the operator; nothing else has it.
    pub token: String,
    /// Its SHA-256, for `speed serve --operator`.
    pub sha256: String,
}

impl Secret {
    /// A new one, of 192 random bits.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn make() -> io::Result<Self> {
        let token = make()?;
        Ok(Self { sha256: TokenHash::of(token.as_bytes()).to_string(), token })
    }
}
