//! The file format. Pure functions; numbers are little-endian.
//!
//! A file begins with a [`FileHeader`]. Records follow, each with a [`Header`] of 48 bytes and a
//! payload.
//!
//! ```text
//! header   kind u32 | length u32 | hash u64 | number u64 | index u64 | sum of payload u64 | sum of header u64
//! Block    up to 64 KiB of a body; `index` counts the blocks of an object
//! Object   body length u64 | key length u32 | head length u32 | key | head | place of each block (segment u32, offset u32)
//! Removal  the oldest segment u32 and the newest u32 that may have records of the object
//! Footer   an entry of 36 bytes for each record that matters when a store is opened, at the end of a full segment
//! Note     what a caller wants back in order; in the journal
//! ```
//!
//! The seed of the payload's checksum contains kind, length, object and index. The seed of the
//! header's checksum contains the segment and the offset. So a block of another position or another
//! object is detected as damaged.

use twox_hash::XxHash3_64;

/// The version of the format.
pub const VERSION: u32 = 1;
/// Bytes of a body that share a checksum.
pub const BLOCK: usize = 64 << 10;
/// Limit for a key in bytes.
pub const LONGEST_KEY: usize = 64 << 10;
/// Limit for a head in bytes.
pub const LONGEST_HEAD: usize = 1 << 20;
/// Limit for a note in bytes.
pub const LONGEST_NOTE: usize = 1 << 20;

/// Identifies an object. It is unique in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The hash of the key.
    pub hash: u64,
    /// A number that is assigned once per store.
    pub number: u64,
}

/// The position of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The segment, counted from 1; 0 is the journal.
    pub segment: u32,
    /// The offset in the file.
    pub offset: u32,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Identifies the directory of a store. The first value is the seed of the key hashes.
    Store = 1,
    /// A segment. The values are its number, and the number of the first object that was started
    /// after it.
    Segment = 2,
    /// The journal, without values.
    Journal = 3,
}

/// The first 40 bytes of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    /// The kind of the file.
    pub kind: FileKind,
    /// Values that depend on the kind.
    pub values: [u64; 2],
}

/// Why a file header is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The file is too short, because its creation was interrupted.
    Short,
    /// It is another kind of file.
    Foreign,
    /// It has another version of the format.
    Version(u32),
    /// The checksum is wrong.
    Damaged,
}

impl FileHeader {
    /// The encoded length.
    pub const BYTES: usize = 40;

    /// Encodes the header.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.values[0].to_le_bytes());
        bytes[24..32].copy_from_slice(&self.values[1].to_le_bytes());
        let sum = sum(&bytes[..32], 0);
        bytes[32..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes the beginning of a file of this kind.
    pub fn decode(bytes: &[u8], kind: FileKind) -> Result<Self, Unfit> {
        let mut fields = Fields(bytes.get(..Self::BYTES).ok_or(Unfit::Short)?);
        let mut read = || {
            let magic = fields.bytes(8)?;
            Some((magic, fields.u32()?, fields.u32()?, [fields.u64()?, fields.u64()?], fields.u64()?))
        };
        let (magic, version, found, values, header_sum) = read().ok_or(Unfit::Short)?;
        if magic != MAGIC {
            Err(Unfit::Foreign)
        } else if version != VERSION {
            Err(Unfit::Version(version))
        } else if header_sum != sum(&bytes[..32], 0) {
            Err(Unfit::Damaged)
        } else if found != kind as u32 {
            Err(Unfit::Foreign)
        } else {
            Ok(Self { kind, values })
        }
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A part of a body.
    Block = 0x4b4c_4201,
    /// A whole object, or its new head. The newest record of an object is valid.
    Object = 0x4a42_4f01,
    /// The removal of an object.
    Removal = 0x4556_5201,
    /// The contents of a segment.
    Footer = 0x4f4f_4601,
    /// An entry of the journal.
    Note = 0x4554_4e01,
}

impl Kind {
    fn decode(kind: u32) -> Option<Self> {
        let all = [Self::Block, Self::Object, Self::Removal, Self::Footer, Self::Note];
        all.into_iter().find(|known| *known as u32 == kind)
    }
}

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The kind of the record.
    pub kind: Kind,
    /// The length of the payload in bytes.
    pub length: u32,
    /// The object.
    pub id: Id,
    /// The number of the block or the note; otherwise 0.
    pub index: u64,
    sum: u64,
}

impl Header {
    /// The encoded length.
    pub const BYTES: usize = 48;

