//! The effects of writes on the tables.

use bytes::Bytes;
use kv::{
    ApplyOutcome, Content, CorruptRecord, HybridClock, Millis, Pairing, Record, Sweep, ValueMeta, Version,
};
use redb::{ReadableTable as _, ReadableTableMetadata as _, StorageError, Table, WriteTransaction};

use crate::layout::{
    BYTES, CLOCK, DUE, FILLING, FullKey, HEADS, Head, KEYS, NEXT_VALUE, NOTES, NUMBERS, PIECE, UPLOADS,
    VALUES, pieces, with_checksum,
};

#[derive(Debug)]
pub(crate) enum Mutation {
    /// Stores a piece of an incomplete value.
    Piece { value: u64, number: u32, bytes: Bytes },
    /// The pieces before `rest` are already stored. The version is present if it was made
    /// elsewhere.
    Put { key: Vec<u8>, value: u64, rest: Bytes, about: ValueMeta, version: Option<Version> },
    /// Deletes the value of a key.
    Delete { key: Vec<u8>, version: Option<Version> },
    /// Stores a record of the other store.
    Take { key: Vec<u8>, value: u64, rest: Bytes, record: Record },
    /// The other store may lack the key.
    Note { key: Vec<u8> },
    /// The other store has this version of the key.
    Unnote { key: Vec<u8>, version: Version },
    /// The other store has no keys that this store never received.
    Filled,
    /// Removes the pieces of an incomplete value.
    Discard { value: u64 },
}

impl Mutation {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Piece { bytes, .. } | Self::Put { rest: bytes, .. } | Self::Take { rest: bytes, .. } => {
                bytes.len()
            }
            _ => 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applied {
    Version(Version),
    Given(ApplyOutcome),
}

/// An error of the file, or damaged contents.
#[derive(Debug)]
pub(crate) enum MutationError {
    File(redb::Error),
    Content(CorruptRecord),
}

impl<E: Into<redb::Error>> From<E> for MutationError {
    fn from(error: E) -> Self {
        Self::File(error.into())
    }
}

pub(crate) struct Tables<'w> {
    heads: Table<'w, FullKey<'static>, &'static [u8]>,
    values: Table<'w, (u64, u32), &'static [u8]>,
    due: Table<'w, (u64, FullKey<'static>), ()>,
    uploads: Table<'w, u64, ()>,
    notes: Table<'w, FullKey<'static>, ()>,
    numbers: Table<'w, &'static str, u64>,
    company: Pairing,
    /// Of the number of keys with a value, and of the size of values.
    change: (i64, i64),
}

impl<'w> Tables<'w> {
    pub(crate) fn open(work: &'w WriteTransaction, company: Pairing) -> Result<Self, MutationError> {
        Ok(Self {
            heads: work.open_table(HEADS)?,
            values: work.open_table(VALUES)?,
            due: work.open_table(DUE)?,
            uploads: work.open_table(UPLOADS)?,
            notes: work.open_table(NOTES)?,
            numbers: work.open_table(NUMBERS)?,
            company,
            change: (0, 0),
        })
    }

    /// Of the keys that the changes would overwrite with an older version.
    pub(crate) fn older(&self, changes: &[Mutation]) -> Result<Option<Version>, MutationError> {
        let mut newest = None;
        for change in changes {
            let (Mutation::Put { key, version: Some(version), .. }
            | Mutation::Delete { key, version: Some(version) }) = change
            else {
                continue;
            };
            if let ApplyOutcome::Older(known) = self.given(key, version)? {
                newest = newest.max(Some(known));
            }
        }
        Ok(newest)
    }

