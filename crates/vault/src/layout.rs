//! How keys and values lie in the file: six tables, and what is in a row of each.

use kv::{Damaged, Record};
use redb::TableDefinition;
use twox_hash::XxHash3_64;

/// A namespace and a key, in the order of lists.
pub(crate) type FullKey<'k> = &'k [u8];

/// What is known of each key: which value is its, and a record. Lists read no more than this.
pub(crate) const HEADS: TableDefinition<FullKey<'static>, &[u8]> = TableDefinition::new("heads");

/// Values, in pieces that fill pages of the file.
pub(crate) const VALUES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("values");

/// In which second time makes something of a record.
pub(crate) const DUE: TableDefinition<(u64, FullKey<'static>), ()> = TableDefinition::new("due");

/// Values of which pieces are stored and no head yet. Whatever is here when the file is opened was broken off.
pub(crate) const UPLOADS: TableDefinition<u64, ()> = TableDefinition::new("uploads");

/// Keys of which another store of the same values may know less. Nothing is here unless there is another one.
pub(crate) const NOTES: TableDefinition<FullKey<'static>, ()> = TableDefinition::new("notes");

/// A few numbers about all.
pub(crate) const NUMBERS: TableDefinition<&str, u64> = TableDefinition::new("numbers");

/// A few texts about all.
pub(crate) const TEXTS: TableDefinition<&str, &str> = TableDefinition::new("texts");

/// In [`NUMBERS`]: the stamp of the last version that was made; the number of the next value.
pub(crate) const CLOCK: &str = "clock";
pub(crate) const NEXT_VALUE: &str = "next value";
/// How many keys have a value, and how many bytes those have together.
pub(crate) const KEYS: &str = "keys";
pub(crate) const BYTES: &str = "bytes";
/// Whether there is another store of the same values, of which this one may not have all yet.
pub(crate) const FILLING: &str = "filling";
/// In [`TEXTS`]: the store's name, which is a part of all its versions.
pub(crate) const NAME: &str = "name";

/// The version of this layout.
pub(crate) const VERSION: u64 = 1;

/// Bytes of a piece. With its checksum, its key and what redb puts around both it fills a page of 256 KiB, and no page of 512.
pub(crate) const PIECE: usize = (256 << 10) - 1024;

/// A key with its namespace in front.
pub(crate) fn full_key(namespace: &str, key: &str) -> Vec<u8> {
    // No namespace has such a byte in its name.
    [namespace.as_bytes(), b"\0", key.as_bytes()].concat()
}

/// The head of a key.
#[derive(Debug)]
pub(crate) struct Head {
    /// Which value is its; of no use if it has none.
    pub(crate) value: u64,
    pub(crate) record: Record,
    /// Whether it and the pieces of its value have checksums; those of earlier versions have none.
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

    pub(crate) fn decode(key: FullKey<'_>, bytes: &[u8]) -> Result<Self, Damaged> {
        let number = u64::from_be_bytes(*bytes.first_chunk().ok_or(Damaged)?);
        let has_checksums = number & CHECKED > 0;
        let bytes = if has_checksums {
            let (bytes, checksum) = bytes.split_last_chunk().ok_or(Damaged)?;
            if head_checksum(key, bytes) != *checksum {
                return Err(Damaged);
            }
            bytes
        } else {
            bytes
        };
        let record = bytes.get(size_of::<u64>()..).ok_or(Damaged)?;
        Ok(Self { value: number & !CHECKED, record: Record::decode(record)?, has_checksums })
    }
}

/// In the number of a head's value: there are checksums.
const CHECKED: u64 = 1 << 63;

fn head_checksum(key: FullKey<'_>, bytes: &[u8]) -> [u8; 8] {
    XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot(key), bytes).to_le_bytes()
}

fn piece_checksum(value: u64, number: u32, bytes: &[u8]) -> [u8; 8] {
    let seed = XxHash3_64::oneshot_with_seed(value, &number.to_le_bytes());
    XxHash3_64::oneshot_with_seed(seed, bytes).to_le_bytes()
}

/// A piece of a value as it is stored.
pub(crate) fn with_checksum(value: u64, number: u32, bytes: &[u8]) -> Vec<u8> {
    [bytes, &piece_checksum(value, number, bytes)].concat()
}

/// A piece without its checksum, if that matches.
pub(crate) fn intact_piece(value: u64, number: u32, stored: &[u8]) -> Option<&[u8]> {
    let (bytes, checksum) = stored.split_last_chunk()?;
    (piece_checksum(value, number, bytes) == *checksum).then_some(bytes)
}

/// How many pieces a value of so many bytes has.
pub(crate) fn pieces(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PIECE as u64)).unwrap_or(u32::MAX)
}
