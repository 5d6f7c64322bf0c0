//! The layout of keys and values in a stream: one subject per key with one message, whose headers
//! contain the record.
//!
//! A subject consists of the stream's name, the namespace's id and the key in base64url, because a
//! subject token must not contain dots and spaces.

use async_nats::HeaderMap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kv::{CorruptRecord, Record};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) given: u64,
    pub(crate) is_filling: bool,
    /// 0 if there is none.
    pub(crate) sequence: u64,
}

pub(crate) fn subject(stream: &str, namespace: &str, key: &str) -> String {
    format!("{stream}.{namespace}.{}", URL_SAFE_NO_PAD.encode(key))
}

pub(crate) fn mark_subject(stream: &str, data_centre: &str) -> String {
    subject(stream, PAIRED, data_centre)
}

pub(crate) fn all(stream: &str) -> String {
    format!("{stream}.*.*")
}

/// `None` if the subject does not belong to a key.
pub(crate) fn full_key(stream: &str, subject: &str) -> Option<Vec<u8>> {
    let (namespace, key) = subject.strip_prefix(stream)?.strip_prefix('.')?.split_once('.')?;
    if namespace == PAIRED {
        return None;
    }
    let key = URL_SAFE_NO_PAD.decode(key).ok().filter(|key| !key.is_empty())?;
    let key = String::from_utf8(key).ok()?;
    Some(joined(namespace, &key))
}

pub(crate) fn joined(namespace: &str, key: &str) -> Vec<u8> {
    // Names of namespaces cannot contain NUL.
    [namespace.as_bytes(), b"\0", key.as_bytes()].concat()
}

pub(crate) fn parts(full_key: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(full_key).ok()?.split_once('\0')
}

pub(crate) fn headers(record: &Record) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in record.fields() {
        headers.insert(name, value.as_str());
    }
    headers
}

/// Counts towards the maximum payload.
pub(crate) fn length(headers: &HeaderMap) -> u64 {
    let lines = headers.iter().flat_map(|(name, values)| {
        values.iter().map(|value| AsRef::<str>::as_ref(name).len() + value.as_str().len() + ": \r\n".len())
    });
    ("NATS/1.0\r\n\r\n".len() + lines.sum::<usize>()) as u64
}

/// `bytes` is `None` if the consumer sends only headers, which then include the size.
pub(crate) fn record(headers: &HeaderMap, bytes: Option<u64>) -> Result<Record, CorruptRecord> {
    let field = |name: &str| headers.get(name).map(|value| value.as_str());
    let said = || field(SIZE).and_then(|text| text.parse().ok());
    Record::from_fields(field, bytes.or_else(said).unwrap_or(0))
}

impl Mark {
    /// An invalid one counts as a mark at 0.
    pub(crate) fn of(headers: &HeaderMap, sequence: u64) -> Self {
        let number = |name| headers.get(name)?.as_str().parse().ok();
        let is_filling = number(FILLING).is_some_and(|filling: u64| filling > 0);
        Self { given: number(GIVEN).unwrap_or(0), is_filling, sequence }
    }

    pub(crate) fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(GIVEN, self.given.to_string());
        headers.insert(FILLING, u64::from(self.is_filling).to_string());
        headers
    }
}

/// The server stores a message only if this is the last sequence number of its subject.
pub(crate) const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
/// Replaces the namespace in the subject of a mark; ids of namespaces use other letters.
const PAIRED: &str = "paired";
/// The size of the message, added by the server if it sends only headers.
const SIZE: &str = "Nats-Msg-Size";
const GIVEN: &str = "KV-Given";
const FILLING: &str = "KV-Filling";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_comes_back_from_its_subject(key in "\\PC{1,60}") {
            let subject = subject("S", "00ff", &key);
            prop_assert!(!subject.contains([' ', '*', '>']) && subject.split('.').count() == 3);
            let full = full_key("S", &subject).unwrap();
            prop_assert_eq!(parts(&full), Some(("00ff", key.as_str())));
            prop_assert_eq!(full_key("S", &mark_subject("S", &key)), None);
        }

        #[test]
        fn any_subject_is_a_keys_or_not(subject in "(S\\.)?[a-z0-9._-]{0,30}") {
            let _ = full_key("S", &subject);
        }
    }

    #[test]
    fn the_length_of_headers_is_that_of_the_protocol() {
        let version = "0199a3f0c2b1-0002-lhr".parse().unwrap();
        let record = Record { version, content: kv::Content::Deleted { since: 7 } };
        let mut headers = headers(&record);
        headers.insert(EXPECTED, "12");
        let text = "NATS/1.0\r\nKV-Version: 0199a3f0c2b1-0002-lhr\r\nKV-Deleted: 7\r\nNats-Expected-Last-Subject-Sequence: 12\r\n\r\n";
        assert_eq!(length(&headers), text.len() as u64);
    }

    #[test]
    fn a_mark_comes_back_from_its_headers_and_what_is_none_gives_nothing() {
        let mark = Mark { given: 7, is_filling: true, sequence: 9 };
        assert_eq!(Mark::of(&mark.headers(), 9), mark);
        let mut headers = mark.headers();
        headers.insert(GIVEN, "-7");
        assert_eq!(Mark::of(&headers, 9), Mark { given: 0, ..mark });
        assert_eq!(Mark::of(&HeaderMap::new(), 9), Mark { given: 0, is_filling: false, sequence: 9 });
    }
}
