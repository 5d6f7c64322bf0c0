//! Messages between two stores of the same values: records with their values in a binary body, and
//! lists of keys in JSON.

use http_stack::Bytes;
use kv::{ApplyOutcome, Content, KeyVersion, MOST_KEY_BYTES, MOST_VALUE_BYTES, Record, Span, Version};
use serde::{Deserialize, Serialize};

/// A key with its namespace, its record, and its value if there is one.
pub(super) type ReplicatedRecord = (String, Record, Bytes);

pub(super) fn hand(body: &mut Vec<u8>, (key, record, value): &ReplicatedRecord) {
    for part in [key.as_bytes(), &record.encode()] {
        // A key and a record are a few kilobytes at most.
        body.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        body.extend(part);
    }
    body.extend_from_slice(value);
}

/// `None` if the body is invalid. Values share the body's memory.
pub(super) fn handed(body: &Bytes) -> Option<Vec<ReplicatedRecord>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let mut part = |most: usize| {
            let length = body.get(at..at + 4)?.try_into().map(u32::from_be_bytes).ok()?;
            let length = usize::try_from(length).ok().filter(|&length| length <= most)?;
            let start = at + 4;
            at = start.checked_add(length).filter(|&end| end <= body.len())?;
            Some(start..at)
        };
        let key = std::str::from_utf8(&body[part(MOST_NAME)?]).ok().filter(|key| key.contains('\0'))?;
        let record = Record::decode(&body[part(MOST_RECORD)?]).ok()?;
        let bytes = match &record.content {
            Content::Value(about) => Some(about.bytes).filter(|&bytes| bytes <= MOST_VALUE_BYTES)?,
            Content::Deleted { .. } => 0,
        };
        let end = at.checked_add(usize::try_from(bytes).ok()?).filter(|&end| end <= body.len())?;
        all.push((key.to_owned(), record, body.slice(at..end)));
        at = end;
    }
    Some(all)
}

/// `None` if the body is invalid.
pub(super) fn is_handed_as_read(body: &Bytes) -> Option<bool> {
    let all = handed(body)?;
    let mut again = Vec::new();
    all.iter().for_each(|one| hand(&mut again, one));
    Some(handed(&again.into()) == Some(all))
}

/// The outcome of replicated records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplySummary {
    pub(super) new: u64,
    /// Records older than those in the store.
    pub(super) older: u64,
}

impl ApplySummary {
    pub(super) fn of(given: &[Option<ApplyOutcome>]) -> Self {
        let count = |is_one: fn(&ApplyOutcome) -> bool| {
            given.iter().flatten().filter(|given| is_one(given)).count() as u64
        };
        Self {
            new: count(|given| *given == ApplyOutcome::New),
            older: count(|given| matches!(given, ApplyOutcome::Older(_))),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DigestQuery {
    after: String,
    upto: Option<String>,
    digest: u64,
}

impl DigestQuery {
    pub(super) fn new(span: Span, digest: u64) -> Self {
        Self { after: span.after, upto: span.upto, digest }
    }

    pub(super) fn into_span(self) -> (Span, u64) {
        (Span { after: self.after, upto: self.upto }, self.digest)
    }
}

/// The versions are absent if the digests match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DigestReply {
    pub(super) is_same: bool,
    /// Ascending keys with versions.
    known: Vec<(String, String)>,
    /// The end of the span that was read.
    pub(super) upto: Option<String>,
}

impl DigestReply {
    pub(super) fn same() -> Self {
        Self { is_same: true, ..Self::default() }
    }

    pub(super) fn of(known: Vec<KeyVersion>, upto: Option<String>) -> Self {
        let known = known.into_iter().map(|(key, version)| (key, version.to_string())).collect();
        Self { is_same: false, known, upto }
    }

    /// `None` if they are invalid.
    pub(super) fn known(&self) -> Option<Vec<KeyVersion>> {
        let read = |(key, version): &(String, String)| Some((key.clone(), version.parse::<Version>().ok()?));
        self.known.iter().map(read).collect::<Option<Vec<_>>>().filter(|known| known.is_sorted())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingKeys {
    pub(super) keys: Vec<String>,
}

/// 64 KiB of names, where JSON may escape each byte as six, and versions.
pub(super) const LONGEST_LIST: usize = 1 << 20;
/// Keys of a list, and bytes of their names.
pub(super) const MOST_KEYS: usize = 1000;
pub(super) const MOST_BYTES: usize = 64 << 10;
/// One large value, or many small ones.
pub(super) const LONGEST_BODY: usize = MOST_VALUE_BYTES_IN_MEMORY + (1 << 20);
const MOST_VALUE_BYTES_IN_MEMORY: usize = 25 << 20;
/// A namespace's id, a zero byte and a key.
const MOST_NAME: usize = 64 + 1 + MOST_KEY_BYTES;
/// A version, numbers and metadata.
const MOST_RECORD: usize = 4096;

#[cfg(test)]
mod tests {
    use kv::{StoreName, ValueMeta};
    use proptest::prelude::*;

    use super::*;

    fn one() -> impl Strategy<Value = ReplicatedRecord> {
        let value = prop::collection::vec(any::<u8>(), 0..40);
        ("[a-z]{1,4}\0[a-z]{1,8}", any::<u64>(), prop::option::of(value)).prop_map(|(key, stamp, value)| {
            let version = Version::from_parts(stamp, StoreName::new("lhr").unwrap());
            let content = match &value {
                None => Content::Deleted { since: 7 },
                Some(value) => {
                    Content::Value(ValueMeta { bytes: value.len() as u64, expiration: None, metadata: None })
                }
            };
            (key, Record { version, content }, value.unwrap_or_default().into())
        })
    }

    proptest! {
        #[test]
        fn what_is_handed_over_is_read_as_it_was_and_nothing_less_is(all in prop::collection::vec(one(), 0..5), cut: prop::sample::Index) {
            let mut body = Vec::new();
            all.iter().for_each(|one| hand(&mut body, one));
            let whole = Bytes::from(body);
            let read = handed(&whole);
            prop_assert_eq!(read.as_ref(), Some(&all));
            if !whole.is_empty() {
                let less = handed(&whole.slice(..cut.index(whole.len())));
                prop_assert!(less.is_none_or(|less| less.len() < all.len()));
            }
        }

        #[test]
        fn any_bytes_are_records_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_ne!(is_handed_as_read(&Bytes::from(bytes)), Some(false));
        }
    }

    #[test]
    fn a_list_that_is_not_one_is_refused() {
        let of = |known: &str| {
            let there: DigestReply =
                serde_json::from_str(&format!("{{\"is_same\":false,\"known\":{known},\"upto\":null}}"))
                    .unwrap();
            there.known().map(|known| known.len())
        };
        let version = "0199a3f0c2b1-0000-lhr";
        assert_eq!(of(&format!("[[\"a\",\"{version}\"],[\"b\",\"{version}\"]]")), Some(2));
        assert_eq!(of(&format!("[[\"b\",\"{version}\"],[\"a\",\"{version}\"]]")), None);
        assert_eq!(of("[[\"a\",\"7\"]]"), None);
    }
}
