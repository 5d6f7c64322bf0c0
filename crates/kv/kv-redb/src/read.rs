//! Reads a key: its record, and its value in pieces.

use std::sync::Arc;

use bytes::Bytes;
use kv::{Content, Record};
use redb::{ReadOnlyTable, ReadTransaction};

use crate::{
    Error,
    damage::{Unwound, catch},
    file::File,
    layout::{FullKey, HEADS, Head, PIECE, VALUES, intact_piece, pieces},
    leaf,
};

/// The record and the value of a key.
#[derive(Debug)]
pub struct Found {
    /// The record. Its value may have expired.
    pub record: Record,
    /// The value; empty for a tombstone.
    pub value: Reading,
}

/// A snapshot of a value, which is not affected by later writes.
#[derive(Clone)]
pub struct Reading {
    /// Until it is taken.
    first: Option<Bytes>,
    rest: Option<Rest>,
    bytes: u64,
}

#[derive(Clone)]
struct Rest {
    file: Arc<File>,
    values: Arc<ReadOnlyTable<(u64, u32), &'static [u8]>>,
    value: u64,
    next: u32,
    count: u32,
    has_checksums: bool,
}

impl Reading {
    /// The size of the value.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The whole value, if it is a single piece that was not taken yet.
    pub fn whole(&self) -> Option<Bytes> {
        if self.rest.is_some() { None } else { self.first.clone() }
    }

    /// The next piece; `None` at the end. Blocks while reading from disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first).filter(|first| !first.is_empty()));
        }
        let Some(rest) = self.rest.as_mut().filter(|rest| rest.next < rest.count) else { return Ok(None) };
        rest.piece().map(Some)
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reading of {} bytes", self.bytes)
    }
}

pub(crate) fn look(file: &Arc<File>, key: FullKey<'_>) -> Result<Option<Found>, Error> {
    let view = file.catch(|| file.begin_read())?;
    let Some(head) = head(file, &view, key)? else { return Ok(None) };
    found(file, &view, head).map(Some).map_err(|error| error.of_key(key))
}

/// Absence of a key can only be determined from an intact page.
pub(crate) fn head(file: &File, view: &ReadTransaction, key: FullKey<'_>) -> Result<Option<Head>, Error> {
    let failed = |error: redb::Error| file.failed("read", error);
    let heads = file.catch(|| view.open_table(HEADS).map_err(|error| failed(error.into())))?;
    let read = catch(|| {
        let Some(bytes) = heads.get(key).map_err(|error| failed(error.into()))? else { return Ok(None) };
        Head::decode(key, bytes.value()).map(Some).map_err(|damaged| file.damaged(damaged))
    });
    let read = read.or_else(|unwound| match &unwound {
        Unwound::Page(page) => match leaf::head(&page.bytes, key) {
            Some(head) => Ok(Ok(Some(head))),
            None => Err(file.unwound(&unwound)),
        },
        Unwound::Contradiction => Err(file.unwound(&unwound)),
    });
    read.and_then(|read| read).map_err(|error| error.of_key(key))
}

pub(crate) fn found(file: &Arc<File>, view: &ReadTransaction, head: Head) -> Result<Found, Error> {
    let Head { value, record, has_checksums } = head;
    let bytes = match &record.content {
        Content::Value(about) => about.bytes,
        Content::Deleted { .. } => 0,
    };
    let count = pieces(bytes);
    if count == 0 {
        let value = Reading { first: Some(Bytes::new()), rest: None, bytes };
        return Ok(Found { record, value });
    }
    let failed = |error: redb::Error| file.failed("read", error);
    let values = file.catch(|| view.open_table(VALUES).map_err(|error| failed(error.into())))?;
    let mut rest =
        Rest { file: Arc::clone(file), values: Arc::new(values), value, next: 0, count, has_checksums };
    let first = rest.piece()?;
    let expected = bytes.min(PIECE as u64);
    if first.len() as u64 != expected {
        return Err(file.damaged("the length of a value differs from its record"));
    }
    let rest = (count > 1).then_some(rest);
    Ok(Found { record, value: Reading { first: Some(first), rest, bytes } })
}

impl Rest {
    fn piece(&mut self) -> Result<Bytes, Error> {
        let (file, value, number) = (&self.file, self.value, self.next);
        let read = catch(|| {
            let found = self.values.get((value, number)).map_err(|error| file.failed("read", error))?;
            let found = found.ok_or_else(|| file.damaged("a part of a value is missing"))?;
            let bytes = if self.has_checksums {
                intact_piece(value, number, found.value())
                    .ok_or_else(|| file.damaged("a value does not match its checksum"))?
            } else {
                found.value()
            };
            Ok(Bytes::copy_from_slice(bytes))
        });
        let piece = match read {
            Ok(read) => read?,
            Err(Unwound::Page(page)) if self.has_checksums => leaf::piece(&page.bytes, value, number)
                .map(Bytes::copy_from_slice)
                .ok_or_else(|| file.unwound(&Unwound::Page(page)))?,
            Err(unwound) => return Err(file.unwound(&unwound)),
        };
        self.next += 1;
        Ok(piece)
    }
}
