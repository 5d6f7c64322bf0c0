//! A body that is written to the disk while it comes, as memory should not hold all of it.

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

/// A body on its way to the disk.
pub(crate) struct Stream {
    /// The thread that writes has it, from its first job for this body on.
    writer: Mutex<Option<Writer>>,
    /// Whether that thread has been told of something that it has not seen yet.
    is_told: AtomicBool,
    /// Bytes that came, as far as the thread was told of them.
    came: AtomicU64,
    /// Those of them that are written.
    written: AtomicU64,
    /// Bytes of all objects that wait to be written.
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

    /// Counts what came; whether the thread that writes does not know yet that there is something to do.
    pub(super) fn is_to_be_told(&self, fill: &Fill) -> bool {
        let bytes = fill.bytes();
        self.waiting.fetch_add(bytes - self.came.swap(bytes, Relaxed), Relaxed);
        // The last job has the object as it is at the end.
        !self.is_told.swap(true, AcqRel) || fill.length().is_some()
    }

    /// Writes what has come; at its end, the object is stored. A body that the disk does not take is left to memory, or passed on.
    /// Blocks.
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
        // What has just come may be written before it is counted.
        let bytes = bytes.min(self.came.load(Relaxed));
        self.waiting.fetch_sub(bytes - self.written.swap(bytes, Relaxed), Relaxed);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.count_written(u64::MAX);
    }
}
