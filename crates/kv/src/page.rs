//! What a reader asks of a list: which keys, how many, and from where on.

use crate::{About, Cursor, CursorError, Expiration, KeyError, MOST_KEY_BYTES, Metadata};

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What its keys begin with.
    pub prefix: String,
    /// The key before its first one.
    pub after: Option<String>,
    /// How many keys it has at most.
    pub limit: usize,
}

/// The keys of a page that have a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its keys.
    pub keys: Vec<ListedKey>,
    /// Where the next page begins; `None` if this was the last one. There may be one behind a page with few keys or none: keys without a
    /// value are passed over, and a page ends after many of them.
    pub next: Option<Cursor>,
}

/// A key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    /// The key.
    pub name: String,
    /// When its value is over.
    pub expiration: Option<Expiration>,
    /// What was said of its value.
    pub metadata: Option<Metadata>,
}

impl ListedKey {
    /// A key, and what is said of its value.
    pub fn new(name: String, about: &About) -> Self {
        Self { name, expiration: about.expiration, metadata: about.metadata.clone() }
    }
}

/// Why there is no such page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The limit is no number above 0.
    #[error("Invalid {name} of {text}. Please specify an integer greater than 0.")]
    NoLimit {
        /// As the request calls it.
        name: &'static str,
        /// What it says.
        text: String,
    },
    /// The limit is too large.
    #[error("Invalid {name} of {limit}. Please specify an integer less than {MOST_KEYS}.")]
    LargeLimit {
        /// As the request calls it.
        name: &'static str,
        /// What it says.
        limit: u64,
    },
    /// The prefix is longer than any key.
    #[error(transparent)]
    Prefix(KeyError),
    /// The cursor is not one of this list.
    #[error(transparent)]
    Cursor(#[from] CursorError),
}

impl Page {
    /// As it is asked for; the limit with its name.
    ///
    /// # Errors
    /// When there is none.
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
        // An empty cursor is how some clients ask for the first page.
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let cursor = cursor.map(|cursor| Cursor::read(cursor, namespace, prefix)).transpose()?;
        Ok(Self { prefix: prefix.to_owned(), after: cursor.map(|cursor| cursor.last), limit })
    }
}

/// Keys of the longest page.
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
