//! The head of an object on disk, in the format of [`cache::head`].

use std::sync::Arc;

use cache::{Key, head};
use http::HeaderName;

use crate::{fill::Fill, ready::Serving, store::Object};

pub(super) fn write(object: &Object) -> Vec<u8> {
    head::write(&object.stored, &object.subject, object.began)
}

/// Reads the head of an object; `targets` are the cache-control target fields of the zone. `None` if it is
/// malformed.
pub(super) fn read(bytes: &[u8], key: &Key, targets: &[HeaderName], body: Arc<Fill>) -> Option<Object> {
    let head::Head { stored, subject, began } = head::read(bytes, key.url(), targets)?;
    Some(Object {
        key: key.clone(),
        subject,
        stored,
        body,
        parts: None,
        began,
        asked: 0,
        serving: Serving::default(),
    })
}
