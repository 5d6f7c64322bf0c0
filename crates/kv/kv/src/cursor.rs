//! Cursors of lists: an opaque text with the last key of a page and a hash of the list.
//!
//! Stores keep no state of a cursor. So it stays valid across restarts and in other data centres.

use std::fmt::Write as _;

use tier_routing::KeyHash;

/// The end of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The last key of the page. The next page begins after it.
    pub last: String,
}

/// Why a text is not a cursor of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The text is not a cursor.
    #[error("the cursor was not returned by a list")]
    Damaged,
    /// The cursor belongs to another list.
    #[error("the cursor is of another list: namespace and prefix must be the same as for the previous page")]
    AnotherList,
}

impl Cursor {
    /// Encodes the cursor for this list.
    pub fn text(&self, namespace: &str, prefix: &str) -> String {
        let list = list(namespace, prefix);
        let head = [list, check(list, self.last.as_bytes())];
        let bytes = head.into_iter().flat_map(u64::to_be_bytes).chain(self.last.bytes());
        bytes.fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Decodes a cursor of this list.
    ///
    /// # Errors
    /// When the text is not a cursor of this list.
    pub fn read(text: &str, namespace: &str, prefix: &str) -> Result<Self, CursorError> {
        let digits = text.as_bytes();
        if !digits.len().is_multiple_of(2) || digits.len() > MOST_DIGITS {
            return Err(CursorError::Damaged);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
        let bytes: Option<Vec<u8>> = digits.chunks_exact(2).map(pair).collect();
        let bytes = bytes.ok_or(CursorError::Damaged)?;
        let mut rest = &bytes[..];
        let mut number = || {
            let (number, behind) = rest.split_first_chunk().ok_or(CursorError::Damaged)?;
            rest = behind;
            Ok(u64::from_be_bytes(*number))
        };
        let (list_of_it, check_of_it) = (number()?, number()?);
        if check_of_it != check(list_of_it, rest) {
            return Err(CursorError::Damaged);
        }
        if list_of_it != list(namespace, prefix) {
            return Err(CursorError::AnotherList);
        }
        let last = String::from_utf8(rest.to_owned()).map_err(|_| CursorError::Damaged)?;
        Ok(Self { last })
    }
}

fn list(namespace: &str, prefix: &str) -> u64 {
    // Names of namespaces cannot contain NUL.
    KeyHash::of(format!("{namespace}\0{prefix}").as_bytes()).0
}

fn check(list: u64, last: &[u8]) -> u64 {
    KeyHash::of(&[&list.to_be_bytes(), last].concat()).0
}

/// In hexadecimal: two 64-bit numbers and a key.
const MOST_DIGITS: usize = 2 * (16 + crate::MOST_KEY_BYTES);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_is_good_for_its_own_list_alone(last in "\\PC{1,100}", at in any::<prop::sample::Index>()) {
            let cursor = Cursor { last };
            let text = cursor.text("ns", "a");
            prop_assert_eq!(Cursor::read(&text, "ns", "a"), Ok(cursor));
            prop_assert_eq!(Cursor::read(&text, "ns", "b"), Err(CursorError::AnotherList));
            prop_assert_eq!(Cursor::read(&text, "other", "a"), Err(CursorError::AnotherList));
            let mut other = text.into_bytes();
            let at = at.index(other.len());
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let other = String::from_utf8(other).unwrap();
            prop_assert_eq!(Cursor::read(&other, "ns", "a"), Err(CursorError::Damaged));
        }

        #[test]
        fn any_text_is_a_cursor_or_not(text in "\\PC{0,60}") {
            prop_assert!(Cursor::read(&text, "ns", "").is_err());
        }
    }
}
