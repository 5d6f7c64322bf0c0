//! Application of purges by the operator and by peers, and of invalidations by responses.

use ::tiers::Piece;
use cache::purge::{Depth, Purge, Subject};

use crate::{
    bus::{Bus, Heard, Message},
    centre::Edge,
    note::{Before, Noted, Order},
};

/// A handover is in progress: a purge would not reach the new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaving;

impl Edge {
    pub(crate) fn resume(&self, before: Before) {
        self.bus.resume(&before);
        self.store.resume(before.noted);
    }

    /// Purges, and closes fetches in flight to new followers, because they may deliver purged content. Blocks
    /// until the purge is on disk, if there is a disk store. Returns the epoch and the number of matching
    /// objects in memory; `None` during a handover.
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
        // Without peers, purges are not replicated.
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

    /// Applies a message of a peer. Blocks until its purges are on disk, if there is a disk store.
    pub(crate) fn take(&self, name: &str, mut message: Message) -> Result<(), Leaving> {
        let pieces = std::mem::take(&mut message.pieces);
        self.take_pieces(name, pieces, |bus| bus.hear(name, &message)).map(drop)
    }

    /// Applies entries and calls `then`, which updates the log. Returns the number of new purges. Blocks like
    /// [`Self::take`].
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
            tracing::info!(data_centre = name, purges, everything, "applied purges of a peer");
        }
        // Call this even with no new notes: earlier ones may not be on disk yet.
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

    /// Makes everything stale, because purges may be lost. Blocks until this is on disk, if there is a disk
    /// store. Returns whether it was written.
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

    /// Purges content that a response invalidates, in this data centre only; see
    /// [`crate::store::Store::invalidate`].
    pub(crate) fn invalidate(&self, subject: &Subject, began: u64, purges: Vec<Purge>) -> u64 {
        let (began, epoch) = self.store.invalidate(subject, began, purges.clone(), self.now());
        self.flights.close(&purges);
        if let Some(on_disk) = &self.on_disk {
            on_disk.note(noted(epoch, &subject.zone, purges, Depth::Hard));
        }
        began
    }
}

/// Notes for purges that were applied together; `epoch` is the epoch of the last one.
fn noted(epoch: u64, zone: &str, purges: Vec<Purge>, depth: Depth) -> Vec<Noted> {
    let first = epoch + 1 - purges.len() as u64;
    let noted = |(purge, epoch)| Noted { epoch, zone: zone.to_owned(), purge, depth, place: None };
    purges.into_iter().zip(first..).map(noted).collect()
}
