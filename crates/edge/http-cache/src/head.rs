//! Binary format of a stored response without its body. It is parsed for every response that is
//! found on disk, so parsing must be fast.
//!
//! ```text
//! version u8 | flags u8 | status u16 | lifetime, initial age, received, outdated u64, in milliseconds | epoch u64
//! zone | language, if flagged | tags | groups
//! selecting request fields: name | whether there is a value u8 | value
//! fields: name | length of the value u32; all values follow after the last field
//! ```
//! Numbers are little-endian. Texts are prefixed by their length, and lists by their number of
//! elements, both u32.

use std::time::Duration;

use http_types::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::{Control, Lifetime, Stored, Terms, Time, VaryKey, purge::Subject};

/// A stored response without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The response.
    pub stored: Stored,
    /// The attributes that purges match.
    pub subject: Subject,
    /// The purge epoch of the request to the origin.
    pub began: u64,
}

/// Serialises a response without its URL, which is in the key.
pub fn write(stored: &Stored, subject: &Subject, began: u64) -> Vec<u8> {
    let Stored { status, headers, terms, selection } = stored;
    let is_set = [
        terms.source == Lifetime::Rule,
        terms.outdated.is_some(),
        selection.language().is_some(),
        terms.source == Lifetime::Status,
    ];
    let flags = is_set
        .iter()
        .zip([BY_RULE, OUTDATED, LANGUAGE, BY_STATUS])
        .map(|(is_set, flag)| u8::from(*is_set) * flag);
    let mut bytes = Vec::with_capacity(512);
    bytes.extend([VERSION, flags.sum()]);
    bytes.extend(status.as_u16().to_le_bytes());
    let outdated = terms.outdated.map_or(0, Time::as_millis);
    let (lifetime, age) = (milliseconds(terms.lifetime), milliseconds(terms.initial_age));
    for number in [lifetime, age, terms.received.as_millis(), outdated, began] {
        bytes.extend(number.to_le_bytes());
    }
    text(&mut bytes, &subject.zone);
    if let Some(language) = selection.language() {
        text(&mut bytes, language);
    }
    for list in [&subject.tags, &subject.groups] {
        length(&mut bytes, list.len());
        list.iter().for_each(|item| text(&mut bytes, item));
    }
    length(&mut bytes, selection.fields().count());
    for (name, value) in selection.fields() {
        text(&mut bytes, name.as_str());
        bytes.push(u8::from(value.is_some()));
        text(&mut bytes, value.unwrap_or_default());
    }
    length(&mut bytes, headers.len());
    for (name, value) in headers {
        text(&mut bytes, name.as_str());
        length(&mut bytes, value.len());
    }
    headers.values().for_each(|value| bytes.extend_from_slice(value.as_bytes()));
    bytes
}

/// Parses a response; `targets` are its zone's targeted cache fields. `None` if the bytes are
/// invalid or of another version.
pub fn read(bytes: &[u8], url: &str, targets: &[HeaderName]) -> Option<Head> {
    let mut rest = Rest(bytes);
    let [version, flags] = rest.take(2)?.try_into().ok()?;
    if version != VERSION || flags > BY_RULE | OUTDATED | LANGUAGE | BY_STATUS {
        return None;
    }
    let status = StatusCode::from_u16(u16::from_le_bytes(rest.take(2)?.try_into().ok()?)).ok()?;
    let (lifetime, initial_age) = (rest.milliseconds()?, rest.milliseconds()?);
    let (received, outdated, began) = (Time::from_millis(rest.u64()?), rest.u64()?, rest.u64()?);
    let zone = rest.text()?.to_owned();
    let language = if flags & LANGUAGE > 0 { Some(rest.text()?.to_owned()) } else { None };
    let (tags, groups) = (rest.texts()?, rest.texts()?);
    let selected_by = rest.list(|rest| {
        let name = rest.name()?;
        let (has_value, value) = (rest.take(1)? == [1], rest.text()?);
        Some((name, has_value.then(|| value.to_owned())))
    })?;
    let fields = rest.list(|rest| Some((rest.name()?, rest.length()?)))?;
    let headers = headers(fields, rest.0)?;
    let ttl = (flags & BY_RULE > 0).then_some(lifetime);
    let control = Control::read(&headers, targets);
    let terms = Terms {
        initial_age,
        outdated: (flags & OUTDATED > 0).then_some(Time::from_millis(outdated)),
        ..Terms::read(status, &headers, control, ttl, (received, received))
            .or_default((flags & BY_STATUS > 0).then_some(lifetime))
    };
    let selection = VaryKey::again(selected_by, language);
    let subject = Subject { zone, url: url.to_owned(), tags, groups };
    Some(Head { stored: Stored { status, headers, terms, selection }, subject, began })
}

