//! A body that is written to the disk while it arrives, because it is too large for memory.

use std::sync::{
    Arc, Mutex,
    atomic::{
        AtomicBool, AtomicU64,
        Ordering::{AcqRel, Relaxed},
    },
};

use ::segment_store::{Error, Store, Writer};

use super::{lock, object_head, replace_older, shutdown::ShutdownDeadline};
use crate::{body::shared::SharedBody, cache::response_order::SentRequest, store::memory::Object};

pub(crate) struct StreamingWrite {
    writer: Mutex<Option<Writer>>,
    is_scheduled: AtomicBool,
    /// Bytes that have arrived, as counted in `pending_bytes`.
    received: AtomicU64,
    written: AtomicU64,
    pending_bytes: Arc<AtomicU64>,
    ending: Arc<ShutdownDeadline>,
    sent: SentRequest,
}

impl StreamingWrite {
    pub(super) fn new(
        pending_bytes: Arc<AtomicU64>,
        ending: Arc<ShutdownDeadline>,
        sent: SentRequest,
    ) -> Self {
        let (writer, is_told) = (Mutex::default(), AtomicBool::new(false));
        let (received, written) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { writer, is_scheduled: is_told, received, written, pending_bytes, ending, sent }
    }

    pub(super) fn count_received(&self, fill: &SharedBody) -> bool {
        let bytes = fill.bytes();
        self.pending_bytes.fetch_add(bytes - self.received.swap(bytes, Relaxed), Relaxed);
        // The last job must have the final state of the object.
        !self.is_scheduled.swap(true, AcqRel) || fill.length().is_some()
    }

    /// Stores the object at the end of the body. If the write fails, the body stays in memory or is
    /// only passed on. Blocking.
    pub(super) fn write(&self, store: &Store, object: &Object) -> Result<(), Error> {
        self.is_scheduled.store(false, Relaxed);
        self.try_write(store, object).inspect_err(|_| object.body.abandon_disk())
    }

    fn try_write(&self, store: &Store, object: &Object) -> Result<(), Error> {
        let (fill, mut slot) = (&object.body, lock(&self.writer));
        let previous = slot.take();
        if !fill.is_writing_to_disk() {
            return Ok(());
        }
        if self.ending.has_passed() {
            fill.abandon_disk();
            return Ok(());
        }
        let mut writer = match previous {
            Some(writer) => writer,
            None => {
                let writer = store.begin(object.key.as_str().as_bytes(), &object_head::write(object))?;
                fill.set_disk_reader(&writer.written());
                writer
            }
        };
        while fill.is_writing_to_disk()
            && let Some(piece) = fill.piece_at(writer.length())
        {
            writer.write(&piece)?;
            self.count_written(writer.length());
            fill.mark_written();
            if self.ending.has_passed() {
                fill.abandon_disk();
            }
        }
        if fill.is_writing_to_disk() && fill.length() == Some(writer.length()) {
            writer.replace_head(&object_head::write(object))?;
            let written = writer.written();
            let id = writer.finish()?;
            fill.is_on_disk(written.kept());
            let is_superseded = self.sent.is_superseded(&object.stored.selection);
            return if is_superseded { store.remove(id).map(drop) } else { replace_older(store, object, id) };
        }
        *slot = Some(writer);
        Ok(())
    }

    fn count_written(&self, bytes: u64) {
        // The latest bytes may be written before they are counted.
        let bytes = bytes.min(self.received.load(Relaxed));
        self.pending_bytes.fetch_sub(bytes - self.written.swap(bytes, Relaxed), Relaxed);
    }
}

impl Drop for StreamingWrite {
    fn drop(&mut self) {
        self.count_written(u64::MAX);
    }
}
