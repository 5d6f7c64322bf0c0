//! The thread that writes a capture: cuts super-packets, completes checksums, and is the only one that waits for the disk.

use std::{
    fs::File,
    io::{self, Write},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, TryRecvError},
    },
    time::Duration,
};

use super::{Counts, blocks, pcapng};
use crate::frame::{Frame, Treatment};

/// What the writer is told.
pub(super) enum Entry {
    /// There is another interface.
    Interface(String),
    /// A packet was seen: a frame that stands for one or more on the wire.
    Packet { at: Duration, interface: u32, comment: Option<&'static str>, frame: Vec<u8> },
    /// Nothing more comes; what was counted at each interface.
    End(Vec<Counts>),
}

/// Where a capture goes.
pub(super) enum Output {
    /// A file, which is cut behind the last whole block when it cannot grow any more.
    File(File),
    /// Somebody who reads along.
    Stream(Box<dyn Write + Send>),
}

/// What became of a capture.
pub(super) struct Outcome {
    /// Packets in it.
    pub packets: u64,
    /// Bytes of whole blocks in it.
    pub bytes: u64,
    /// Why it stopped before its end, if it did.
    pub failure: Option<io::Error>,
}

/// Writes what it is told.
pub(super) struct Writer {
    output: Output,
    snap: u32,
    /// Whole blocks that are not written yet.
    blocks: Vec<u8>,
    /// The packet at hand.
    packet: Vec<u8>,
    /// Time of the last packet.
    last: Duration,
    outcome: Outcome,
}

impl Writer {
    pub(super) fn new(output: Output, snap: u32) -> Self {
        let outcome = Outcome { packets: 0, bytes: 0, failure: None };
        let (blocks, packet) = (Vec::new(), Vec::new());
        Self { output, snap, blocks, packet, last: Duration::ZERO, outcome }
    }

    /// Runs until the end or the first failure. `queued` is what waits in `entries`, in bytes.
    pub(super) fn run(mut self, entries: &Receiver<Entry>, queued: &AtomicUsize) -> Outcome {
        if let Err(error) = self.follow(entries, queued) {
            self.outcome.failure = Some(error);
        }
        self.outcome
    }

    fn follow(&mut self, entries: &Receiver<Entry>, queued: &AtomicUsize) -> io::Result<()> {
        pcapng::section(&mut self.blocks);
        loop {
            let entry = match entries.try_recv() {
                Ok(entry) => entry,
                Err(TryRecvError::Disconnected) => return self.flush(),
                Err(TryRecvError::Empty) => {
                    // Whoever reads along gets everything before we wait.
                    self.flush()?;
                    let Ok(entry) = entries.recv() else { return Ok(()) };
                    entry
                }
            };
            match entry {
                Entry::Interface(name) => pcapng::interface(&mut self.blocks, &name, self.snap),
                Entry::Packet { at, interface, comment, frame } => {
                    self.packet(&pcapng::Packet { at, interface, comment }, &frame)?;
                    queued.fetch_sub(super::cost(&frame), Ordering::Relaxed);
                }
                Entry::End(counts) => self.statistics(&counts),
            }
        }
    }

    /// One block for each segment.
    fn packet(&mut self, about: &pcapng::Packet, bytes: &[u8]) -> io::Result<()> {
        let Ok(frame) = Frame::parse(bytes) else { return Ok(()) };
        self.last = about.at;
        for segment in 0..frame.packet.segments() {
            self.packet.clear();
            frame.write_segment(bytes, segment, Treatment::default(), &mut self.packet);
            let length = self.packet.len();
            let kept = if self.snap == 0 { length } else { length.min(self.snap as usize) };
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            pcapng::packet(&mut self.blocks, about, &self.packet[..kept], length);
            if self.blocks.len() >= CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn statistics(&mut self, counts: &[Counts]) {
        for (interface, counts) in (0..).zip(counts) {
            pcapng::statistics(&mut self.blocks, self.last, interface, counts.seen, counts.missed);
        }
    }

    /// Writes the blocks that wait. After a failure, those that got through are what the file has.
    fn flush(&mut self) -> io::Result<()> {
        let (written, result) = self.output.write(&self.blocks);
        let (bytes, packets) = blocks::whole(&self.blocks[..written]);
        self.outcome.bytes += bytes as u64;
        self.outcome.packets += packets;
        if result.is_err() {
            self.output.cut(self.outcome.bytes);
        }
        self.blocks.clear();
        result
    }
}

impl Output {
    /// Writes all of `bytes`, or says how far it came.
    fn write(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let output: &mut dyn Write = match self {
            Self::File(file) => file,
            Self::Stream(stream) => stream,
        };
        let mut written = 0;
        while written < bytes.len() {
            match output.write(&bytes[written..]) {
                Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (written, Err(error)),
            }
        }
        (written, output.flush())
    }

    /// Drops what is behind the first `length` bytes of a file. Elsewhere it has been read already.
    fn cut(&self, length: u64) {
        if let Self::File(file) = self {
            // Without it, a reader says that the last packet is cut short and shows the others all the same.
            let _ = file.set_len(length);
        }
    }
}

/// Blocks are written when there are this many bytes of them, or when nothing more is to be done.
const CHUNK: usize = 1 << 18;
