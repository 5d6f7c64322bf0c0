//! Writes packets to a pcapng file for tcpdump and Wireshark, with comments from the planet.
//!
//! A capture shows the packets of a real wire: super-packets are split, and checksums are computed,
//! in a separate thread. When its queue is full, packets are counted as missed.

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

/// A capture in progress.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    entries: mpsc::Sender<Entry>,
    queued: Arc<AtomicUsize>,
    room: usize,
    counts: Vec<Counts>,
    writer: JoinHandle<Outcome>,
}

/// Segments of a packet that were observed at one place.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// The time since 1970. Segments of a super-packet are observed together.
    pub at: Duration,
    /// The place: the result of [`Capture::interface`].
    pub interface: u32,
    /// The parsed headers of the packet.
    pub frame: &'a Frame,
    /// The packet, virtio header first.
    pub bytes: &'a [u8],
    /// The range of its segments.
    pub segments: Range<u32>,
    /// Changes by the path.
    pub treatment: Treatment,
    /// A comment for the packet, such as "dropped: queue".
    pub comment: Option<&'static str>,
}

/// The result of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Packets in the capture.
    pub packets: u64,
    /// Packets that are missing because the writer was too slow.
    pub missed: u64,
    /// Size in bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    seen: u64,
    missed: u64,
}

impl Capture {
    /// Starts a capture in a new file, with the first `snap` bytes of each packet.
    pub fn create(path: &Path, snap: Option<NonZeroU32>) -> Result<Self, Error> {
        let file = File::create(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::begin(Output::File(file), path, snap, MOST_QUEUED)
    }

    /// Starts a capture into a stream; `name` is its name in errors.
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

    /// Adds a capture point: a link, or a host.
    pub fn interface(&mut self, name: &str) -> u32 {
        self.tell(Entry::Interface(name.to_owned()));
        self.counts.push(Counts::default());
        u32::try_from(self.counts.len() - 1).expect("a planet has fewer interfaces than 2^32")
    }

    /// Captures one packet, or several if it is a super-packet. Never blocks.
    ///
    /// # Panics
    /// If the interface does not belong to this capture.
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

    /// Whether the writer has stopped. [`Capture::finish`] returns the reason.
    pub fn has_stopped(&self) -> bool {
        self.writer.is_finished()
    }

    /// Writes the queued packets and the counters, and waits for the writer.
    pub fn finish(self) -> Result<Summary, Error> {
        let missed = self.counts.iter().map(|counts| counts.missed).sum();
        // A writer that has stopped returns its error when it is joined.
        let _ = self.entries.send(Entry::End(self.counts));
        drop(self.entries);
        let Outcome { packets, bytes, failure } = self.writer.join().expect("the writer does not panic");
        match failure {
            None => Ok(Summary { packets, missed, bytes }),
            Some(source) => Err(Error::Capture { path: self.path, written: bytes, source }),
        }
    }

    fn tell(&self, entry: Entry) {
        let _ = self.entries.send(entry);
    }
}

fn cost(frame: &[u8]) -> usize {
    frame.len() + ENTRY
}

const ENTRY: usize = 128;

/// A quarter of a second at 2 Gbit/s.
const MOST_QUEUED: usize = 64 << 20;

#[cfg(test)]
mod tests;
