//! Valid keys: 1 to 512 bytes of UTF-8, except the path segments `.` and `..`.

use std::{fmt, str};

/// A key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

/// Why a name is not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The name is empty.
    #[error("Key names must not be empty")]
    Empty,
    /// The name is `.` or `..`, which clients remove from URLs (RFC 3986, section 5.2.4).
    #[error("Illegal key name \"{0}\". Please use a different name.")]
    Dots(&'static str),
    /// The name is too long.
    #[error("UTF-8 encoded length of {bytes} exceeds key length limit of {MOST_KEY_BYTES}.")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The percent-encoding is invalid, or the decoded bytes are not UTF-8.
    #[error("Could not URL-decode key name")]
    Encoding,
}

impl Key {
    /// Validates a name.
    ///
    /// # Errors
    /// When the name is not a valid key.
    pub fn new(name: &str) -> Result<Self, KeyError> {
        match name {
            "" => Err(KeyError::Empty),
            "." => Err(KeyError::Dots(".")),
            ".." => Err(KeyError::Dots("..")),
            _ if name.len() > MOST_KEY_BYTES => Err(KeyError::TooLong { bytes: name.len() }),
            _ => Ok(Self(name.into())),
        }
    }

    /// Decodes and validates a percent-encoded path segment.
    ///
    /// # Errors
    /// When it is not a valid key.
    pub fn from_path(segment: &str) -> Result<Self, KeyError> {
        Self::new(&decoded(segment).ok_or(KeyError::Encoding)?)
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decodes percent-encoded text; `None` if it is invalid or not UTF-8.
pub fn decoded(text: &str) -> Option<String> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        plain.push(if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            rest = after;
            // from_str_radix accepts a sign, which is not a hexadecimal digit.
            let digits =
                str::from_utf8(digits).ok().filter(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            u8::from_str_radix(digits, 16).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(plain).ok()
}

/// The largest length of a key in bytes.
pub const MOST_KEY_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_path_or_the_limit_would_lose_is_no_key() {
        assert_eq!(Key::new(""), Err(KeyError::Empty));
        assert_eq!(Key::from_path("%2e"), Err(KeyError::Dots(".")));
        assert_eq!(Key::from_path(".."), Err(KeyError::Dots("..")));
        // 171 characters of 3 bytes are 513 bytes.
        assert_eq!(Key::new(&"€".repeat(171)), Err(KeyError::TooLong { bytes: 513 }));
        assert!(Key::new(&"k".repeat(512)).is_ok());
        for wrong in ["%", "%4", "%+1", "%zz", "%ff", "a%C3"] {
            assert_eq!(Key::from_path(wrong), Err(KeyError::Encoding), "{wrong}");
        }
        assert_eq!(Key::from_path("a%2Fb%20%C3%A4+").unwrap().as_str(), "a/b ä+");
    }

    proptest! {
        #[test]
        fn a_key_comes_back_from_its_path(name in "\\PC{1,100}") {
            let path: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            match Key::new(&name) {
                Ok(key) => prop_assert_eq!(Key::from_path(&path), Ok(key)),
                Err(error) => prop_assert_eq!(Key::from_path(&path), Err(error)),
            }
        }
    }
}
