//! The head of an object on disk, in the format of [`http_cache::head`].

use std::sync::Arc;

use http_cache::{Key, head};
use http_stack::HeaderName;

use crate::{body::shared::SharedBody, fast_path::prerendered::PrerenderedSet, store::memory::Object};

pub(super) fn write(object: &Object) -> Vec<u8> {
    head::write(&object.stored, &object.subject, object.sent_epoch)
}

pub(super) fn read(bytes: &[u8], key: &Key, targets: &[HeaderName], body: Arc<SharedBody>) -> Option<Object> {
    let head::Head { stored, subject, began } = head::read(bytes, key.url(), targets)?;
    Some(Object {
        key: key.clone(),
        subject,
        stored,
        body,
        parts: None,
        sent_epoch: began,
        request_number: 0,
        prerendered: PrerenderedSet::default(),
    })
}
