//! What data centres say to one another about keys, in fields of requests and responses and in one kind of body.
//!
//! A read is `GET /KEY?urlencoded=true` as the binding has it, a write or a list is passed on as it came. Ages travel as ages: clocks of
//! data centres are not compared.

use std::time::Duration;

use http::{Bytes, HeaderMap, HeaderName, HeaderValue, header};
use kv::{About, Expiration, Key, MOST_VALUE_BYTES, Metadata, Tier, Version, Wanted};
use serde::{Deserialize, Serialize};

use super::handed::is_handed_as_read;
use crate::{
    encoding::encoded,
    value::{EXPIRATION, METADATA, VERSION, set},
};

/// Of a request: as what the other one is asked, or [`WRITE`] or [`TELL`].
pub(super) const ASKED_AS: HeaderName = HeaderName::from_static("lh-tier-name");
/// What is to be done in the store.
pub(super) const WRITE: &str = "write";
/// That keys were written.
pub(super) const TELL: &str = "tell";
/// What the other store knows of keys.
pub(super) const GIVE: &str = "give";
/// Whether both stores know the same.
pub(super) const COMPARE: &str = "compare";
/// Of which keys the other store knows less.
pub(super) const NOTE: &str = "note";
/// What a reader of the other one would get.
pub(super) const LOOK: &str = "look";
/// Of a response: another process takes the place of the one that was asked, which has done nothing.
pub(super) const AGAIN: HeaderName = HeaderName::from_static("lh-request-deadline");
/// Of a response that refuses a write: it may have been done all the same.
pub(super) const UNSURE: HeaderName = HeaderName::from_static("lh-kv-unsure");
/// Of a request: milliseconds that an answer may be old, and those that it may be if nobody else answers.
const WITHIN: HeaderName = HeaderName::from_static("lh-kv-lease");
const CACHE_TTL: HeaderName = HeaderName::from_static("lh-kv-ttl");
/// Of a response: how old it is, in milliseconds.
const AGE: HeaderName = HeaderName::from_static("lh-kv-epoch");
/// Of a request: the version of the first key that is written, if it was made by whoever asks; or that of the value that whoever reads has, and need not
/// be sent. Of a response about nothing that is known: that the store may not have all keys yet.
const PROPOSED: HeaderName = HeaderName::from_static("lh-kv-version");
const FILLING: HeaderName = HeaderName::from_static("lh-kv-filling");
/// Of a response: where it comes from.
const SOURCE: HeaderName = HeaderName::from_static("lh-tier-hit");

/// The target of a read.
pub(super) fn target(key: &str) -> String {
    format!("/{}?urlencoded=true", encoded(key))
}

/// Says what is wanted.
pub(super) fn write_wanted(headers: &mut HeaderMap, wanted: Wanted) {
    for (name, time) in [(WITHIN, wanted.within), (CACHE_TTL, wanted.cache_ttl)] {
        if let Some(time) = time {
            headers.insert(name, millis(time).into());
        }
    }
}

/// Reads what is wanted; `None` if it cannot be read.
pub(super) fn read_wanted(headers: &HeaderMap) -> Option<Wanted> {
    let time = |name: HeaderName| match headers.get(&name) {
        None => Some(None),
        Some(_) => Some(Some(Duration::from_millis(number(headers, &name)?))),
    };
    Some(Wanted { within: time(WITHIN)?, cache_ttl: time(CACHE_TTL)? })
}

/// Says which version a write has.
pub(super) fn write_proposed(headers: &mut HeaderMap, version: &Version) {
    set(headers, PROPOSED, &version.to_string());
}

/// Reads that; `None` inside if there is none, and outside if it cannot be read.
pub(super) fn read_proposed(headers: &HeaderMap) -> Option<Option<Version>> {
    match headers.get(PROPOSED) {
        None => Some(None),
        Some(version) => Some(Some(version.to_str().ok()?.parse().ok()?)),
    }
}

/// Says which version of a value is there already.
pub(super) fn write_had(headers: &mut HeaderMap, version: &str) {
    set(headers, PROPOSED, version);
}

/// Whether it is this one.
pub(super) fn is_had(headers: &HeaderMap, version: Option<&str>) -> bool {
    let had = headers.get(PROPOSED);
    had.is_some_and(|had| version.is_some_and(|version| had.as_bytes() == version.as_bytes()))
}

/// What another data centre knows of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The value, but for its bytes; `None` if there is none.
    pub(super) about: Option<About>,
    /// Of the value, or of its deletion.
    pub(super) version: Option<String>,
    pub(super) age: Duration,
    pub(super) source: Tier,
    /// Whether nothing is known of it by a store that may not have all keys yet.
    pub(super) is_unsure: bool,
    /// Whether it is the value that whoever asked has, which is not sent; the response's status says so.
    pub(super) is_had: bool,
}

impl Said {
    /// Puts it down in a header.
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

    /// Reads it from a response's header, which says by its status whether there is a value; `None` if it is not as agreed on.
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
            Some(About { bytes, expiration, metadata })
        } else {
            None
        };
        let age = Duration::from_millis(number(headers, &AGE)?);
        let source = Tier::named(headers.get(SOURCE)?.to_str().ok()?)?;
        let is_unsure = headers.contains_key(FILLING) && version.is_none();
        Some(Self { about, version, age, source, is_unsure, is_had: false })
    }
}

/// Keys that were written: a namespace's id, a key, and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    pub(super) written: Vec<(String, String, String)>,
    /// Whether any other key may have been written as well.
    pub(super) everything: bool,
}

impl Told {
    /// Bytes of a message at most.
    pub(super) const LONGEST: usize = 1 << 20;

    /// As a body.
    pub(super) fn write(&self) -> Vec<u8> {
        // Texts are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads it; `None` if it is not as agreed on.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let told: Self =
            serde_json::from_slice(Some(text).filter(|text| text.len() <= Self::LONGEST)?).ok()?;
        let is_one = |(namespace, key, version): &(String, String, String)| {
            is_namespace(namespace) && Key::new(key).is_ok() && version.parse::<Version>().is_ok()
        };
        told.written.iter().all(is_one).then_some(told)
    }
}

/// Whether a text is a namespace's id.
pub(super) fn is_namespace(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether what is read of a header and of a body is the same when it is written and read again; `None` if nothing is. For the fuzz target.
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
            let about = about.map(|(bytes, at, text)| About {
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
            let wanted = Wanted { within: of(within), cache_ttl: of(ttl) };
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
