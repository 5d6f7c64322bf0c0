//! The single writer thread: it commits all waiting writes together and then reports the results.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use kv::{HybridClock, Millis, Pairing};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Error,
    disk_reserve::Reserve,
    file::File,
    mutation::{Applied, Mutation, MutationError, Tables},
};

pub(crate) enum WriteCommand {
    Write { changes: Vec<Mutation>, done: oneshot::Sender<Result<Vec<Applied>, Error>> },
    Sweep { done: oneshot::Sender<Result<ExpiredBatch, Error>> },
    Close { done: oneshot::Sender<()> },
}

pub(crate) struct ExpiredBatch {
    pub(crate) ended: Vec<Vec<u8>>,
    pub(crate) is_more: bool,
}

pub(crate) struct Writer {
    pub(crate) file: Arc<File>,
    pub(crate) clock: HybridClock,
    pub(crate) next_value: Arc<AtomicU64>,
    pub(crate) now: fn() -> Millis,
    pub(crate) orders: mpsc::Receiver<WriteCommand>,
    pub(crate) done: Arc<WriterStats>,
    pub(crate) company: Pairing,
    pub(crate) reserve: Reserve,
}

#[derive(Debug, Default)]
pub(crate) struct WriterStats {
    pub(crate) commits: AtomicU64,
    pub(crate) keys: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) noted: AtomicU64,
    /// 1 if the other store may have keys that this store never received, else 0.
    pub(crate) filling: AtomicU64,
}

type Writes = Vec<(Vec<Mutation>, oneshot::Sender<Result<Vec<Applied>, Error>>)>;

impl Writer {
    /// Runs until the file is closed or all senders are dropped.
    pub(crate) fn work(mut self) {
        while let Some(first) = self.orders.blocking_recv() {
            let (mut writes, mut other) = (Writes::new(), None);
            let mut bytes = 0;
            let mut next = Some(first);
            while let Some(order) = next.take() {
                match order {
                    WriteCommand::Write { changes, done } => {
                        bytes += changes.iter().map(Mutation::bytes).sum::<usize>();
                        writes.push((changes, done));
                    }
                    order => other = Some(order),
                }
                if other.is_none() && bytes < MOST_BYTES && writes.len() < MOST_WRITES {
                    next = self.orders.try_recv().ok();
                }
            }
            if !writes.is_empty() {
                self.write(writes);
            }
            match other {
                None | Some(WriteCommand::Write { .. }) => {}
                Some(WriteCommand::Sweep { done }) => drop(done.send(self.sweep())),
                Some(WriteCommand::Close { done }) => {
                    self.file.close();
                    let _ = done.send(());
                    return;
                }
            }
        }
        self.file.close();
    }

    /// If a commit of several writes fails, each is retried separately, so that the others can
    /// succeed.
    fn write(&mut self, writes: Writes) {
        let (writes, refused): (Writes, Writes) =
            writes.into_iter().partition(|(changes, _)| self.reserve.has_room_for(changes));
        for (_, done) in refused {
            let _ = done.send(Err(self.file.full()));
        }
        let all: Vec<_> = writes.iter().map(|(changes, _)| &changes[..]).collect();
        match self.commit(&all) {
            Ok(made) => {
                for ((_, done), made) in writes.into_iter().zip(made) {
                    let _ = done.send(made);
                }
            }
            Err(error) => match <[_; 1]>::try_from(writes) {
                Ok([(changes, done)]) => drop(done.send(self.write_again(error, &changes))),
                Err(writes) => {
                    for (changes, done) in writes {
                        let alone = self.commit(&[&changes[..]]);
                        let alone = alone
                            .or_else(|error| self.write_again(error, &changes).map(|made| vec![Ok(made)]));
                        let _ = done.send(alone.and_then(|mut made| made.pop().unwrap_or(Ok(Vec::new()))));
                    }
                }
            },
        }
    }

    /// Spends the reserve.
    fn write_again(&mut self, error: Error, changes: &[Mutation]) -> Result<Vec<Applied>, Error> {
        let is_delete = changes.iter().all(|change| matches!(change, Mutation::Delete { .. }));
        if !(is_delete && matches!(error, Error::Full { .. }) && self.reserve.spend()) {
            return Err(error);
        }
        self.commit(&[changes])?.pop().unwrap_or(Ok(Vec::new()))
    }

    /// Except those with an older version than the stored record.
    fn commit(&mut self, writes: &[&[Mutation]]) -> Result<Vec<Result<Vec<Applied>, Error>>, Error> {
        let now = (self.now)();
        let is_filled =
            writes.iter().flat_map(|changes| changes.iter()).any(|change| matches!(change, Mutation::Filled));
        let made = self.durably(|tables, clock| {
            let mut one = |changes: &&[Mutation]| {
                if let Some(known) = tables.older(changes)? {
                    clock.hear(&known);
                    return Ok(Err(Error::Older { known }));
                }
                let applied = changes.iter().map(|change| tables.apply(change, clock, now));
                Ok(Ok(applied.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?))
            };
            writes.iter().map(&mut one).collect()
        })?;
        if is_filled {
            self.done.filling.store(0, Relaxed);
        }
        Ok(made)
    }

    fn sweep(&mut self) -> Result<ExpiredBatch, Error> {
        let now = (self.now)();
        let mut swept = self.durably(|tables, _| tables.sweep(now, MOST_WRITES));
        if matches!(swept, Err(Error::Full { .. })) && self.reserve.spend() {
            swept = self.durably(|tables, _| tables.sweep(now, MOST_WRITES));
        }
        let (ended, is_more) = swept?;
        Ok(ExpiredBatch { ended, is_more })
    }

    fn durably<T>(
        &mut self,
        work: impl FnOnce(&mut Tables<'_>, &mut HybridClock) -> Result<T, MutationError>,
    ) -> Result<T, Error> {
        let wrong = |wrong| match wrong {
            MutationError::File(error) => self.file.failed("write to", error),
            MutationError::Content(damaged) => self.file.damaged(damaged),
        };
        let mut clock = self.clock.clone();
        let (made, (keys, bytes, noted)) = self.file.durably(|transaction| {
            let mut tables = Tables::open(transaction, self.company).map_err(wrong)?;
            let made = work(&mut tables, &mut clock).map_err(wrong)?;
            let held = tables.note(&clock, self.next_value.load(Relaxed)).map_err(wrong)?;
            Ok((made, held))
        })?;
        self.clock = clock;
        self.reserve.written(self.done.bytes.load(Relaxed), bytes);
        self.done.keys.store(keys, Relaxed);
        self.done.bytes.store(bytes, Relaxed);
        self.done.noted.store(noted, Relaxed);
        self.done.commits.fetch_add(1, Relaxed);
        Ok(made)
    }
}

/// Limits a commit, so that its first write does not wait for long.
const MOST_BYTES: usize = 8 << 20;
const MOST_WRITES: usize = 1024;
