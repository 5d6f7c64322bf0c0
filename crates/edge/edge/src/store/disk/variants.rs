//! Bodies in content codings on disk, each with a separate key. The head identifies the object
//! whose body was coded; the entry is valid while that object exists.
//!
//! ```text
//! key: coding | line feed | the object's key
//! head: version u8 | hash u64 | number u64, of the body's object, little-endian
//! ```

use std::sync::Arc;

use ::segment_store::{Body, Error, Id, Store, Wait};
use http_cache::{Coding, Key};
use tracing::warn;

use super::body;
use crate::{body::shared::SharedBody, store::memory::Object};

pub(crate) struct EncodedVariant {
    pub(crate) body: SharedBody,
    pub(crate) rest: Option<Body>,
    id: Id,
    store: Store,
}

impl EncodedVariant {
    pub(crate) fn remove(&self) {
        super::remove(&self.store, self.id);
    }
}

pub(super) fn search(
    store: &Store,
    object: &Object,
    coding: Coding,
    wait: Wait,
) -> Result<Option<EncodedVariant>, Error> {
    let Some(&of) = object.body.disk_id.get() else { return Ok(None) };
    let found = store.look(&name(&object.key, coding), wait)?;
    let Some(found) = found.into_iter().find(|found| found.head == head(of)) else { return Ok(None) };
    let (fill, rest) = match body(&found, u64::MAX, wait) {
        Ok(body) => body,
        Err(error) if wait == Wait::Never => return Err(error),
        Err(error) => {
            warn!(%error, key = %object.key, "a coded body on disk cannot be read");
            super::remove(store, found.id);
            return Ok(None);
        }
    };
    let _ = fill.disk_id.set(found.id);
    Ok(Some(EncodedVariant { body: fill, rest, id: found.id, store: store.clone() }))
}

pub(super) fn may_exist(store: &Store, key: &Key, coding: Coding) -> bool {
    store.contains(&name(key, coding))
}

/// Does nothing unless the body is complete in memory, and the disk has the identity body but not
/// this coding.
pub(super) fn write(store: &Store, object: &Object, coding: Coding) -> Result<(), Error> {
    let (Some(&of), Some(fill)) = (object.body.disk_id.get(), object.body.encoded(coding)) else {
        return Ok(());
    };
    let Some(whole) = whole(fill) else { return Ok(()) };
    let mut writer = store.begin(&name(&object.key, coding), &head(of))?;
    whole.iter().try_for_each(|piece| writer.write(piece))?;
    let _ = fill.disk_id.set(writer.finish()?);
    Ok(())
}

fn whole(fill: &Arc<SharedBody>) -> Option<Vec<http_stack::Bytes>> {
    let length = fill.length().filter(|_| fill.disk_id.get().is_none())?;
    let pieces = fill.pieces();
    (pieces.iter().map(|piece| piece.len() as u64).sum::<u64>() == length).then_some(pieces)
}

pub(super) fn remove(store: &Store, key: &Key, of: Id) -> Result<(), Error> {
    for name in Coding::ALL.map(|coding| name(key, coding)).iter().filter(|name| store.contains(name)) {
        for found in store.find(name)?.into_iter().filter(|found| found.head == head(of)) {
            store.remove(found.id)?;
        }
    }
    Ok(())
}

/// Never the key of an object, because these begin with a scheme.
fn name(key: &Key, coding: Coding) -> Vec<u8> {
    [coding.token().as_bytes(), b"\n", key.as_str().as_bytes()].concat()
}

/// The number of an object does not change and is never reused.
fn head(of: Id) -> Vec<u8> {
    [&[FORMAT_VERSION][..], &of.hash.to_le_bytes(), &of.number.to_le_bytes()].concat()
}

const FORMAT_VERSION: u8 = 1;
