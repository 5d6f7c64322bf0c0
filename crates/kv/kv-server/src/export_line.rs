//! A line of an export: a key with its value, expiration and metadata, as an element of the list
//! that `wrangler kv bulk put` reads.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kv::{Expiration, Key, Metadata};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportLine {
    /// The key.
    pub key: String,
    /// The value as text or base64.
    pub value: String,
    /// Whether the value is base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub base64: bool,
    /// The expiration in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<u64>,
    /// The metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// The reason why a line cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line is not JSON of the expected form.
    #[error("not a line of an export: {0}")]
    NoPair(#[from] serde_json::Error),
    /// The key is invalid.
    #[error(transparent)]
    Key(#[from] kv::KeyError),
    /// The metadata are too long.
    #[error(transparent)]
    Metadata(#[from] kv::MetadataError),
    /// The value is marked as base64, but is not.
    #[error("its value is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The value is too long.
    #[error("its value has {0} bytes; the limit is 25 MiB")]
    TooLong(usize),
}

impl ExportLine {
    /// Creates a line.
    pub fn of(key: String, value: &[u8], expiration: Option<u64>, metadata: Option<Value>) -> Self {
        let (value, base64) = match std::str::from_utf8(value) {
            Ok(text) if is_short_as_text(value) => (text.to_owned(), false),
            Ok(_) | Err(_) => (STANDARD.encode(value), true),
        };
        Self { key, value, base64, expiration, metadata }
    }

    /// Parses and validates a line.
    ///
    /// # Errors
    /// Fails if the line cannot be imported.
    pub fn read(text: &str) -> Result<Self, LineError> {
        let line: Self = serde_json::from_str(text)?;
        Key::new(&line.key)?;
        let length = if line.base64 { STANDARD.decode(&line.value)?.len() } else { line.value.len() };
        if length as u64 > kv::MOST_VALUE_BYTES {
            return Err(LineError::TooLong(length));
        }
        if let Some(metadata) = &line.metadata {
            Metadata::new(metadata.to_string().as_bytes())?;
        }
        Ok(line)
    }

    /// The value's length in bytes; 0 if the base64 is invalid.
    pub fn bytes(&self) -> usize {
        if self.base64 {
            STANDARD.decode(&self.value).map_or(0, |bytes| bytes.len())
        } else {
            self.value.len()
        }
    }

    /// Whether the expiration is less than a minute ahead, which no store accepts.
    pub fn is_almost_over(&self, now_s: u64) -> bool {
        let at = |at| Expiration(at).0 < now_s.saturating_add(kv::LEAST_TTL);
        self.expiration.is_some_and(at)
    }
}

/// JSON needs six bytes for a control character.
fn is_short_as_text(text: &[u8]) -> bool {
    let long = |byte: &&u8| byte.is_ascii_control() && !b"\n\r\t".contains(byte);
    text.iter().filter(long).count() * 5 <= text.len() / 3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_comes_back_from_its_text(
            key in "[a-z/]{1,20}",
            value in prop::collection::vec(any::<u8>(), 0..50),
            expiration in prop::option::of(any::<u64>()),
            says in prop::option::of("\\PC{0,20}"),
        ) {
            prop_assume!(Key::new(&key).is_ok());
            let line = ExportLine::of(key, &value, expiration, says.map(Value::from));
            let text = serde_json::to_string(&line).unwrap();
            prop_assert!(!text.contains('\n'));
            prop_assert_eq!(ExportLine::read(&text).unwrap(), line);
        }
    }

    #[test]
    fn what_is_mostly_control_characters_is_base64() {
        for (value, is_base64) in [
            (&b"a line\n"[..], false),
            (&[0; 30], true),
            (b"", false),
            (b"\xff", true),
            (b"0123456789abcde\x01", false),
        ] {
            assert_eq!(ExportLine::of("a".into(), value, None, None).base64, is_base64, "{value:?}");
        }
    }

    #[test]
    fn what_cannot_be_imported_is_said() {
        let refused = |text: &str| ExportLine::read(text).unwrap_err().to_string();
        assert!(refused("{").starts_with("not a line of an export"));
        assert!(refused(r#"{"key":"a"}"#).contains("missing field `value`"));
        assert!(refused(r#"{"key":"a","value":"","ttl":1}"#).contains("unknown field `ttl`"));
        assert!(refused(r#"{"key":"..","value":""}"#).contains("Illegal key name"));
        assert!(refused(r#"{"key":"a","value":"?","base64":true}"#).contains("not base64"));
        let line = ExportLine::read(r#"{"key":"a","value":"","expiration":100}"#).unwrap();
        assert!(line.is_almost_over(41) && !line.is_almost_over(40));
    }
}
