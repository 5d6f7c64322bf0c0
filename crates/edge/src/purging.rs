//! Purges are done here: those of the operator, those that other data centres tell, and what responses make invalid.

use ::tiers::Piece;
use cache::purge::{Depth, Purge, Subject};

use crate::{
    bus::{Bus, Heard, Message},
    centre::Edge,
    note::{Before, Noted, Order},
};

/// Nothing is purged while another process takes this one's place, which would not know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaving;

impl Edge {
    /// Goes on with the purges of a run before.
    pub(crate) fn resume(&self, before: Before) {
        self.bus.resume(&before);
        self.store.resume(before.noted);
    }

    /// Purges, and lets nobody join a fetch that may bring what was purged; blocks until that is on the disk, if there is one. Returns
    /// the epoch, and how many objects it found in memory; `None` while another process takes this one's place.
    pub(crate) fn purge(&self, zone: &str, purges: Vec<Purge>, depth: Depth) -> Option<(u64, usize)> {
        let is_leaving = self.is_leaving();
        if *is_leaving {
            return None;
        }
        let _order = self.bus.in_order();
        let count = purges.len() as u64;
        let purge = || {
            let purged = self.store.purge(zone, purges.clone(), depth, self.now());
            self.flights.close(&purges);
            purged
        };
        // Where there are no others, nobody is to be told.
        let (last, purged) = if self.others().is_some() {
            let orders = purges.iter().map(|purge| Order::new(zone, purge.clone(), depth)).collect();
            let (last, purged) = self.bus.append(orders, purge);
            (Some(last), purged)
        } else {
            (None, purge())
        };
        if let Some(on_disk) = &self.on_disk {
            let mut noted = noted(purged.0, zone, purges, depth);
            if let Some((log, last)) = last {
                let numbers = last + 1 - count..;
                noted.iter_mut().zip(numbers).for_each(|(noted, number)| noted.place = Some((log, number)));
            }
            if !on_disk.note_now(noted) {
                return Some(purged);
            }
        }
        self.bus.is_done();
        Some(purged)
    }

    /// Does what another data centre tells; blocks until that is on the disk, if there is one.
    pub(crate) fn take(&self, name: &str, mut message: Message) -> Result<(), Leaving> {
        let pieces = std::mem::take(&mut message.pieces);
        self.take_pieces(name, pieces, |bus| bus.hear(name, &message)).map(drop)
    }

    /// Does what is told of, with what follows from it besides. Returns how many purges were new. As [`Self::take`].
    pub(crate) fn take_pieces(
        &self,
        name: &str,
        pieces: Vec<Piece<Order>>,
        then: impl FnOnce(&Bus) -> Heard,
    ) -> Result<usize, Leaving> {
        let is_leaving = self.is_leaving();
        if *is_leaving {
            return Err(Leaving);
        }
        let _order = self.bus.in_order();
        let network = self.network();
        let (news, noted) = self.bus.take(pieces, |news| {
            let mut done = Vec::new();
            let purge = |zone: &str, purges: Vec<Purge>, depth| {
                let (epoch, _) = self.store.purge(zone, purges.clone(), depth, self.now());
                noted(epoch, zone, purges, depth)
            };
            if news.everything {
                for zone in &network.zones {
                    done.extend(purge(&zone.name, vec![Purge::Everything], Depth::Soft));
                }
            }
            let is_alike = |a: &Order, b: &Order| a.zone() == b.zone() && a.depth() == b.depth();
            for alike in news.entries.chunk_by(|a, b| is_alike(&a.entry, &b.entry)) {
                let Some(first) = alike.first() else { continue };
                let purges = alike.iter().map(|new| new.entry.purge()).collect();
                let of_these = purge(first.entry.zone(), purges, first.entry.depth());
                done.extend(
                    of_these
                        .into_iter()
                        .zip(alike)
                        .map(|(noted, new)| Noted { place: Some((new.log, new.number)), ..noted }),
                );
            }
            self.flights.close(done.iter().map(|noted| &noted.purge));
            done
        });
        if !noted.is_empty() {
            let (purges, everything) = (noted.len(), news.everything);
            tracing::info!(data_centre = name, purges, everything, "purged as another data centre tells");
        }
        // Where there is nothing to note, something from before may be missing.
        if let Some(on_disk) = &self.on_disk
            && !on_disk.note_now(noted)
        {
            return Ok(news.entries.len());
        }
        let Heard { over, goes_on } = then(&self.bus);
        let reached = self.bus.is_done();
        if let Some(on_disk) = &self.on_disk {
            on_disk.forget_logs(&over);
            if news.everything || goes_on {
                on_disk.note_reached(&reached);
            }
        }
        Ok(news.entries.len())
    }

    /// Makes everything stale, because purges may be lost. Blocks until the disk has noted that, if there is one; returns whether it has.
    pub(crate) fn make_everything_stale(&self) -> Result<bool, Leaving> {
        let is_leaving = self.is_leaving();
        if *is_leaving {
            return Err(Leaving);
        }
        let _order = self.bus.in_order();
        let mut done = Vec::new();
        for zone in &self.network().zones {
            let everything = || vec![Purge::Everything];
            let (epoch, _) = self.store.purge(&zone.name, everything(), Depth::Soft, self.now());
            done.extend(noted(epoch, &zone.name, everything(), Depth::Soft));
        }
        self.flights.close(done.iter().map(|noted| &noted.purge));
        Ok(self.on_disk.as_ref().is_none_or(|on_disk| on_disk.note_now(done)))
    }

    /// Purges what a response makes invalid, here alone; as [`crate::store::Store::invalidate`] says.
    pub(crate) fn invalidate(&self, subject: &Subject, began: u64, purges: Vec<Purge>) -> u64 {
        let (began, epoch) = self.store.invalidate(subject, began, purges.clone(), self.now());
        self.flights.close(&purges);
        if let Some(on_disk) = &self.on_disk {
            on_disk.note(noted(epoch, &subject.zone, purges, Depth::Hard));
        }
        began
    }
}

/// Purges that were done at once, the last one with this epoch.
fn noted(epoch: u64, zone: &str, purges: Vec<Purge>, depth: Depth) -> Vec<Noted> {
    let first = epoch + 1 - purges.len() as u64;
    let noted = |(purge, epoch)| Noted { epoch, zone: zone.to_owned(), purge, depth, place: None };
    purges.into_iter().zip(first..).map(noted).collect()
}
