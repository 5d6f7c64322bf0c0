//! FIFO eviction of segments. Objects that were read since they were written are written again, up
//! to half of the segment. So every eviction frees room, regardless of the access pattern.

use crate::{
    Error,
    format::{Header, Id, Kind, block},
    index::Spot,
    log::Log,
    record::Record,
    segment::{Segment, Wait},
};

impl Log {
    /// Also leaves room for a full segment of carried objects.
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

    pub(crate) fn collect(&mut self) -> Result<(), Error> {
        while let Some(dead) = self.index.dead() {
            dead.delete()?;
            self.index.forget(dead.number);
        }
        Ok(())
    }

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

    /// Used if the disk has less room than expected.
    pub(crate) fn shrink(&mut self) {
        if let Some((oldest, _)) = self.index.oldest() {
            // The caller reports the original failure.
            drop(self.give_up(&oldest, 0));
        }
    }

    /// Writes up to `carried` bytes of the segment's objects again.
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

    /// Unless it exceeds the remaining bytes.
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
