//! The protocol between data centres: header fields of requests and responses, and a JSON body for
//! notifications.
//!
//! A read is `GET /KEY?urlencoded=true`, as in the binding. Writes and lists are forwarded
//! unchanged.

use std::time::Duration;

use http_stack::{Bytes, HeaderMap, HeaderName, HeaderValue, header};
use kv::{Expiration, Key, MOST_VALUE_BYTES, Metadata, ReadOptions, Tier, ValueMeta, Version};
use serde::{Deserialize, Serialize};

use super::record_stream::is_handed_as_read;
use crate::{
    encoding::encoded,
    value::{EXPIRATION, METADATA, VERSION, set},
};

/// In requests: the requested tier, or the kind of the request, such as [`WRITE`] or [`TELL`].
pub(super) const ASKED_AS: HeaderName = HeaderName::from_static("lh-tier-name");
pub(super) const WRITE: &str = "write";
pub(super) const TELL: &str = "tell";
pub(super) const GIVE: &str = "give";
pub(super) const COMPARE: &str = "compare";
pub(super) const NOTE: &str = "note";
/// A read that leaves copies unchanged.
pub(super) const LOOK: &str = "look";
/// In responses: the process is being replaced and has not processed the request.
pub(super) const AGAIN: HeaderName = HeaderName::from_static("lh-request-deadline");
/// In error responses to writes: the write may have been applied.
pub(super) const UNSURE: HeaderName = HeaderName::from_static("lh-kv-unsure");
/// In requests: the permitted age in milliseconds, and that if no other data centre responds.
const WITHIN: HeaderName = HeaderName::from_static("lh-kv-lease");
const CACHE_TTL: HeaderName = HeaderName::from_static("lh-kv-ttl");
/// In responses: milliseconds.
const AGE: HeaderName = HeaderName::from_static("lh-kv-epoch");
/// In write requests: the version of the first key. In read requests: the version of the
/// requester's copy. `FILLING` in responses: the store has no record, but may lack keys.
const PROPOSED: HeaderName = HeaderName::from_static("lh-kv-version");
const FILLING: HeaderName = HeaderName::from_static("lh-kv-filling");
const SOURCE: HeaderName = HeaderName::from_static("lh-tier-hit");

pub(super) fn target(key: &str) -> String {
    format!("/{}?urlencoded=true", encoded(key))
}

pub(super) fn write_wanted(headers: &mut HeaderMap, wanted: ReadOptions) {
    for (name, time) in [(WITHIN, wanted.within), (CACHE_TTL, wanted.cache_ttl)] {
        if let Some(time) = time {
            headers.insert(name, millis(time).into());
        }
    }
}

/// `None` if a field is invalid.
pub(super) fn read_wanted(headers: &HeaderMap) -> Option<ReadOptions> {
    let time = |name: HeaderName| match headers.get(&name) {
        None => Some(None),
        Some(_) => Some(Some(Duration::from_millis(number(headers, &name)?))),
    };
    Some(ReadOptions { within: time(WITHIN)?, cache_ttl: time(CACHE_TTL)? })
}

pub(super) fn write_proposed(headers: &mut HeaderMap, version: &Version) {
    set(headers, PROPOSED, &version.to_string());
}

/// `Some(None)` if there is no field, and `None` if it is invalid.
pub(super) fn read_proposed(headers: &HeaderMap) -> Option<Option<Version>> {
    match headers.get(PROPOSED) {
        None => Some(None),
        Some(version) => Some(Some(version.to_str().ok()?.parse().ok()?)),
    }
}

pub(super) fn write_had(headers: &mut HeaderMap, version: &str) {
    set(headers, PROPOSED, version);
}