    /// Returns a result for changes of a key.
    pub(crate) fn apply(
        &mut self,
        change: &Mutation,
        clock: &mut HybridClock,
        now: Millis,
    ) -> Result<Option<Applied>, MutationError> {
        match change {
            Mutation::Piece { value, number, bytes } => {
                if *number == 0 {
                    self.uploads.insert(*value, ())?;
                }
                self.values.insert((*value, *number), &with_checksum(*value, *number, bytes)[..])?;
                Ok(None)
            }
            Mutation::Put { key, value, rest, about, version } => {
                let content = Content::Value(about.clone());
                self.write(key, (*value, rest), (content, version.as_ref()), clock, now).map(Some)
            }
            Mutation::Delete { key, version } => {
                let content = Content::Deleted { since: now.seconds() };
                self.write(key, (0, &Bytes::new()), (content, version.as_ref()), clock, now).map(Some)
            }
            Mutation::Take { key, value, rest, record } => {
                clock.hear(&record.version);
                let given = self.given(key, &record.version)?;
                match &given {
                    ApplyOutcome::New => self.store(key, (*value, rest), record.clone())?,
                    ApplyOutcome::Same | ApplyOutcome::Older(_) => self.discard(*value)?,
                }
                match &given {
                    ApplyOutcome::New | ApplyOutcome::Same => self.unnote(key)?,
                    ApplyOutcome::Older(_) => drop(self.notes.insert(&key[..], ())?),
                }
                Ok(Some(Applied::Given(given)))
            }
            Mutation::Note { key } => {
                if self.heads.get(&key[..])?.is_some() {
                    self.notes.insert(&key[..], ())?;
                }
                Ok(None)
            }
            Mutation::Unnote { key, version } => {
                if !matches!(self.given(key, version)?, ApplyOutcome::Older(_)) {
                    self.unnote(key)?;
                }
                Ok(None)
            }
            Mutation::Filled => {
                self.numbers.insert(FILLING, 0)?;
                Ok(None)
            }
            Mutation::Discard { value } => {
                self.discard(*value)?;
                Ok(None)
            }
        }
    }

    fn write(
        &mut self,
        key: &[u8],
        (value, rest): (u64, &Bytes),
        (content, version): (Content, Option<&Version>),
        clock: &mut HybridClock,
        now: Millis,
    ) -> Result<Applied, MutationError> {
        let version = match version {
            None => clock.next(now),
            Some(version) => {
                clock.hear(version);
                if self.given(key, version)? != ApplyOutcome::New {
                    // The same write arrived over another path.
                    self.discard(value)?;
                    return Ok(Applied::Version(version.clone()));
                }
                version.clone()
            }
        };
        self.store(key, (value, rest), Record { version: version.clone(), content })?;
        if self.company == Pairing::Paired {
            self.notes.insert(key, ())?;
        }
        Ok(Applied::Version(version))
    }

    fn store(
        &mut self,
        key: &[u8],
        (value, rest): (u64, &Bytes),
        record: Record,
    ) -> Result<(), MutationError> {
        let Content::Value(about) = &record.content else { return self.set(key, &Head::new(0, record)) };
        let all = pieces(about.bytes);
        let stored = all - pieces(rest.len() as u64).min(all);
        if stored > 0 {
            self.uploads.remove(value)?;
        }
        for (number, piece) in (stored..).zip(rest.chunks(PIECE)) {
            self.values.insert((value, number), &with_checksum(value, number, piece)[..])?;
        }
        self.set(key, &Head::new(value, record))
    }

    fn discard(&mut self, value: u64) -> Result<(), MutationError> {
        // A client that did not wait for its write may discard the value after it was set.
        if self.uploads.remove(value)?.is_some() {
            self.values.retain_in((value, 0)..=(value, u32::MAX), |_, _| false)?;
        }
        Ok(())
    }

    fn record(&self, key: &[u8]) -> Result<Option<Record>, MutationError> {
        let head = self.heads.get(key)?.map(|bytes| Head::decode(key, bytes.value()));
        Ok(head.transpose().map_err(MutationError::Content)?.map(|head| head.record))
    }

    fn given(&self, key: &[u8], version: &Version) -> Result<ApplyOutcome, MutationError> {
        Ok(Record::given(self.record(key)?.as_ref(), version))
    }

