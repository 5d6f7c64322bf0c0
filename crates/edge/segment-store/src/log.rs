//! The end of the log. A lock serialises all appends.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Config, Error, State,
    format::{Entry, FileHeader, Header, Id, Kind, Object, Place, encode_removal},
    health::Health,
    index::Index,
    segment::Segment,
};

#[derive(Debug)]
pub(crate) struct Log {
    directory: PathBuf,
    pub(crate) capacity: u64,
    pub(crate) full: u64,
    pub(crate) index: Arc<Index>,
    numbers: Arc<AtomicU64>,
    active: Option<Active>,
    next_segment: u32,
    /// With the oldest and the newest segment that may have the object.
    owed: BTreeMap<Id, (u32, u32)>,
    health: Health,
}

#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) segment: Arc<Segment>,
    pub(crate) end: u64,
    pub(crate) entries: Vec<Entry>,
}

impl Active {
    /// Includes the footer that is not written yet.
    pub(crate) fn bytes(&self) -> u64 {
        self.end + (self.entries.len() * Entry::BYTES) as u64 + Segment::FOOTER
    }
}

impl Log {
    /// Continues with the segment `active`, which is in the index, or creates the segment
    /// `next_segment`.
    pub(crate) fn new(
        config: &Config,
        index: Arc<Index>,
        numbers: Arc<AtomicU64>,
        active: Option<Active>,
        next_segment: u32,
    ) -> Self {
        Self {
            directory: config.directory.clone(),
            capacity: config.capacity,
            full: config.segment(),
            index,
            numbers,
            active,
            next_segment,
            owed: BTreeMap::new(),
            health: Health::new(config.pause),
        }
    }

    /// Fails during a pause, and after the release.
    pub(crate) fn may_try(&self) -> Result<(), Error> {
        self.health.may_try()
    }

    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        self.health.may_try()?;
        self.attempt(|log| {
            log.make_room(bytes)?;
            log.pay()
        })
    }

    /// After a failure the segment is closed, because its end is unknown, and a full disk gets
    /// room.
    pub(crate) fn attempt<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = write(self);
        if let Err(error) = &result {
            self.health.failed(error);
            self.close();
            if error.is_full() {
                self.shrink();
            }
        }
        result
    }

    /// `record` begins with room for the header.
    pub(crate) fn put_block(&mut self, id: Id, index: u64, record: &mut [u8]) -> Result<Place, Error> {
        let header = Header::of(Kind::Block, id, index, &record[Header::BYTES..]);
        self.append(|place| {
            record[..Header::BYTES].copy_from_slice(&header.encode(place));
            let length = as_u32(record.len());
            let entry = Entry {
                kind: Kind::Block,
                id,
                offset: place.offset,
                length,
                first: place.segment,
                last: place.segment,
            };
            (record, (index == 0).then_some(entry))
        })
    }

    /// `last` is the last block, or empty; it begins with room for the header, as in
    /// [`Self::put_block`].
    pub(crate) fn put(&mut self, id: Id, object: &mut Object, mut last: Vec<u8>) -> Result<Place, Error> {
        let index = object.blocks.len() as u64;
        let block = (!last.is_empty()).then(|| Header::of(Kind::Block, id, index, &last[Header::BYTES..]));
        self.append(|place| {
            if let Some(header) = block {
                last[..Header::BYTES].copy_from_slice(&header.encode(place));
                object.blocks.push(place);
            }
            let place = Place { offset: place.offset + as_u32(last.len()), ..place };
            let payload = object.encode();
            let header = Header::of(Kind::Object, id, 0, &payload);
            last.extend_from_slice(&header.encode(place));
            last.extend_from_slice(&payload);
            let (length, first) = (as_u32(Header::BYTES + payload.len()), object.first(place.segment));
            let Place { segment, offset } = place;
            (last, Some(Entry { kind: Kind::Object, id, offset, length, first, last: segment }))
        })
    }

    /// If the removal cannot be written, it is written after the next success.
    pub(crate) fn remove(&mut self, id: Id) -> Result<bool, Error> {
        let Some(reach) = self.index.remove(id) else { return Ok(false) };
        self.owed.insert(id, reach);
        self.reserve(0)?;
        self.collect()?;
        Ok(true)
    }

    pub(crate) fn state(&self) -> State {
        self.health.state()
    }

    pub(crate) fn active(&self) -> Option<u32> {
        self.active.as_ref().map(|active| active.segment.number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.as_ref().is_none_or(|active| active.end <= FileHeader::BYTES as u64)
    }

    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.attempt(|log| log.active.as_ref().map_or(Ok(()), |active| active.segment.sync()))
    }

    pub(crate) fn turn(&mut self) -> Result<u32, Error> {
        self.close();
        Ok(self.open()?.segment.number)
    }

    pub(crate) fn close(&mut self) {
        let Some(Active { segment, end, entries }) = self.active.take() else { return };
        if let Err(error) = segment.seal(&entries, end) {
            self.health.failed(&error);
            self.index.keep(segment.number, entries);
        }
    }

    pub(crate) fn release(&mut self) {
        self.close();
        self.health.release();
    }

    /// The function gets the position and returns the records, and the entry for the footer, if
    /// any.
    fn append<R: AsRef<[u8]>>(
        &mut self,
        records: impl FnOnce(Place) -> (R, Option<Entry>),
    ) -> Result<Place, Error> {
        let active = self.open()?;
        active.segment.check()?;
        let number = active.segment.number;
        let place = Place { segment: number, offset: as_u32(active.end) };
        let (bytes, entry) = records(place);
        let bytes = bytes.as_ref();
        active.segment.write(bytes, active.end)?;
        active.end += bytes.len() as u64;
        active.entries.extend(entry);
        self.health.worked();
        let footer = if entry.is_some() { Entry::BYTES } else { 0 };
        self.index.charge(number, (bytes.len() + footer) as u64);
        if let Some(entry) = entry {
            self.index.apply(number, &entry);
        }
        Ok(place)
    }

    fn open(&mut self) -> Result<&mut Active, Error> {
        if self.active.as_ref().is_some_and(|active| active.end >= self.full) {
            self.close();
        }
        let active = match self.active.take() {
            Some(active) => active,
            None => {
                let number = self.next_segment;
                self.next_segment = number.saturating_add(1);
                let next_object = self.numbers.load(Ordering::Relaxed);
                let segment = Arc::new(Segment::create(&self.directory, number, next_object)?);
                let active = Active { segment, end: FileHeader::BYTES as u64, entries: Vec::new() };
                self.index.add(Arc::clone(&active.segment), active.bytes());
                active
            }
        };
        Ok(self.active.insert(active))
    }

    fn pay(&mut self) -> Result<(), Error> {
        while let Some((&id, &(first, last))) = self.owed.first_key_value() {
            let payload = encode_removal(first, last);
            let header = Header::of(Kind::Removal, id, 0, &payload);
            self.append(|place| {
                let record = [&header.encode(place)[..], &payload].concat();
                let length = as_u32(record.len());
                (record, Some(Entry { kind: Kind::Removal, id, offset: place.offset, length, first, last }))
            })?;
            self.owed.pop_first();
        }
        Ok(())
    }
}

/// Offsets fit: a segment ends at most 1 GiB plus the longest record after its beginning. That is
/// the largest object's, whose list of blocks takes 128 MiB.
fn as_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
