//! A page of keys in byte order.

use std::ops::Bound;

use kv::{Cursor, Listed, ListedKey, Millis, Page};

use redb::ReadTransaction;

use crate::{
    Error,
    file::File,
    layout::{HEADS, Head, full_key},
};

pub(crate) fn list(file: &File, namespace: &str, page: &Page, now: Millis) -> Result<Listed, Error> {
    file.read(|view| list_from(file, view, namespace, page, now))
}

fn list_from(
    file: &File,
    view: &ReadTransaction,
    namespace: &str,
    page: &Page,
    now: Millis,
) -> Result<Listed, Error> {
    let failed = |error: redb::Error| file.failed("read", error);
    let heads = view.open_table(HEADS).map_err(|error| failed(error.into()))?;
    let first = full_key(namespace, &page.prefix);
    let after = page.after.as_ref().map(|after| full_key(namespace, after));
    let start = match &after {
        Some(after) if *after >= first => Bound::Excluded(&after[..]),
        _ => Bound::Included(&first[..]),
    };
    let range = heads.range::<&[u8]>((start, Bound::Unbounded)).map_err(|error| failed(error.into()))?;
    let (mut keys, mut looked) = (Vec::new(), 0);
    let mut last = None;
    for entry in range {
        let (key, head) = entry.map_err(|error| failed(error.into()))?;
        if !key.value().starts_with(&first) {
            return Ok(Listed { keys, next: None });
        }
        if keys.len() == page.limit || looked == MOST_LOOKED {
            return Ok(Listed { keys, next: last.map(|last| Cursor { last }) });
        }
        looked += 1;
        let name = &key.value()[namespace.len() + 1..];
        let name = std::str::from_utf8(name).map_err(|_| file.damaged("a key is not UTF-8"))?;
        let Head { record, .. } = Head::decode(key.value(), head.value())
            .map_err(|damaged| file.damaged(damaged).of_key(key.value()))?;
        last = Some(name.to_owned());
        if let Some(about) = record.value(now) {
            keys.push(ListedKey::new(name.to_owned(), about));
        }
    }
    Ok(Listed { keys, next: None })
}

/// Scanned per page, with or without a value: tens of milliseconds.
const MOST_LOOKED: usize = 50_000;