    /// A tombstone may then be dropped when it is due.
    fn unnote(&mut self, key: &[u8]) -> Result<(), MutationError> {
        if self.notes.remove(key)?.is_some()
            && let Some(due) = self.record(key)?.and_then(|record| record.due())
        {
            self.due.insert((due, key), ())?;
        }
        Ok(())
    }

    /// Returns the keys whose value expired, and whether more keys may be due.
    pub(crate) fn sweep(&mut self, now: Millis, most: usize) -> Result<(Vec<Vec<u8>>, bool), MutationError> {
        let mut due = Vec::new();
        for entry in self.due.range(..(now.seconds().saturating_add(1), &b""[..]))?.take(most) {
            let (entry, ()) = {
                let (key, value) = entry?;
                (key.value().1.to_owned(), value.value())
            };
            due.push(entry);
        }
        let mut ended = Vec::new();
        for key in &due {
            let head = self.heads.get(&key[..])?.map(|bytes| Head::decode(key, bytes.value())).transpose();
            let Some(head) = head.map_err(MutationError::Content)? else { continue };
            match head.record.sweep(now) {
                Sweep::Keep => {}
                Sweep::Bury(record) => {
                    self.set(key, &Head::new(0, record))?;
                    ended.push(key.clone());
                }
                // It becomes due again when the other store has it.
                Sweep::Forget if self.notes.get(&key[..])?.is_some() => self.not_due(key, &head.record)?,
                Sweep::Forget => {
                    self.heads.remove(&key[..])?;
                    self.not_due(key, &head.record)?;
                }
            }
        }
        Ok((ended, due.len() == most))
    }

    /// Returns the number of keys with a value, the size of these values, and the number of keys
    /// that the other store may lack.
    pub(crate) fn note(
        &mut self,
        clock: &HybridClock,
        next_value: u64,
    ) -> Result<(u64, u64, u64), MutationError> {
        self.numbers.insert(CLOCK, clock.last())?;
        self.numbers.insert(NEXT_VALUE, next_value)?;
        let (keys, bytes) = self.change;
        Ok((self.add(KEYS, keys)?, self.add(BYTES, bytes)?, self.notes.len()?))
    }

    fn add(&mut self, name: &'static str, change: i64) -> Result<u64, MutationError> {
        let before = self.numbers.get(name)?.map_or(0, |number| number.value());
        let after = before.saturating_add_signed(change);
        self.numbers.insert(name, after)?;
        Ok(after)
    }

    fn count(&mut self, record: &Record, by: i64) {
        if let Content::Value(about) = &record.content {
            let bytes = i64::try_from(about.bytes).unwrap_or(i64::MAX);
            self.change.0 += by;
            self.change.1 = self.change.1.saturating_add(bytes.saturating_mul(by));
        }
    }

    fn set(&mut self, key: &[u8], head: &Head) -> Result<(), MutationError> {
        let before =
            self.heads.insert(key, &head.encode(key)[..])?.map(|bytes| Head::decode(key, bytes.value()));
        if let Some(before) = before.transpose().map_err(MutationError::Content)? {
            self.not_due(key, &before.record)?;
            self.count(&before.record, -1);
            // A write that is repeated after a failed sync must not remove its own value.
            let is_again = before.value == head.value && matches!(head.record.content, Content::Value(_));
            if let Content::Value(about) = &before.record.content
                && !is_again
            {
                for number in 0..pieces(about.bytes) {
                    self.values.remove((before.value, number))?;
                }
            }
        }
        self.count(&head.record, 1);
        if let Some(due) = head.record.due() {
            self.due.insert((due, key), ())?;
        }
        Ok(())
    }

    fn not_due(&mut self, key: &[u8], record: &Record) -> Result<(), StorageError> {
        if let Some(due) = record.due() {
            self.due.remove((due, key))?;
        }
        Ok(())
    }
}