    /// Creates the header of a payload, which must be shorter than 4 GiB.
    pub fn of(kind: Kind, id: Id, index: u64, payload: &[u8]) -> Self {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let mut header = Self { kind, length, id, index, sum: 0 };
        header.sum = header.sum_of(payload);
        header
    }

    /// Encodes the header for this position.
    pub fn encode(&self, place: Place) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..32].copy_from_slice(&self.encode_what());
        bytes[32..40].copy_from_slice(&self.sum.to_le_bytes());
        let sum = sum(&bytes[..40], seed(place));
        bytes[40..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes the header at this position; `None` if it is damaged, or belongs to another
    /// position.
    pub fn decode(bytes: &[u8], place: Place) -> Option<Self> {
        let mut fields = Fields(bytes.get(..Self::BYTES)?);
        let (kind, length) = (Kind::decode(fields.u32()?)?, fields.u32()?);
        let id = Id { hash: fields.u64()?, number: fields.u64()? };
        let header = Self { kind, length, id, index: fields.u64()?, sum: fields.u64()? };
        (fields.u64()? == sum(&bytes[..40], seed(place))).then_some(header)
    }

    /// Whether the payload matches the checksum.
    pub fn is_of(&self, payload: &[u8]) -> bool {
        self.length as usize == payload.len() && self.sum == self.sum_of(payload)
    }

    /// The length of the record with its header.
    pub fn total(&self) -> u64 {
        Self::BYTES as u64 + u64::from(self.length)
    }

    fn sum_of(&self, payload: &[u8]) -> u64 {
        sum(payload, sum(&self.encode_what(), 0))
    }

    fn encode_what(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.id.hash.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.id.number.to_le_bytes());
        bytes[24..].copy_from_slice(&self.index.to_le_bytes());
        bytes
    }
}

/// The record of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The key.
    pub key: Vec<u8>,
    /// The caller's metadata.
    pub head: Vec<u8>,
    /// The length of the body in bytes.
    pub length: u64,
    /// The positions of the blocks. All but the last one have [`BLOCK`] bytes.
    pub blocks: Vec<Place>,
}

impl Object {
    /// The length of the payload for this key, head and number of blocks.
    pub fn bytes(key: &[u8], head: &[u8], blocks: usize) -> usize {
        16 + key.len() + head.len() + 8 * blocks
    }

    /// Encodes the payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(Self::bytes(&self.key, &self.head, self.blocks.len()));
        payload.extend_from_slice(&self.length.to_le_bytes());
        for part in [&self.key, &self.head] {
            payload.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        payload.extend_from_slice(&self.key);
        payload.extend_from_slice(&self.head);
        for block in &self.blocks {
            payload.extend_from_slice(&block.segment.to_le_bytes());
            payload.extend_from_slice(&block.offset.to_le_bytes());
        }
        payload
    }

    /// Decodes a payload; `None` if it is invalid.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        let length = fields.u64()?;
        let (key, head) = (fields.u32()? as usize, fields.u32()? as usize);
        if key > LONGEST_KEY || head > LONGEST_HEAD {
            return None;
        }
        let (key, head) = (fields.bytes(key)?.to_vec(), fields.bytes(head)?.to_vec());
        let count = length.div_ceil(BLOCK as u64);
        if count.checked_mul(8)? != fields.0.len() as u64 {
            return None;
        }
        let blocks = fields.0.chunks_exact(8).map_while(|bytes| {
            let mut fields = Fields(bytes);
            Some(Place { segment: fields.u32()?, offset: fields.u32()? })
        });
        let blocks: Vec<_> = blocks.collect();
        Some(Self { key, head, length, blocks })
    }

    /// The oldest segment that the object needs, if its record is in `segment`.
    pub fn first(&self, segment: u32) -> u32 {
        self.blocks.iter().map(|block| block.segment).fold(segment, u32::min)
    }
}

