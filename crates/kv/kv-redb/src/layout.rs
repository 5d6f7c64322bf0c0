//! The layout of keys and values in the file: the tables and their rows.

use kv::{CorruptRecord, Record};
use redb::TableDefinition;
use twox_hash::XxHash3_64;

/// With the namespace as prefix, in list order.
pub(crate) type FullKey<'k> = &'k [u8];

/// Lists read only this table.
pub(crate) const HEADS: TableDefinition<FullKey<'static>, &[u8]> = TableDefinition::new("heads");

/// Values, in pieces that fill pages of the file.
pub(crate) const VALUES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("values");

/// When [`Record::sweep`] changes a record, in seconds since 1970.
pub(crate) const DUE: TableDefinition<(u64, FullKey<'static>), ()> = TableDefinition::new("due");

/// Values with stored pieces but without a head. Those present when the file is opened are
/// incomplete.
pub(crate) const UPLOADS: TableDefinition<u64, ()> = TableDefinition::new("uploads");

/// Keys that the other store may lack; empty without another store.
pub(crate) const NOTES: TableDefinition<FullKey<'static>, ()> = TableDefinition::new("notes");

pub(crate) const NUMBERS: TableDefinition<&str, u64> = TableDefinition::new("numbers");

pub(crate) const TEXTS: TableDefinition<&str, &str> = TableDefinition::new("texts");

/// The stamp of the last version, in [`NUMBERS`].
pub(crate) const CLOCK: &str = "clock";
pub(crate) const NEXT_VALUE: &str = "next value";
pub(crate) const KEYS: &str = "keys";
pub(crate) const BYTES: &str = "bytes";
pub(crate) const FILLING: &str = "filling";
pub(crate) const NAME: &str = "name";

pub(crate) const VERSION: u64 = 1;

/// With its checksum, its key and the overhead of redb, a piece fills a page of 256 KiB.
pub(crate) const PIECE: usize = (256 << 10) - 1024;

pub(crate) fn full_key(namespace: &str, key: &str) -> Vec<u8> {
    // Names of namespaces cannot contain NUL.
    [namespace.as_bytes(), b"\0", key.as_bytes()].concat()
}

#[derive(Debug)]
pub(crate) struct Head {
    /// Unused without a value.
    pub(crate) value: u64,
    pub(crate) record: Record,
    /// Earlier versions wrote none.
    pub(crate) has_checksums: bool,
}

impl Head {
    pub(crate) fn new(value: u64, record: Record) -> Self {
        Self { value, record, has_checksums: true }
    }

    pub(crate) fn encode(&self, key: FullKey<'_>) -> Vec<u8> {
        let mut bytes = [&(self.value | CHECKED).to_be_bytes()[..], &self.record.encode()].concat();
        bytes.extend(head_checksum(key, &bytes));
        bytes
    }

    pub(crate) fn decode(key: FullKey<'_>, bytes: &[u8]) -> Result<Self, CorruptRecord> {
        let number = u64::from_be_bytes(*bytes.first_chunk().ok_or(CorruptRecord)?);
        let has_checksums = number & CHECKED > 0;
        let bytes = if has_checksums {
            let (bytes, checksum) = bytes.split_last_chunk().ok_or(CorruptRecord)?;
            if head_checksum(key, bytes) != *checksum {
                return Err(CorruptRecord);
            }
            bytes
        } else {
            bytes
        };
        let record = bytes.get(size_of::<u64>()..).ok_or(CorruptRecord)?;
        Ok(Self { value: number & !CHECKED, record: Record::decode(record)?, has_checksums })
    }
}

/// A flag in the number of a head's value: checksums are present.
const CHECKED: u64 = 1 << 63;

fn head_checksum(key: FullKey<'_>, bytes: &[u8]) -> [u8; 8] {
    XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot(key), bytes).to_le_bytes()
}

fn piece_checksum(value: u64, number: u32, bytes: &[u8]) -> [u8; 8] {
    let seed = XxHash3_64::oneshot_with_seed(value, &number.to_le_bytes());
    XxHash3_64::oneshot_with_seed(seed, bytes).to_le_bytes()
}

pub(crate) fn with_checksum(value: u64, number: u32, bytes: &[u8]) -> Vec<u8> {
    [bytes, &piece_checksum(value, number, bytes)].concat()
}

/// `None` if the checksum does not match.
pub(crate) fn intact_piece(value: u64, number: u32, stored: &[u8]) -> Option<&[u8]> {
    let (bytes, checksum) = stored.split_last_chunk()?;
    (piece_checksum(value, number, bytes) == *checksum).then_some(bytes)
}

pub(crate) fn pieces(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PIECE as u64)).unwrap_or(u32::MAX)
}