fn headers(fields: Vec<(HeaderName, usize)>, values: &[u8]) -> Option<HeaderMap> {
    let (values, mut begin) = (bytes::Bytes::copy_from_slice(values), 0_usize);
    let mut headers = HeaderMap::with_capacity(fields.len().min(MOST_FIELDS));
    for (name, length) in fields {
        let end = begin.checked_add(length).filter(|end| *end <= values.len())?;
        headers.try_append(name, HeaderValue::from_maybe_shared(values.slice(begin..end)).ok()?).ok()?;
        begin = end;
    }
    (begin == values.len()).then_some(headers)
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    length(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Lengths above 4 GiB are truncated. The result cannot be parsed, so the response counts as
/// missing.
fn length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn milliseconds(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_millis)
    }

    fn length(&mut self) -> Option<usize> {
        let length = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        usize::try_from(length).ok()
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn name(&mut self) -> Option<HeaderName> {
        let length = self.length()?;
        HeaderName::from_bytes(self.take(length)?).ok()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        self.list(|rest| rest.text().map(str::to_owned))
    }

    /// Allocates no more than the input can fill.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.length()?;
        (0..count).map(|_| read(self)).collect()
    }
}

const VERSION: u8 = 2;

const BY_RULE: u8 = 1;
const OUTDATED: u8 = 2;
const LANGUAGE: u8 = 4;
const BY_STATUS: u8 = 8;

const MOST_FIELDS: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const URL: &str = "http://a/b?c";

    fn head() -> Head {
        let mut request = HeaderMap::new();
        request.insert("accept-language", "de;q=0.5, en".parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cache-control", &b"max-age=60, stale-while-revalidate=5"[..]),
            ("vary", b"accept-language, x"),
            ("content-language", b"en"),
            ("x-bytes", b"\xff\xe4"),
            ("x-empty", b""),
            ("link", b"</a>"),
            ("link", b"</b>"),
        ] {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        let times = (Time::from_millis(1_000_000), Time::from_millis(1_002_000));
        let control = Control::read(&headers, &[]);
        let mut terms =
            Terms::read(StatusCode::OK, &headers, control, Some(Duration::from_millis(1_500)), times);
        terms.outdated = Some(times.1);
        let selection = VaryKey::of(&request, &headers).unwrap();
        let [zone, url, tag, group] = ["z", URL, "t", "g"].map(str::to_owned);
        Head {
            stored: Stored { status: StatusCode::OK, headers, terms, selection },
            subject: Subject { zone, url, tags: vec![tag], groups: vec![group] },
            began: 7,
        }
    }

    fn written(head: &Head) -> Vec<u8> {
        write(&head.stored, &head.subject, head.began)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let head = head();
        assert_eq!(read(&written(&head), URL, &[]), Some(head.clone()));
        let mut plain = head;
        plain.stored.selection = VaryKey::default();
        plain.stored.terms = Terms { outdated: None, ..plain.stored.terms };
        assert_eq!(read(&written(&plain), URL, &[]), Some(plain.clone()));
        plain.stored.headers.remove("cache-control");
        plain.stored.terms = Terms::read(
            plain.stored.status,
            &plain.stored.headers,
            Control::default(),
            None,
            (plain.stored.terms.received, plain.stored.terms.received),
        )
        .or_default(Some(Duration::from_secs(7)));
        assert_eq!(read(&written(&plain), URL, &[]), Some(plain));
    }

    #[test]
    fn the_fields_for_caches_of_a_zone_count_as_they_are_now() {
        let mut head = head();
        head.stored.headers.insert("cdn-cache-control", "max-age=5".parse().unwrap());
        head.stored.terms.source = Lifetime::MaxAge;
        let targets = [HeaderName::from_static("cdn-cache-control")];
        let again = |targets| read(&written(&head), URL, targets).unwrap().stored.terms.lifetime.as_secs();
        assert_eq!((again(&targets), again(&[])), (5, 60));
    }

    #[test]
    fn what_its_fuzz_target_begins_with_are_heads() {
        let plain = read(include_bytes!("../../../../fuzz/seeds/head/plain"), URL, &[]).unwrap();
        let whole = read(include_bytes!("../../../../fuzz/seeds/head/whole"), URL, &[]).unwrap();
        assert_eq!((plain.stored.headers.len(), whole.stored.headers.len()), (4, 6));
    }

    #[test]
    fn what_is_shorter_or_longer_or_of_another_version_is_none() {
        let mut bytes = written(&head());
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end], URL, &[]), None, "{end}");
        }
        bytes.push(0);
        assert_eq!(read(&bytes, URL, &[]), None);
        bytes.pop();
        bytes[0] += 1;
        assert_eq!(read(&bytes, URL, &[]), None);
        assert_eq!(read(b"{\"zone\":\"z\"}", URL, &[]), None);
    }

    proptest! {
        #[test]
        fn what_is_damaged_is_another_one_or_none(at in 0..300_usize, byte: u8) {
            let mut bytes = written(&head());
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Some(head) = read(&bytes, URL, &[]) {
                prop_assert_eq!(read(&written(&head), URL, &[]), Some(head));
            }
        }
    }
}
