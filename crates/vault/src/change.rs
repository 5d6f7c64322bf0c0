//! What a write does to the tables.

use bytes::Bytes;
use kv::{About, Clock, Content, Damaged, Millis, Record, Sweep, Version};
use redb::{ReadableTable as _, StorageError, Table, WriteTransaction};

use crate::layout::{
    BYTES, CLOCK, DUE, FullKey, HEADS, Head, KEYS, NEXT_VALUE, NUMBERS, PIECE, UPLOADS, VALUES, pieces,
};

/// One write.
#[derive(Debug)]
pub(crate) enum Change {
    /// A piece of a value that is not whole yet.
    Piece { value: u64, number: u32, bytes: Bytes },
    /// A key has this value from now on. The pieces before `rest` are stored.
    Put { key: Vec<u8>, value: u64, rest: Bytes, about: About },
    /// A key has no value from now on.
    Delete { key: Vec<u8> },
    /// A value that will not be whole.
    Discard { value: u64 },
}

/// Why a change failed: the file did, or what was in it.
#[derive(Debug)]
pub(crate) enum Wrong {
    File(redb::Error),
    Content(Damaged),
}

impl<E: Into<redb::Error>> From<E> for Wrong {
    fn from(error: E) -> Self {
        Self::File(error.into())
    }
}

/// All tables, open for writing.
pub(crate) struct Tables<'w> {
    heads: Table<'w, FullKey<'static>, &'static [u8]>,
    values: Table<'w, (u64, u32), &'static [u8]>,
    due: Table<'w, (u64, FullKey<'static>), ()>,
    uploads: Table<'w, u64, ()>,
    numbers: Table<'w, &'static str, u64>,
    /// By how much there are more keys with a value, and bytes of values.
    change: (i64, i64),
}

impl<'w> Tables<'w> {
    pub(crate) fn open(work: &'w WriteTransaction) -> Result<Self, Wrong> {
        Ok(Self {
            heads: work.open_table(HEADS)?,
            values: work.open_table(VALUES)?,
            due: work.open_table(DUE)?,
            uploads: work.open_table(UPLOADS)?,
            numbers: work.open_table(NUMBERS)?,
            change: (0, 0),
        })
    }

    /// Makes a change; says the version that it got, if it is one of a key.
    pub(crate) fn apply(
        &mut self,
        change: &Change,
        clock: &mut Clock,
        now: Millis,
    ) -> Result<Option<Version>, Wrong> {
        match change {
            Change::Piece { value, number, bytes } => {
                if *number == 0 {
                    self.uploads.insert(*value, ())?;
                }
                self.values.insert((*value, *number), &bytes[..])?;
                Ok(None)
            }
            Change::Put { key, value, rest, about } => {
                let all = pieces(about.bytes);
                let stored = all - pieces(rest.len() as u64).min(all);
                if stored > 0 {
                    self.uploads.remove(*value)?;
                }
                for (number, piece) in (stored..).zip(rest.chunks(PIECE)) {
                    self.values.insert((*value, number), piece)?;
                }
                let version = clock.next(now);
                let record = Record { version: version.clone(), content: Content::Value(about.clone()) };
                self.set(key, &Head { value: *value, record })?;
                Ok(Some(version))
            }
            Change::Delete { key } => {
                let version = clock.next(now);
                let content = Content::Deleted { since: now.seconds() };
                self.set(key, &Head { value: 0, record: Record { version: version.clone(), content } })?;
                Ok(Some(version))
            }
            Change::Discard { value } => {
                // Whoever did not wait for a value to be a key's may throw it away too late.
                if self.uploads.remove(*value)?.is_some() {
                    self.values.retain_in((*value, 0)..=(*value, u32::MAX), |_, _| false)?;
                }
                Ok(None)
            }
        }
    }

    /// Does what time asks for, for at most `most` keys; says which ones lost their value, and whether more is to be done.
    pub(crate) fn sweep(&mut self, now: Millis, most: usize) -> Result<(Vec<Vec<u8>>, bool), Wrong> {
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
            let head = self.heads.get(&key[..])?.map(|bytes| Head::decode(bytes.value())).transpose();
            let Some(head) = head.map_err(Wrong::Content)? else { continue };
            match head.record.sweep(now) {
                Sweep::Keep => {}
                Sweep::Bury(record) => {
                    self.set(key, &Head { value: 0, record })?;
                    ended.push(key.clone());
                }
                Sweep::Forget => {
                    self.heads.remove(&key[..])?;
                    self.not_due(key, &head.record)?;
                }
            }
        }
        Ok((ended, due.len() == most))
    }

    /// Notes what must go on where it ended; says how many keys have a value now, and the bytes of those.
    pub(crate) fn note(&mut self, clock: &Clock, next_value: u64) -> Result<(u64, u64), Wrong> {
        self.numbers.insert(CLOCK, clock.last())?;
        self.numbers.insert(NEXT_VALUE, next_value)?;
        let (keys, bytes) = self.change;
        Ok((self.add(KEYS, keys)?, self.add(BYTES, bytes)?))
    }

    fn add(&mut self, name: &'static str, change: i64) -> Result<u64, Wrong> {
        let before = self.numbers.get(name)?.map_or(0, |number| number.value());
        let after = before.saturating_add_signed(change);
        self.numbers.insert(name, after)?;
        Ok(after)
    }

    /// Counts a value that is there from now on, or is not any more.
    fn count(&mut self, record: &Record, by: i64) {
        if let Content::Value(about) = &record.content {
            let bytes = i64::try_from(about.bytes).unwrap_or(i64::MAX);
            self.change.0 += by;
            self.change.1 = self.change.1.saturating_add(bytes.saturating_mul(by));
        }
    }

    /// Sets a key's head, and removes what belonged to the one before.
    fn set(&mut self, key: &[u8], head: &Head) -> Result<(), Wrong> {
        let before = self.heads.insert(key, &head.encode()[..])?.map(|bytes| Head::decode(bytes.value()));
        if let Some(before) = before.transpose().map_err(Wrong::Content)? {
            self.not_due(key, &before.record)?;
            self.count(&before.record, -1);
            // One that is written again, as nobody knows whether it was durable when the disk failed, is its own predecessor.
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
