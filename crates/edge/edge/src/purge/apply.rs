//! Application of purges by the operator and by peers, and of invalidations by responses.

use ::tier_routing::LogSlice;
use http_cache::purge::{Depth, Purge, Subject};

use crate::{
    purge::{
        log::{PurgeLog, SyncDelta, SyncMessage},
        record::{PurgeRecord, RecoveredPurges, ZonePurge},
    },
    server::node::Node,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandoverInProgress;

impl Node {
    pub(crate) fn resume(&self, recovered: RecoveredPurges) {
        self.purge_log.resume(&recovered);
        self.store.resume(recovered.records);
    }

    /// Fetches in flight accept no new followers, because they may deliver purged content. Blocks
    /// until the purge is on disk, if there is a disk store. Returns the epoch and the number of
    /// matching objects in memory; `None` during a handover.
    pub(crate) fn purge(&self, zone: &str, purges: Vec<Purge>, depth: Depth) -> Option<(u64, usize)> {
        let is_leaving = self.is_handing_over();
        if *is_leaving {
            return None;
        }
        let _order = self.purge_log.lock_apply_order();
        let count = purges.len() as u64;
        let purge = || {
            let purged = self.store.purge(zone, purges.clone(), depth, self.now());
            self.collapse.close_for_purges(&purges);
            purged
        };
        let (last, purged) = if self.peers().is_some() {
            let orders = purges.iter().map(|purge| ZonePurge::new(zone, purge.clone(), depth)).collect();
            let (last, purged) = self.purge_log.append(orders, purge);
            (Some(last), purged)
        } else {
            (None, purge())
        };
        if let Some(on_disk) = &self.disk {
            let mut records = purge_records(purged.0, zone, purges, depth);
            if let Some((log, last)) = last {
                let numbers = last + 1 - count..;
                records
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(records, number)| records.place = Some((log, number)));
            }
            if !on_disk.persist_purges(records) {
                return Some(purged);
            }
        }
        self.purge_log.mark_applied();
        Some(purged)
    }

    /// Blocks until the purges are on disk, if there is a disk store.
    pub(crate) fn apply_sync(&self, name: &str, mut message: SyncMessage) -> Result<(), HandoverInProgress> {
        let pieces = std::mem::take(&mut message.pieces);
        self.apply_pieces(name, pieces, |bus| bus.receive(name, &message)).map(drop)
    }

    /// Calls `then`, which updates the log. Returns the number of new purges. Blocks like
    /// [`Self::apply_sync`].
    pub(crate) fn apply_pieces(
        &self,
        name: &str,
        pieces: Vec<LogSlice<ZonePurge>>,
        then: impl FnOnce(&PurgeLog) -> SyncDelta,
    ) -> Result<usize, HandoverInProgress> {
        let is_leaving = self.is_handing_over();
        if *is_leaving {
            return Err(HandoverInProgress);
        }
        let _order = self.purge_log.lock_apply_order();
        let network = self.network();
        let (news, records) = self.purge_log.merge(pieces, |news| {
            let mut done = Vec::new();
            let purge = |zone: &str, purges: Vec<Purge>, depth| {
                let (epoch, _) = self.store.purge(zone, purges.clone(), depth, self.now());
                purge_records(epoch, zone, purges, depth)
            };
            if news.everything {
                for zone in &network.zones {
                    done.extend(purge(&zone.name, vec![Purge::Everything], Depth::Soft));
                }
            }
            let is_alike = |a: &ZonePurge, b: &ZonePurge| a.zone() == b.zone() && a.depth() == b.depth();
            for alike in news.entries.chunk_by(|a, b| is_alike(&a.entry, &b.entry)) {
                let Some(first) = alike.first() else { continue };
                let purges = alike.iter().map(|new| new.entry.purge()).collect();
                let of_these = purge(first.entry.zone(), purges, first.entry.depth());
                done.extend(
                    of_these
                        .into_iter()
                        .zip(alike)
                        .map(|(records, new)| PurgeRecord { place: Some((new.log, new.number)), ..records }),
                );
            }
            self.collapse.close_for_purges(done.iter().map(|records| &records.purge));
            done
        });
        if !records.is_empty() {
            let (purges, everything) = (records.len(), news.everything);
            tracing::info!(data_centre = name, purges, everything, "applied purges of a peer");
        }
        // Earlier records may not be on disk yet.
        if let Some(on_disk) = &self.disk
            && !on_disk.persist_purges(records)
        {
            return Ok(news.entries.len());
        }
        let SyncDelta { ended_logs, is_resumed } = then(&self.purge_log);
        let position = self.purge_log.mark_applied();
        if let Some(on_disk) = &self.disk {
            on_disk.forget_logs(&ended_logs);
            if news.everything || is_resumed {
                on_disk.persist_position(&position);
            }
        }
        Ok(news.entries.len())
    }

    /// Used if purges may be lost. Blocks. Returns whether this was written to disk, if there is a
    /// disk store.
    pub(crate) fn make_everything_stale(&self) -> Result<bool, HandoverInProgress> {
        let is_leaving = self.is_handing_over();
        if *is_leaving {
            return Err(HandoverInProgress);
        }
        let _order = self.purge_log.lock_apply_order();
        let mut done = Vec::new();
        for zone in &self.network().zones {
            let everything = || vec![Purge::Everything];
            let (epoch, _) = self.store.purge(&zone.name, everything(), Depth::Soft, self.now());
            done.extend(purge_records(epoch, &zone.name, everything(), Depth::Soft));
        }
        self.collapse.close_for_purges(done.iter().map(|records| &records.purge));
        Ok(self.disk.as_ref().is_none_or(|on_disk| on_disk.persist_purges(done)))
    }

    pub(crate) fn invalidate(&self, subject: &Subject, began: u64, purges: Vec<Purge>) -> u64 {
        let (began, epoch) = self.store.invalidate(subject, began, purges.clone(), self.now());
        self.collapse.close_for_purges(&purges);
        if let Some(on_disk) = &self.disk {
            on_disk.persist_purges_later(purge_records(epoch, &subject.zone, purges, Depth::Hard));
        }
        began
    }
}

fn purge_records(epoch: u64, zone: &str, purges: Vec<Purge>, depth: Depth) -> Vec<PurgeRecord> {
    let first = epoch + 1 - purges.len() as u64;
    let records = |(purge, epoch)| PurgeRecord { epoch, zone: zone.to_owned(), purge, depth, place: None };
    purges.into_iter().zip(first..).map(records).collect()
}
