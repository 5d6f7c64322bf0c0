//! The page of a list that a client requests: prefix, limit and cursor.

use crate::{Cursor, CursorError, Expiration, KeyError, MOST_KEY_BYTES, Metadata, ValueMeta};

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The prefix of its keys.
    pub prefix: String,
    /// The last key of the previous page.
    pub after: Option<String>,
    /// The maximum number of keys.
    pub limit: usize,
}

/// The listed keys of a page, all with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The keys.
    pub keys: Vec<ListedKey>,
    /// Where the next page begins; `None` after the last page. A page with few or no keys may have
    /// a next page.
    pub next: Option<Cursor>,
}

/// A key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    /// The key.
    pub name: String,
    /// When its value expires.
    pub expiration: Option<Expiration>,
    /// The metadata of its value.
    pub metadata: Option<Metadata>,
}

impl ListedKey {
    /// A key with the expiration and metadata of its value.
    pub fn new(name: String, about: &ValueMeta) -> Self {
        Self { name, expiration: about.expiration, metadata: about.metadata.clone() }
    }
}

/// Why a request for a page is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The limit is not an integer above 0.
    #[error("Invalid {name} of {text}. Please specify an integer greater than 0.")]
    NoLimit {
        /// The name of the request parameter.
        name: &'static str,
        /// Its value.
        text: String,
    },
    /// The limit is too large.
    #[error("Invalid {name} of {limit}. Please specify an integer less than {MOST_KEYS}.")]
    LargeLimit {
        /// The name of the request parameter.
        name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// The prefix is longer than any key.
    #[error(transparent)]
    Prefix(KeyError),
    /// The cursor is invalid or belongs to another list.
    #[error(transparent)]
    Cursor(#[from] CursorError),
}

impl Page {
    /// Parses the parameters of a request; `limit` with the name of its parameter.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn asked(
        namespace: &str,
        (name, limit): (&'static str, Option<&str>),
        prefix: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<Self, PageError> {
        let limit = match limit {
            None => MOST_KEYS,
            Some(text) => {
                let limit: Option<u64> = text.parse().ok().filter(|&limit| limit > 0);
                let limit = limit.ok_or_else(|| PageError::NoLimit { name, text: text.to_owned() })?;
                let fits = usize::try_from(limit).ok().filter(|&limit| limit <= MOST_KEYS);
                fits.ok_or(PageError::LargeLimit { name, limit })?
            }
        };
        let prefix = prefix.unwrap_or_default();
        if prefix.len() > MOST_KEY_BYTES {
            return Err(PageError::Prefix(KeyError::TooLong { bytes: prefix.len() }));
        }
        // Some clients send an empty cursor for the first page.
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let cursor = cursor.map(|cursor| Cursor::read(cursor, namespace, prefix)).transpose()?;
        Ok(Self { prefix: prefix.to_owned(), after: cursor.map(|cursor| cursor.last), limit })
    }
}

/// The largest number of keys in a page.
pub const MOST_KEYS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_refused_or_as_it_was_asked_for() {
        let asked = |limit, prefix, cursor| Page::asked("ns", ("limit", limit), prefix, cursor);
        let page = |prefix: &str, after: Option<&str>, limit| Page {
            prefix: prefix.into(),
            after: after.map(Into::into),
            limit,
        };
        assert_eq!(asked(None, None, Some("")), Ok(page("", None, 1000)));
        let cursor = Cursor { last: "a7".into() }.text("ns", "a");
        assert_eq!(asked(Some("7"), Some("a"), Some(&cursor)), Ok(page("a", Some("a7"), 7)));
        assert_eq!(asked(None, None, Some(&cursor)), Err(PageError::Cursor(CursorError::AnotherList)));
        assert_eq!(asked(Some("0"), None, None), Err(PageError::NoLimit { name: "limit", text: "0".into() }));
        assert_eq!(
            asked(Some("1001"), None, None),
            Err(PageError::LargeLimit { name: "limit", limit: 1001 })
        );
        assert!(matches!(asked(None, Some(&"p".repeat(513)), None), Err(PageError::Prefix(_))));
    }
}