pub(super) fn is_had(headers: &HeaderMap, version: Option<&str>) -> bool {
    let had = headers.get(PROPOSED);
    had.is_some_and(|had| version.is_some_and(|version| had.as_bytes() == version.as_bytes()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// `None` if there is no value.
    pub(super) about: Option<ValueMeta>,
    /// Of the value or of its deletion.
    pub(super) version: Option<String>,
    pub(super) age: Duration,
    pub(super) source: Tier,
    /// The store has no record and may lack keys.
    pub(super) is_unsure: bool,
    /// The value is not sent, because the requester's copy is the newest.
    pub(super) is_had: bool,
}

impl Said {
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        headers.insert(AGE, millis(self.age).into());
        headers.insert(SOURCE, HeaderValue::from_static(self.source.name()));
        if self.is_unsure {
            headers.insert(FILLING, HeaderValue::from_static("1"));
        }
        if let Some(version) = &self.version {
            set(headers, VERSION, version);
        }
        let Some(about) = self.about.as_ref().filter(|_| !self.is_had) else { return };
        headers.insert(header::CONTENT_LENGTH, about.bytes.into());
        if let Some(expiration) = about.expiration {
            headers.insert(EXPIRATION, expiration.0.into());
        }
        if let Some(metadata) = &about.metadata {
            set(headers, METADATA, metadata.as_str());
        }
    }

    /// The status determines `has_value`. `None` if the header is invalid.
    pub(super) fn read(headers: &HeaderMap, has_value: bool) -> Option<Self> {
        let version = match headers.get(VERSION) {
            None => None,
            Some(version) => {
                let text = version.to_str().ok()?;
                text.parse::<Version>().ok()?;
                Some(text.to_owned())
            }
        };
        let about = if has_value {
            let bytes =
                number(headers, &header::CONTENT_LENGTH).filter(|&bytes| bytes <= MOST_VALUE_BYTES)?;
            let expiration = match headers.get(EXPIRATION) {
                None => None,
                Some(_) => Some(Expiration(number(headers, &EXPIRATION)?)),
            };
            let metadata =
                headers.get(METADATA).map(|field| Metadata::new(field.as_bytes())).transpose().ok()?;
            // A value without a version would be older than all others.
            version.as_ref()?;
            Some(ValueMeta { bytes, expiration, metadata })
        } else {
            None
        };
        let age = Duration::from_millis(number(headers, &AGE)?);
        let source = Tier::named(headers.get(SOURCE)?.to_str().ok()?)?;
        let is_unsure = headers.contains_key(FILLING) && version.is_none();
        Some(Self { about, version, age, source, is_unsure, is_had: false })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    pub(super) written: Vec<(String, String, String)>,
    /// Any other key may have been written too.
    pub(super) everything: bool,
}

impl Told {
    /// In bytes.
    pub(super) const LONGEST: usize = 1 << 20;

    pub(super) fn write(&self) -> Vec<u8> {
        // Serialising strings cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// `None` if it is invalid.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let told: Self =
            serde_json::from_slice(Some(text).filter(|text| text.len() <= Self::LONGEST)?).ok()?;
        let is_one = |(namespace, key, version): &(String, String, String)| {
            is_namespace(namespace) && Key::new(key).is_ok() && version.parse::<Version>().is_ok()
        };
        told.written.iter().all(is_one).then_some(told)
    }
}

pub(super) fn is_namespace(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a parsed header and body survive a round trip; `None` if both are invalid. For the fuzz
/// target.
#[doc(hidden)]
pub fn is_read_as_written(headers: &HeaderMap, body: &[u8]) -> Option<bool> {
    let again = |said: Said| {
        let mut headers = HeaderMap::new();
        said.write(&mut headers);
        Said::read(&headers, said.about.is_some()) == Some(said)
    };
    let said = [true, false].into_iter().filter_map(|has_value| Said::read(headers, has_value)).map(again);
    let wanted = read_wanted(headers).map(|wanted| {
        let mut headers = HeaderMap::new();
        write_wanted(&mut headers, wanted);
        read_wanted(&headers) == Some(wanted)
    });
    let told = Told::read(body).map(|told| Told::read(&told.write()).is_none_or(|again| again == told));
    let handed = is_handed_as_read(&Bytes::copy_from_slice(body));
    said.chain(wanted).chain(told).chain(handed).reduce(|all, one| all && one)
}

fn number(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    let text = headers.get(name)?.to_str().ok()?;
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_said_of_a_key_is_read_as_it_was_written(
            about in prop::option::of((0..=MOST_VALUE_BYTES, prop::option::of(1..u64::MAX), prop::option::of("[a-z ]{0,20}"))),
            age_ms: u32,
            tier in 0..4_usize,
        ) {
            let about = about.map(|(bytes, at, text)| ValueMeta {
                bytes,
                expiration: at.map(Expiration),
                metadata: text.map(|text| Metadata::new(format!("\"{text}\"").as_bytes()).unwrap()),
            });
            let version = Some("0199a3f0c2b1-0000-lhr".to_owned());
            let age = Duration::from_millis(age_ms.into());
            let said = Said { about, version, age, source: Tier::ALL[tier], is_unsure: false, is_had: false };
            let mut headers = HeaderMap::new();
            said.write(&mut headers);
            prop_assert_eq!(Said::read(&headers, said.about.is_some()), Some(said.clone()));
            headers.remove(AGE);
            prop_assert_eq!(Said::read(&headers, said.about.is_some()), None);
        }

        #[test]
        fn what_is_wanted_is_read_as_it_was_written(within in prop::option::of(any::<u32>()), ttl in prop::option::of(any::<u32>())) {
            let of = |time: Option<u32>| time.map(|ms| Duration::from_millis(ms.into()));
            let wanted = ReadOptions { within: of(within), cache_ttl: of(ttl) };
            let mut headers = HeaderMap::new();
            write_wanted(&mut headers, wanted);
            prop_assert_eq!(read_wanted(&headers), Some(wanted));
        }
    }

    #[test]
    fn a_message_with_anything_wrong_in_it_is_none() {
        let (namespace, version) = ("0f2ac74b498b48028cb68387c421e279", "0199a3f0c2b1-0000-lhr");
        let told = |namespace: &str, key: &str, version: &str| {
            let written = vec![(namespace.to_owned(), key.to_owned(), version.to_owned())];
            Told::read(&Told { written, everything: false }.write())
        };
        assert!(told(namespace, "a", version).is_some());
        for (namespace, key, version) in [
            ("sessions", "a", version),
            (namespace, "", version),
            (namespace, "a", "1"),
            (namespace, "..", version),
        ] {
            assert_eq!(told(namespace, key, version), None, "{namespace} {key} {version}");
        }
        assert_eq!(Told::read(b"{}"), None);
        assert_eq!(Told::read(&vec![b' '; Told::LONGEST + 1]), None);
    }
}
