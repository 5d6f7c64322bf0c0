//! Reading the contents of a file: from the footer of a full segment, otherwise record by record up
//! to the first invalid one.
//!
//! Only data with a valid checksum is used, and no allocation exceeds the length of the file.
//! Blocks are skipped; they are verified when they are read.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::format::{
    Entry, FileHeader, FileKind, Header, Kind, Object, Place, TRAILER, Unfit, decode_removal, decode_trailer,
};

/// Bytes with random access: a file or a slice.
pub trait Source {
    /// The number of bytes.
    fn length(&self) -> io::Result<u64>;
    /// Reads `length` bytes at `offset`. Fails if there are not enough.
    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl Source for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

impl Source for [u8] {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let bytes = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)?.get(..length));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// An iterator over the records of a file, up to the first invalid header.
#[derive(Debug)]
pub struct Records<'a, S: ?Sized> {
    source: &'a S,
    segment: u32,
    offset: u64,
    length: u64,
}

/// How a sequence of records ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the end of the file.
    Whole,
    /// In a record whose write was interrupted: it exceeds the file, or only zeros follow.
    Torn,
    /// In invalid data.
    Damaged,
}

impl<'a, S: Source + ?Sized> Records<'a, S> {
    /// The records of a segment, or of the journal, which is segment 0.
    pub fn of(source: &'a S, segment: u32) -> io::Result<Self> {
        Ok(Self { source, segment, offset: FileHeader::BYTES as u64, length: source.length()? })
    }

    /// The offset of the next record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next header with its position, or how the records end.
    pub fn advance(&mut self) -> io::Result<Result<(Header, Place), End>> {
        let rest = self.length.saturating_sub(self.offset);
        if rest == 0 {
            return Ok(Err(End::Whole));
        }
        let Ok(offset) = u32::try_from(self.offset) else { return Ok(Err(End::Damaged)) };
        if rest < Header::BYTES as u64 {
            return Ok(Err(End::Torn));
        }
        let place = Place { segment: self.segment, offset };
        match Header::decode(&self.source.read(self.offset, Header::BYTES)?, place) {
            Some(header) if header.total() <= rest => {
                self.offset += header.total();
                Ok(Ok((header, place)))
            }
            Some(_) => Ok(Err(End::Torn)),
            None if self.is_zero()? => Ok(Err(End::Torn)),
            None => Ok(Err(End::Damaged)),
        }
    }

    /// Reads the payload of a record; `None` if it is damaged.
    pub fn payload(&self, header: &Header, place: Place) -> io::Result<Option<Vec<u8>>> {
        let offset = u64::from(place.offset) + Header::BYTES as u64;
        let payload = self.source.read(offset, header.length as usize)?;
        Ok(header.is_of(&payload).then_some(payload))
    }

    fn is_zero(&self) -> io::Result<bool> {
        let mut offset = self.offset;
        while offset < self.length {
            let count = (self.length - offset).min(1 << 16);
            let bytes = self.source.read(offset, usize::try_from(count).unwrap_or(1 << 16))?;
            if bytes.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            offset += count;
        }
        Ok(true)
    }
}

/// The contents of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The entries, in the order of the records.
    pub entries: Vec<Entry>,
    /// The end of the last valid record.
    pub end: u64,
    /// Whether the segment has a footer, so that nothing may be appended.
    pub is_sealed: bool,
    /// All lower object numbers are used.
    pub next_number: u64,
}

impl Contents {
    /// Reads the segment with this number.
    pub fn read<S: Source + ?Sized>(source: &S, segment: u32) -> io::Result<Result<Self, Unfit>> {
        let length = source.length()?;
        if length < FileHeader::BYTES as u64 {
            return Ok(Err(Unfit::Short));
        }
        let header = match FileHeader::decode(&source.read(0, FileHeader::BYTES)?, FileKind::Segment) {
            Ok(header) if header.values[0] == u64::from(segment) => header,
            Ok(_) => return Ok(Err(Unfit::Foreign)),
            Err(unfit) => return Ok(Err(unfit)),
        };
        let mut contents = match by_footer(source, segment, length)? {
            Some(entries) => Self { entries, end: length, is_sealed: true, next_number: 0 },
            None => by_record(source, segment)?,
        };
        let given = contents.entries.iter().map(|entry| entry.id.number.saturating_add(1));
        contents.next_number = given.fold(header.values[1], u64::max);
        Ok(Ok(contents))
    }
}

fn by_footer<S: Source + ?Sized>(source: &S, segment: u32, length: u64) -> io::Result<Option<Vec<Entry>>> {
    let Some(trailer) = length.checked_sub(TRAILER as u64) else { return Ok(None) };
    let Some(offset) = decode_trailer(&source.read(trailer, TRAILER)?, segment) else { return Ok(None) };
    let place = Place { segment, offset };
    if u64::from(offset) + Header::BYTES as u64 > trailer {
        return Ok(None);
    }
    let bytes = source.read(u64::from(offset), Header::BYTES)?;
    let Some(header) = Header::decode(&bytes, place) else { return Ok(None) };
    if header.kind != Kind::Footer || u64::from(offset) + header.total() != trailer {
        return Ok(None);
    }
    let payload = source.read(u64::from(offset) + Header::BYTES as u64, header.length as usize)?;
    let entries = header.is_of(&payload).then(|| Entry::decode_all(&payload)).flatten();
    // A footer refers only to its own segment and older ones.
    let is_possible = |entry: &Entry| {
        u64::from(entry.offset) + u64::from(entry.length) <= u64::from(offset)
            && entry.first <= entry.last
            && entry.last <= segment
    };
    Ok(entries.filter(|entries| entries.iter().all(is_possible)))
}

fn by_record<S: Source + ?Sized>(source: &S, segment: u32) -> io::Result<Contents> {
    let mut records = Records::of(source, segment)?;
    let mut entries = Vec::new();
    let mut end = records.offset();
    while let Ok((header, place)) = records.advance()? {
        let reach = match header.kind {
            Kind::Block => (header.index == 0).then_some((segment, segment)),
            Kind::Object => {
                let payload = records.payload(&header, place)?;
                let Some(object) = payload.as_deref().and_then(Object::decode) else { break };
                Some((object.first(segment), segment))
            }
            Kind::Removal => {
                let payload = records.payload(&header, place)?;
                let Some(reach) = payload.as_deref().and_then(decode_removal) else { break };
                Some(reach)
            }
            Kind::Footer | Kind::Note => break,
        };
        let length = u32::try_from(header.total()).unwrap_or(u32::MAX);
        let Header { kind, id, .. } = header;
        let entry = |(first, last)| Entry { kind, id, offset: place.offset, length, first, last };
        entries.extend(reach.map(entry));
        end = records.offset();
    }
    Ok(Contents { entries, end, is_sealed: false, next_number: 0 })
}
