//! A body that is written to the disk while it arrives, because it is too large for memory.

use std::sync::{
    Arc, Mutex,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{AcqRel, Relaxed},
    },
};

use ::disk::{Error, Store, Writer};

use super::{ending::Ending, head, lock, take_place};
use crate::{fill::Fill, in_flight::Sent, store::Object};

pub(crate) struct Stream {
    /// Held by the writer thread, from the first job for this body.
    writer: Mutex<Option<Writer>>,
    /// Whether a job is queued that the writer has not started yet.
    is_told: AtomicBool,
    /// Bytes that have arrived, as counted in `waiting`.
    came: AtomicU64,
    /// The part of them that is written.
    written: AtomicU64,
    /// The bytes of all objects that wait to be written.
    waiting: Arc<AtomicU64>,
    ending: Arc<Ending>,
    sent: Sent,
}

impl Stream {
    pub(super) fn new(waiting: Arc<AtomicU64>, ending: Arc<Ending>, sent: Sent) -> Self {
        let (writer, is_told) = (Mutex::default(), AtomicBool::new(false));
        let (came, written) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { writer, is_told, came, written, waiting, ending, sent }
    }

    /// Counts the bytes that have arrived. Returns whether to queue a job.
    pub(super) fn is_to_be_told(&self, fill: &Fill) -> bool {
        let bytes = fill.bytes();
        self.waiting.fetch_add(bytes - self.came.swap(bytes, Relaxed), Relaxed);
        // The last job must have the final state of the object.
        !self.is_told.swap(true, AcqRel) || fill.length().is_some()
    }

    /// Writes the bytes that have arrived, and stores the object at the end of the body. If the write fails,
    /// the body stays in memory or is only passed on. Blocking.
    pub(super) fn write(&self, store: &Store, object: &Object) -> Result<(), Error> {
        self.is_told.store(false, Relaxed);
        self.try_write(store, object).inspect_err(|_| object.body.leave_disk())
    }

    fn try_write(&self, store: &Store, object: &Object) -> Result<(), Error> {
        let (fill, mut slot) = (&object.body, lock(&self.writer));
        let before = slot.take();
        if !fill.is_going_to_disk() {
            return Ok(());
        }
        if self.ending.is_over() {
            fill.leave_disk();
            return Ok(());
        }
        let mut writer = match before {
            Some(writer) => writer,
            None => {
                let writer = store.begin(object.key.as_str().as_bytes(), &head::write(object))?;
                fill.is_read_from(&writer.written());
                writer
            }
        };
        while fill.is_going_to_disk()
            && let Some(piece) = fill.piece_at(writer.length())
        {
            writer.write(&piece)?;
            self.count_written(writer.length());
            fill.was_written();
            if self.ending.is_over() {
                fill.leave_disk();
            }
        }
        if fill.is_going_to_disk() && fill.length() == Some(writer.length()) {
            writer.replace_head(&head::write(object))?;
            let written = writer.written();
            let id = writer.finish()?;
            fill.is_on_disk(written.kept());
            let is_superseded = self.sent.is_superseded(&object.stored.selection);
            return if is_superseded { store.remove(id).map(drop) } else { take_place(store, object, id) };
        }
        *slot = Some(writer);
        Ok(())
    }

    fn count_written(&self, bytes: u64) {
        // The latest bytes may be written before they are counted.
        let bytes = bytes.min(self.came.load(Relaxed));
        self.waiting.fetch_sub(bytes - self.written.swap(bytes, Relaxed), Relaxed);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.count_written(u64::MAX);
    }
}
