//! What is known of a key, and its value, which is read in pieces.

use std::sync::Arc;

use bytes::Bytes;
use kv::{Content, Record};
use redb::ReadOnlyTable;

use crate::{
    Error,
    file::File,
    layout::{FullKey, HEADS, Head, PIECE, VALUES, pieces},
};

/// What is known of a key.
#[derive(Debug)]
pub struct Found {
    /// Its version, and whether there is a value; whether that is over says the time.
    pub record: Record,
    /// The value; empty if there is none.
    pub value: Reading,
}

/// A value as it was when somebody began to read it, whatever is written meanwhile.
pub struct Reading {
    /// The first piece, until it was taken.
    first: Option<Bytes>,
    rest: Option<Rest>,
    bytes: u64,
}

struct Rest {
    file: Arc<File>,
    values: ReadOnlyTable<(u64, u32), &'static [u8]>,
    value: u64,
    next: u32,
    count: u32,
}

impl Reading {
    /// All of its bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The whole value, if it is one piece that was not taken yet.
    pub fn whole(&self) -> Option<Bytes> {
        if self.rest.is_some() { None } else { self.first.clone() }
    }

    /// The next piece; `None` at the end. Blocks while it is read from the disk.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first).filter(|first| !first.is_empty()));
        }
        let Some(rest) = self.rest.as_mut().filter(|rest| rest.next < rest.count) else { return Ok(None) };
        let piece = piece(&rest.file, &rest.values, rest.value, rest.next)?;
        rest.next += 1;
        Ok(Some(piece))
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reading of {} bytes", self.bytes)
    }
}

/// What is known of a key, and the first piece of its value.
pub(crate) fn look(file: &Arc<File>, key: FullKey<'_>) -> Result<Option<Found>, Error> {
    let failed = |error: redb::Error| file.failed("read", error);
    let view = file.begin_read()?;
    let heads = view.open_table(HEADS).map_err(|error| failed(error.into()))?;
    let Some(head) = heads.get(key).map_err(|error| failed(error.into()))? else { return Ok(None) };
    let Head { value, record } = Head::decode(head.value()).map_err(|damaged| file.damaged(damaged))?;
    let bytes = match &record.content {
        Content::Value(about) => about.bytes,
        Content::Deleted { .. } => 0,
    };
    let count = pieces(bytes);
    if count == 0 {
        let value = Reading { first: Some(Bytes::new()), rest: None, bytes };
        return Ok(Some(Found { record, value }));
    }
    let values = view.open_table(VALUES).map_err(|error| failed(error.into()))?;
    let first = piece(file, &values, value, 0)?;
    let expected = bytes.min(PIECE as u64);
    if first.len() as u64 != expected {
        return Err(file.damaged("a value is not as long as its head says"));
    }
    let rest = (count > 1).then(|| Rest { file: Arc::clone(file), values, value, next: 1, count });
    Ok(Some(Found { record, value: Reading { first: Some(first), rest, bytes } }))
}

fn piece(
    file: &File,
    values: &ReadOnlyTable<(u64, u32), &'static [u8]>,
    value: u64,
    number: u32,
) -> Result<Bytes, Error> {
    let found = values.get((value, number)).map_err(|error| file.failed("read", error))?;
    let found = found.ok_or_else(|| file.damaged("a part of a value is not there"))?;
    Ok(Bytes::copy_from_slice(found.value()))
}
