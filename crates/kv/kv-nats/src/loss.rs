//! The difference between a stream and the acknowledged state, with its error message.

use std::fmt;

use async_nats::jetstream::stream::Info;
use serde::{Deserialize, Serialize};

/// The state of a stream at one moment. The creation time distinguishes it from another stream of
/// the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// When it was created (RFC 3339).
    pub created: String,
    /// The sequence number of its last message; 0 before the first.
    pub last_sequence: u64,
    /// The number of keys with a value; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
}

/// A stream that lacks acknowledged messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The stream's name.
    pub stream: String,
    /// Its last known state.
    pub expected: StreamState,
    /// Its state now; `None` if it is missing.
    pub found: Option<StreamState>,
    /// The number of keys that are missing or older than acknowledged; `None` after a restart, when
    /// the keys are unknown.
    pub missing_keys: Option<u64>,
}

impl StreamState {
    pub(crate) fn of(info: &Info) -> Self {
        let made = info.created;
        let (date, time) = ((made.year(), u8::from(made.month()), made.day()), made.to_hms_nano());
        let created = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z",
            date.0, date.1, date.2, time.0, time.1, time.2, time.3
        );
        Self { created, last_sequence: info.state.last_sequence, keys: None }
    }

    /// Whether it is the same stream as `seen` and has not gone back.
    pub(crate) fn follows(&self, seen: &Self) -> bool {
        self.created == seen.created && self.last_sequence >= seen.last_sequence
    }

    /// Whether both are the same, apart from the number of keys.
    pub fn is(&self, other: &Self) -> bool {
        self.created == other.created && self.last_sequence == other.last_sequence
    }
}

impl Loss {
    pub(crate) fn is_of(&self, found: Option<&StreamState>) -> bool {
        match (&self.found, found) {
            (Some(before), Some(now)) => before.is(now),
            (None, None) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, expected: StreamState { created, last_sequence, keys }, found, missing_keys } =
            self;
        let of = |keys: u64| if keys == 1 { "1 key".to_owned() } else { format!("{keys} keys") };
        let had = keys.map_or_else(String::new, |keys| format!(" and {}", of(keys)));
        match found {
            None => write!(
                f,
                "stream {stream} is missing: expected the one created {created} with sequence {last_sequence}{had}"
            )?,
            Some(found) if found.created != *created => write!(
                f,
                "stream {stream} is a different one: expected the one created {created} with sequence {last_sequence}{had}, found one created {} with sequence {}",
                found.created, found.last_sequence
            )?,
            Some(found) if found.last_sequence < *last_sequence => write!(
                f,
                "stream {stream} is older than before: expected sequence {last_sequence}{had}, found {}",
                found.last_sequence
            )?,
            Some(found) => write!(
                f,
                "stream {stream} has a different history: it had sequence {last_sequence}{had}, has {} now, and its last message before is missing",
                found.last_sequence
            )?,
        }
        if let Some(missing) = missing_keys.filter(|_| found.is_some()) {
            write!(f, " ({} missing or older)", of(missing))?;
        }
        f.write_str("; restore it, or accept it as it is with `longhaul edge kv accept`")
    }
}

/// While a difference is not confirmed.
pub(crate) fn lacks(stream: &str) -> String {
    format!(
        "stream {stream} lacks acknowledged messages, or NATS has not recovered it yet: it is checked again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(created: &str, last_sequence: u64) -> StreamState {
        StreamState { created: created.to_owned(), last_sequence, keys: None }
    }

    #[test]
    fn a_stream_follows_itself_while_it_grows() {
        let seen = state("a", 7);
        for (now, follows) in
            [(state("a", 7), true), (state("a", 8), true), (state("a", 6), false), (state("b", 9), false)]
        {
            assert_eq!(now.follows(&seen), follows, "{now:?}");
        }
    }

    #[test]
    fn a_loss_is_said_in_a_sentence() {
        let expected = StreamState { keys: Some(3), ..state("2026-01-02T03:04:05.000000006Z", 9) };
        let said = |found, missing_keys| {
            Loss { stream: "S".into(), expected: expected.clone(), found, missing_keys }.to_string()
        };
        let remedy = "; restore it, or accept it as it is with `longhaul edge kv accept`";
        let of = "expected the one created 2026-01-02T03:04:05.000000006Z with sequence 9 and 3 keys";
        assert_eq!(said(None, Some(3)), format!("stream S is missing: {of}{remedy}"));
        assert_eq!(
            said(Some(state("x", 2)), Some(1)),
            format!(
                "stream S is a different one: {of}, found one created x with sequence 2 (1 key missing or older){remedy}"
            )
        );
        assert_eq!(
            said(Some(state(&expected.created, 8)), None),
            format!("stream S is older than before: expected sequence 9 and 3 keys, found 8{remedy}")
        );
    }
}
