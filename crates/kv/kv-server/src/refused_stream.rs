//! NATS streams that are refused because they lack acknowledged messages.

use kv_nats::{Loss, StreamState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A NATS stream that is refused because it lacks acknowledged messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedStream {
    /// The stream's name.
    pub stream: String,
    /// The last known state.
    pub expected: Seen,
    /// The current state; absent if the stream is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Seen>,
    /// Keys that are missing or older than acknowledged; absent after a restart, when the keys are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_keys: Option<u64>,
}

/// `edge kv accept --json`: the stream that is refused, and whether it was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Acceptance {
    /// The stream; absent if no stream is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedStream>,
    /// Whether the operator has accepted it.
    pub is_accepted: bool,
}

/// The state of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// When it was created.
    pub created: String,
    /// The sequence number of its last message.
    pub last_sequence: u64,
    /// Keys with a value; absent if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
}

impl From<Loss> for RefusedStream {
    fn from(Loss { stream, expected, found, missing_keys }: Loss) -> Self {
        let seen =
            |StreamState { created, last_sequence, keys }: StreamState| Seen { created, last_sequence, keys };
        Self { stream, expected: seen(expected), found: found.map(seen), missing_keys }
    }
}
