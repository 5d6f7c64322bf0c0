//! What is kept of an object beside its body: as [`cache::head`] writes it.

use std::sync::Arc;

use cache::{Key, head};
use http::HeaderName;

use crate::{fill::Fill, ready::Serving, store::Object};

/// Writes it.
pub(super) fn write(object: &Object) -> Vec<u8> {
    head::write(&object.stored, &object.subject, object.began)
}

/// Reads it, for a key, in a zone whose fields for caches are these. `None` if it is not one.
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
