//! What a full store gives up: the oldest segment, first in first out. Of its objects those that were read since they were written
//! are written anew, as long as they are no more than half of it: so each segment that goes leaves room, whatever is popular.

use crate::{
    Error,
    format::{Header, Id, Kind, block},
    index::Spot,
    log::Log,
    record::Record,
    segment::{Segment, Wait},
};

impl Log {
    /// Gives up segments until there is room for so many bytes, and for a segment's worth of objects that are carried over.
    pub(crate) fn make_room(&mut self, bytes: u64) -> Result<(), Error> {
        self.collect()?;
        while self.index.usage().bytes + bytes + self.full > self.capacity {
            let Some((oldest, held)) = self.index.oldest() else { break };
            if Some(oldest.number) == self.active() {
                if self.is_empty() {
                    break;
                }
                self.close();
            }
            self.give_up(&oldest, held / 2)?;
        }
        Ok(())
    }

    /// Deletes the segments that nobody needs.
    pub(crate) fn collect(&mut self) -> Result<(), Error> {
        while let Some(dead) = self.index.dead() {
            dead.delete()?;
            self.index.forget(dead.number);
        }
        Ok(())
    }

    /// Removes all objects by giving up all segments, once there is another one to go on with.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.index.clear();
        self.may_try()?;
        self.attempt(|log| {
            let newest = log.turn()?;
            while let Some((oldest, _)) = log.index.oldest().filter(|(oldest, _)| oldest.number < newest) {
                oldest.delete()?;
                log.index.forget(oldest.number);
            }
            Ok(())
        })
    }

    /// Gives up the oldest segment with all that is in it, for a disk that has less room than was thought.
    pub(crate) fn shrink(&mut self) {
        if let Some((oldest, _)) = self.index.oldest() {
            // Why it cannot be deleted is of no interest to whom something else failed.
            drop(self.give_up(&oldest, 0));
        }
    }

    /// Gives up a segment, and carries over so many bytes of it.
    fn give_up(&mut self, segment: &Segment, mut carried: u64) -> Result<(), Error> {
        let entries = self.index.kept(segment.number).map_or_else(|| segment.entries(), Ok);
        let ids = match entries {
            Ok(entries) => entries.iter().map(|entry| entry.id).collect(),
            Err(_) => self.index.needing(segment.number),
        };
        for id in ids {
            let Some((spot, newest)) = self.index.get(id) else { continue };
            if spot.first > segment.number {
                continue;
            }
            if spot.is_read && self.carry(id, spot, &newest, &mut carried).is_ok_and(|is_carried| is_carried)
            {
                self.index.carried(id);
            } else {
                self.index.evict(id);
            }
        }
        segment.delete()?;
        self.index.forget(segment.number);
        self.collect()
    }

    /// Writes an object anew, unless that would be too much.
    fn carry(&mut self, id: Id, spot: Spot, newest: &Segment, rest: &mut u64) -> Result<bool, Error> {
        if u64::from(spot.length) > *rest {
            return Ok(false);
        }
        let mut object = newest.object(id, spot.offset, spot.length, Wait::ForDisk)?;
        let overhead = (object.blocks.len() as u64) * Header::BYTES as u64;
        let bytes = object.length.saturating_add(overhead).saturating_add(spot.length.into());
        let Some(segments) = self.index.segments(object.blocks.iter().map(|block| block.segment)) else {
            return Ok(false);
        };
        if bytes > *rest {
            return Ok(false);
        }
        *rest -= bytes;
        for (index, place) in (0..).zip(&mut object.blocks) {
            let Some(segment) = segments.get(&place.segment) else { return Ok(false) };
            let length = Header::BYTES as u64 + block(object.length, index);
            let (what, at) = ((Kind::Block, id, index), (place.offset, length));
            let mut record = segment.record(what, at, Wait::ForDisk, Record::new)?;
            *place = self.put_block(id, index, &mut record)?;
        }
        self.put(id, &mut object, Vec::new())?;
        Ok(true)
    }
}
