//! JSON metadata of a value: up to 1024 bytes, which are sent in a header field and in lists.

use std::sync::Arc;

use serde::de::IgnoredAny;

/// JSON in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata(Arc<str>);

/// Why a text is not valid metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The text is too long.
    #[error("Metadata length of {bytes} exceeds limit of {MOST_METADATA_BYTES}.")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The text is not JSON.
    #[error("Metadata is not JSON: {why}")]
    NotJson {
        /// The error of the parser, with its position.
        why: String,
    },
}

impl Metadata {
    /// Validates JSON and removes the white space between tokens, because a header field cannot
    /// contain line breaks.
    ///
    /// # Errors
    /// When the text is too long, or not JSON.
    pub fn new(text: &[u8]) -> Result<Self, MetadataError> {
        if text.len() > MOST_METADATA_BYTES {
            return Err(MetadataError::TooLong { bytes: text.len() });
        }
        let not_json = |why: String| MetadataError::NotJson { why };
        let text = std::str::from_utf8(text).map_err(|_| not_json("it is not UTF-8".into()))?;
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| not_json(error.to_string()))?;
        Ok(Self(compact(text).into()))
    }

    /// The JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn compact(json: &str) -> String {
    let (mut is_inside, mut is_escaped) = (false, false);
    let stays = |letter: &char| {
        let is_space = !is_inside && letter.is_ascii_whitespace();
        match letter {
            '"' if !is_escaped => is_inside = !is_inside,
            _ => {}
        }
        is_escaped = is_inside && *letter == '\\' && !is_escaped;
        !is_space
    };
    json.chars().filter(stays).collect()
}

/// The largest length of metadata in bytes.
pub const MOST_METADATA_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn it_is_json_in_one_line() {
        let metadata = Metadata::new(b"{ \"a b\" :\r\n[1, \"\\\" x\", null ] }").unwrap();
        assert_eq!(metadata.as_str(), "{\"a b\":[1,\"\\\" x\",null]}");
        let bytes = 1025;
        assert_eq!(Metadata::new(&vec![b'1'; bytes]), Err(MetadataError::TooLong { bytes }));
        for wrong in ["", "{", "{} 1", "nul", "\"\n\"", "'a'"] {
            assert!(matches!(Metadata::new(wrong.as_bytes()), Err(MetadataError::NotJson { .. })), "{wrong}");
        }
        assert!(Metadata::new(b"\"\xff\"").is_err());
    }

    proptest! {
        #[test]
        fn nothing_but_space_between_its_parts_is_left_out(text in "\\PC{0,40}", key in "[a-z \"\\\\\n]{0,8}") {
            let value = serde_json::json!({ key: [text, 1.5, null, { "b": true }] });
            let metadata = Metadata::new(serde_json::to_string_pretty(&value).unwrap().as_bytes()).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(metadata.as_str()).unwrap(), value.clone());
            prop_assert_eq!(metadata.as_str(), serde_json::to_string(&value).unwrap());
        }
    }
}
