//! The end of the log, where all is appended, by one after the other.

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

/// What appends, and what makes room for it (in `reclaim`).
#[derive(Debug)]
pub(crate) struct Log {
    directory: PathBuf,
    pub(crate) capacity: u64,
    /// When a segment is full.
    pub(crate) full: u64,
    pub(crate) index: Arc<Index>,
    /// The number of the next object.
    numbers: Arc<AtomicU64>,
    active: Option<Active>,
    next_segment: u32,
    /// Removals that are not written yet, with the oldest and the newest segment that may have the object.
    owed: BTreeMap<Id, (u32, u32)>,
    health: Health,
}

/// The segment that is being written.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) segment: Arc<Segment>,
    pub(crate) end: u64,
    pub(crate) entries: Vec<Entry>,
}

impl Active {
    /// The bytes that it will have when it is closed.
    pub(crate) fn bytes(&self) -> u64 {
        self.end + (self.entries.len() * Entry::BYTES) as u64 + Segment::FOOTER
    }
}

impl Log {
    /// One that goes on with this segment, which is in the index, or with another one of this number.
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

    /// Whether to try to write now.
    pub(crate) fn may_try(&self) -> Result<(), Error> {
        self.health.may_try()
    }

    /// Makes room for so many bytes, to be written before anything else is.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        self.health.may_try()?;
        self.attempt(|log| {
            log.make_room(bytes)?;
            log.pay()
        })
    }

    /// Tries to write, and takes note if that fails. After a failure nothing more is written to the same segment, whose end is
    /// not known, and a disk that is full gets room.
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

    /// Appends a block. In front of its bytes the record has room for a header.
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

    /// Appends an object, and before it its last block, if that is not empty; as [`Self::put_block`] wants it.
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

    /// Removes an object, now and for good. If that cannot be written, it is as soon as something can.
    pub(crate) fn remove(&mut self, id: Id) -> Result<bool, Error> {
        let Some(reach) = self.index.remove(id) else { return Ok(false) };
        self.owed.insert(id, reach);
        self.reserve(0)?;
        self.collect()?;
        Ok(true)
    }

    /// How writing goes.
    pub(crate) fn state(&self) -> State {
        self.health.state()
    }

    /// The number of the segment that is being written.
    pub(crate) fn active(&self) -> Option<u32> {
        self.active.as_ref().map(|active| active.segment.number)
    }

    /// Whether nothing is in that.
    pub(crate) fn is_empty(&self) -> bool {
        self.active.as_ref().is_none_or(|active| active.end <= FileHeader::BYTES as u64)
    }

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.attempt(|log| log.active.as_ref().map_or(Ok(()), |active| active.segment.sync()))
    }

    /// Ends the segment that is being written, and begins another one, whose number is returned.
    pub(crate) fn turn(&mut self) -> Result<u32, Error> {
        self.close();
        Ok(self.open()?.segment.number)
    }

    /// Ends the segment that is being written.
    pub(crate) fn close(&mut self) {
        let Some(Active { segment, end, entries }) = self.active.take() else { return };
        if let Err(error) = segment.seal(&entries, end) {
            self.health.failed(&error);
            self.index.keep(segment.number, entries);
        }
    }

    /// Ends the segment that is being written, and writes nothing more.
    pub(crate) fn release(&mut self) {
        self.close();
        self.health.release();
    }

    /// Appends what the function makes for its place, and the entry that the next start needs, if any.
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

    /// The segment to write to: another one when it is full.
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

    /// Writes the removals that are owed.
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

/// Of an offset or a length in a segment. A segment begins its last record before [`Config::segment`], 1 GiB at most, and the
/// longest record is that of the largest object, whose list of blocks takes 128 MiB.
fn as_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
