//! What a file has in it: by the footer that a full segment has, else record by record, as far as they are whole.
//!
//! Nothing is believed whose checksum is wrong, and nothing is allocated that is longer than the file. Bodies are passed over:
//! their blocks are checked when they are read.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::format::{
    Entry, FileHeader, FileKind, Header, Kind, Object, Place, TRAILER, Unfit, decode_removal, decode_trailer,
};

/// Bytes that can be read anywhere: a file, or a slice.
pub trait Source {
    /// How many there are.
    fn length(&self) -> io::Result<u64>;
    /// So many from there on; fails if they are not there.
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

/// The records of a file in their order, as far as their headers are whole.
#[derive(Debug)]
pub struct Records<'a, S: ?Sized> {
    source: &'a S,
    segment: u32,
    offset: u64,
    length: u64,
}

/// Where records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With the file.
    Whole,
    /// In one that broke off while it was written: it is longer than the file, or nothing follows but zeros.
    Torn,
    /// At something that is none.
    Damaged,
}

impl<'a, S: Source + ?Sized> Records<'a, S> {
    /// Those of a segment, or of the journal, which is segment 0.
    pub fn of(source: &'a S, segment: u32) -> io::Result<Self> {
        Ok(Self { source, segment, offset: FileHeader::BYTES as u64, length: source.length()? })
    }

    /// Where the next one begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next header and its place, or how the records end.
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

    /// The payload of a record; `None` if it is damaged.
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

/// What is in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// In their order.
    pub entries: Vec<Entry>,
    /// How far the file is whole.
    pub end: u64,
    /// Whether it ends with a footer: nothing is appended any more.
    pub is_sealed: bool,
    /// Numbers of objects below this one have been given.
    pub next_number: u64,
}

impl Contents {
    /// Reads the segment of this number.
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
    // A footer speaks of its own segment and of those before it.
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