/// The length of this block of a body.
pub fn block(length: u64, index: u64) -> u64 {
    length.saturating_sub(index.saturating_mul(BLOCK as u64)).min(BLOCK as u64)
}

/// An entry of a segment's footer, which summarises a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Block, object or removal. A body has one entry for its first block, unless the object record
    /// is in the same segment.
    pub kind: Kind,
    /// The object.
    pub id: Id,
    /// The offset of the record.
    pub offset: u32,
    /// The length of the record with its header.
    pub length: u32,
    /// The oldest related segment: the beginning of the body, or where a removed object may be.
    pub first: u32,
    /// The newest related segment: that of the record, or where a removed object may be.
    pub last: u32,
}

impl Entry {
    /// The encoded length.
    pub const BYTES: usize = 36;

    /// Appends the encoded entry.
    pub fn encode(&self, footer: &mut Vec<u8>) {
        for field in [self.kind as u32, self.offset, self.length, self.first, self.last] {
            footer.extend_from_slice(&field.to_le_bytes());
        }
        footer.extend_from_slice(&self.id.hash.to_le_bytes());
        footer.extend_from_slice(&self.id.number.to_le_bytes());
    }

    /// Decodes a footer; `None` if it is invalid.
    pub fn decode_all(payload: &[u8]) -> Option<Vec<Self>> {
        let entries = payload.chunks_exact(Self::BYTES);
        if !entries.remainder().is_empty() {
            return None;
        }
        entries.map(Self::decode).collect()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let kind = Kind::decode(fields.u32()?)?;
        let (offset, length) = (fields.u32()?, fields.u32()?);
        let (first, last) = (fields.u32()?, fields.u32()?);
        let id = Id { hash: fields.u64()?, number: fields.u64()? };
        Some(Self { kind, id, offset, length, first, last })
    }
}

/// Encodes the trailer, the last bytes of a full segment, which contain the offset of its footer.
pub fn encode_trailer(place: Place) -> [u8; TRAILER] {
    let mut bytes = [0; TRAILER];
    bytes[..4].copy_from_slice(&place.offset.to_le_bytes());
    let sum = sum(&bytes[..8], u64::from(place.segment));
    bytes[8..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Decodes a trailer; `None` if it is invalid.
pub fn decode_trailer(bytes: &[u8], segment: u32) -> Option<u32> {
    let mut fields = Fields(bytes);
    let (offset, _) = (fields.u32()?, fields.u32()?);
    (fields.u64()? == sum(&bytes[..8], u64::from(segment))).then_some(offset)
}

/// The hash of a key, with the store's seed.
pub fn hash(key: &[u8], seed: u64) -> u64 {
    sum(key, seed)
}

/// Encodes a removal: the oldest and the newest segment that may have records of the object.
pub fn encode_removal(first: u32, last: u32) -> [u8; 8] {
    (u64::from(last) << 32 | u64::from(first)).to_le_bytes()
}

/// Decodes a removal; `None` if it is invalid.
pub fn decode_removal(payload: &[u8]) -> Option<(u32, u32)> {
    let both = u64::from_le_bytes(payload.try_into().ok()?);
    Some((u32::try_from(both & u64::from(u32::MAX)).ok()?, u32::try_from(both >> 32).ok()?))
}

fn sum(bytes: &[u8], seed: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

fn seed(place: Place) -> u64 {
    u64::from(place.segment) << 32 | u64::from(place.offset)
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

const MAGIC: &[u8; 8] = b"LONGHAUL";
/// Bytes of a trailer.
pub const TRAILER: usize = 16;

#[cfg(test)]
mod tests;
