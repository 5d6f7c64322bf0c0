//! What is kept of an object beside its body, as it is on disk: JSON, one object each.

use std::{sync::Arc, time::Duration};

use cache::{Control, Key, Lifetime, Selection, Stored, Terms, Time, purge::Subject};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::{fill::Fill, ready::Serving, store::Object};

#[derive(Serialize, Deserialize)]
struct Head {
    zone: String,
    url: String,
    tags: Vec<String>,
    groups: Vec<String>,
    status: u16,
    /// Values byte for byte, each as the character with its number.
    fields: Vec<(String, String)>,
    selected_by: Vec<(String, Option<String>)>,
    language: Option<String>,
    lifetime_ms: u64,
    is_by_rule: bool,
    initial_age_ms: u64,
    received: u64,
    outdated: Option<u64>,
    began: u64,
}

/// Writes it.
pub(super) fn write(object: &Object) -> Vec<u8> {
    let Object { subject, stored, began, .. } = object;
    let terms = &stored.terms;
    let text = |value: &HeaderValue| value.as_bytes().iter().map(|&byte| char::from(byte)).collect();
    let fields = stored.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
    let selected_by =
        stored.selection.fields().map(|(name, value)| (name.as_str().to_owned(), value.map(str::to_owned)));
    let head = Head {
        zone: subject.zone.clone(),
        url: subject.url.clone(),
        tags: subject.tags.clone(),
        groups: subject.groups.clone(),
        status: stored.status.as_u16(),
        fields: fields.collect(),
        selected_by: selected_by.collect(),
        language: stored.selection.language().map(str::to_owned),
        lifetime_ms: milliseconds(terms.lifetime),
        is_by_rule: terms.source == Lifetime::Rule,
        initial_age_ms: milliseconds(terms.initial_age),
        received: terms.received.as_millis(),
        outdated: terms.outdated.map(Time::as_millis),
        began: *began,
    };
    serde_json::to_vec(&head).unwrap_or_default()
}

/// Reads it, for a key, in a zone whose fields for caches are these. `None` if it is not one.
pub(super) fn read(bytes: &[u8], key: &Key, targets: &[HeaderName], body: Arc<Fill>) -> Option<Object> {
    let head: Head = serde_json::from_slice(bytes).ok()?;
    let mut headers = HeaderMap::new();
    for (name, value) in &head.fields {
        let value: Option<Vec<u8>> = value.chars().map(|letter| u8::try_from(letter).ok()).collect();
        headers.append(name.parse::<HeaderName>().ok()?, HeaderValue::from_bytes(&value?).ok()?);
    }
    let status = StatusCode::from_u16(head.status).ok()?;
    let fields = head.selected_by.into_iter().map(|(name, value)| Some((name.parse().ok()?, value)));
    let selection = Selection::again(fields.collect::<Option<_>>()?, head.language);
    let received = Time::from_millis(head.received);
    let ttl = head.is_by_rule.then(|| Duration::from_millis(head.lifetime_ms));
    let control = Control::read(&headers, targets);
    let terms = Terms {
        initial_age: Duration::from_millis(head.initial_age_ms),
        outdated: head.outdated.map(Time::from_millis),
        ..Terms::read(status, &headers, control, ttl, (received, received))
    };
    Some(Object {
        key: key.clone(),
        subject: Subject { zone: head.zone, url: head.url, tags: head.tags, groups: head.groups },
        stored: Stored { status, headers, terms, selection },
        body,
        parts: None,
        began: head.began,
        serving: Serving::default(),
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let key = Key::of(&"http://a/b?c".parse().unwrap(), &HeaderMap::new(), &cache::KeyRule::default());
        let mut request = HeaderMap::new();
        request.insert("accept-language", "de;q=0.5, en".parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cache-control", &b"max-age=60, stale-while-revalidate=5"[..]),
            ("vary", b"accept-language, x"),
            ("content-language", b"en"),
            ("x-bytes", b"\xff\xe4"),
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
        let object = Object {
            key: key.clone(),
            subject: Subject {
                zone: "z".into(),
                url: key.url().into(),
                tags: vec!["t".into()],
                groups: vec!["g".into()],
            },
            stored: Stored {
                status: StatusCode::OK,
                selection: Selection::of(&request, &headers).unwrap(),
                headers,
                terms,
            },
            body: Arc::default(),
            parts: None,
            began: 7,
            serving: Serving::default(),
        };
        let again = read(&write(&object), &key, &[], Arc::default()).unwrap();
        assert_eq!(again.subject, object.subject);
        assert_eq!(again.began, 7);
        assert_eq!(again.stored.status, object.stored.status);
        assert_eq!(again.stored.headers, object.stored.headers);
        assert_eq!(again.stored.terms, object.stored.terms);
        assert_eq!(again.stored.selection, object.stored.selection);
        assert!(again.stored.selection.matches(&request));
        assert!(read(b"{}", &key, &[], Arc::default()).is_none());
    }
}
