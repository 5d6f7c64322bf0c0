//! Packets as a file that tcpdump and Wireshark read: pcapng, with what the planet knows of each of them.
//!
//! A capture shows what a real wire would carry: super-packets are cut into their segments, and checksums that the kernels
//! leave to each other are completed. All this, and waiting for the disk, is work of a thread of its own. Whoever
//! captures copies a packet and goes on; when more waits than may, packets are counted as missed instead.

mod blocks;
mod pcapng;
mod writer;

use std::{
    fs::File,
    io::Write,
    num::NonZeroU32,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    error::{Doing, Error},
    frame::{Frame, Treatment},
};
pub use blocks::Blocks;
use writer::{Entry, Outcome, Output, Writer};

/// A capture that is being written.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    entries: mpsc::Sender<Entry>,
    /// Bytes that wait for the writer.
    queued: Arc<AtomicUsize>,
    /// How many may wait before the next packet is missed.
    room: usize,
    counts: Vec<Counts>,
    writer: JoinHandle<Outcome>,
}

/// Some segments of a packet, seen somewhere on their path.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// When, as time since 1970. Segments of a super-packet were seen together.
    pub at: Duration,
    /// Where: what [`Capture::interface`] gave.
    pub interface: u32,
    /// The packet's headers, read.
    pub frame: &'a Frame,
    /// The packet, virtio header first.
    pub bytes: &'a [u8],
    /// Which of its segments.
    pub segments: Range<u32>,
    /// What the path has done to them.
    pub treatment: Treatment,
    /// What else is to be said, such as "dropped: queue".
    pub comment: Option<&'static str>,
}

/// What a capture has in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Packets in it.
    pub packets: u64,
    /// Packets that it should have: the writer was too slow for them.
    pub missed: u64,
    /// Its length.
    pub bytes: u64,
}

/// Packets of one interface.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    seen: u64,
    missed: u64,
}

impl Capture {
    /// Begins a capture in a new file, or in the place of an old one. Of each packet the first `snap` bytes are kept.
    pub fn create(path: &Path, snap: Option<NonZeroU32>) -> Result<Self, Error> {
        let file = File::create(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::begin(Output::File(file), path, snap, MOST_QUEUED)
    }

    /// Begins a capture that somebody reads along, such as a pipe to tcpdump; `name` is what it is called in errors.
    pub fn stream(
        output: impl Write + Send + 'static,
        name: &Path,
        snap: Option<NonZeroU32>,
    ) -> Result<Self, Error> {
        Self::begin(Output::Stream(Box::new(output)), name, snap, MOST_QUEUED)
    }

    fn begin(output: Output, path: &Path, snap: Option<NonZeroU32>, room: usize) -> Result<Self, Error> {
        let (entries, receiver) = mpsc::channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&queued);
        let writer = Writer::new(output, snap.map_or(0, NonZeroU32::get));
        let writer = thread::Builder::new()
            .name("capture".to_owned())
            .spawn(move || writer.run(&receiver, &waiting))
            .doing(|| "start the thread of a capture".to_owned())?;
        Ok(Self { path: path.to_owned(), entries, queued, room, counts: Vec::new(), writer })
    }

    /// Adds a place where packets are seen: a link, or a host.
    pub fn interface(&mut self, name: &str) -> u32 {
        self.tell(Entry::Interface(name.to_owned()));
        self.counts.push(Counts::default());
        u32::try_from(self.counts.len() - 1).expect("a planet has fewer interfaces than 2^32")
    }

    /// Captures one packet, or several if it stands for them. Never waits.
    ///
    /// # Panics
    /// If the interface is not one of this capture.
    pub fn packet(&mut self, seen: &Sighting) {
        let counts = &mut self.counts[seen.interface as usize];
        counts.seen += seen.segments.len() as u64;
        if self.queued.load(Ordering::Relaxed) > self.room || self.writer.is_finished() {
            counts.missed += seen.segments.len() as u64;
            return;
        }
        let (headers, payload) = seen.frame.slice(seen.bytes, &seen.segments, seen.treatment);
        let frame = [&headers, &*payload].concat();
        self.queued.fetch_add(cost(&frame), Ordering::Relaxed);
        let (at, interface, comment) = (seen.at, seen.interface, seen.comment);
        self.tell(Entry::Packet { at, interface, comment, frame });
    }

    /// Whether the writer has given up. [`Capture::finish`] says why.
    pub fn has_stopped(&self) -> bool {
        self.writer.is_finished()
    }

    /// Writes what waits, and what was counted, and waits for both.
    pub fn finish(self) -> Result<Summary, Error> {
        let missed = self.counts.iter().map(|counts| counts.missed).sum();
        // A writer that has stopped says so when it is joined.
        let _ = self.entries.send(Entry::End(self.counts));
        drop(self.entries);
        let Outcome { packets, bytes, failure } = self.writer.join().expect("the writer does not panic");
        match failure {
            None => Ok(Summary { packets, missed, bytes }),
            Some(source) => Err(Error::Capture { path: self.path, written: bytes, source }),
        }
    }

    fn tell(&self, entry: Entry) {
        // A writer that has stopped says so at the end.
        let _ = self.entries.send(entry);
    }
}

/// What a waiting frame takes of the memory for them.
fn cost(frame: &[u8]) -> usize {
    frame.len() + ENTRY
}

/// An entry in the channel and its allocation.
const ENTRY: usize = 128;

/// How much may wait for the disk: a quarter of a second at 2 Gbit/s.
const MOST_QUEUED: usize = 64 << 20;

#[cfg(test)]
mod tests;
