//! The writer thread of a capture: splits super-packets, computes checksums, and is the only thread
//! that waits for the disk.

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

pub(super) enum Entry {
    Interface(String),
    Packet { at: Duration, interface: u32, comment: Option<&'static str>, frame: Vec<u8> },
    End(Vec<Counts>),
}

pub(super) enum Output {
    /// Truncated after the last complete block when it cannot grow.
    File(File),
    Stream(Box<dyn Write + Send>),
}

pub(super) struct Outcome {
    pub packets: u64,
    pub bytes: u64,
    pub failure: Option<io::Error>,
}

pub(super) struct Writer {
    output: Output,
    snap: u32,
    blocks: Vec<u8>,
    packet: Vec<u8>,
    last: Duration,
    outcome: Outcome,
}

impl Writer {
    pub(super) fn new(output: Output, snap: u32) -> Self {
        let outcome = Outcome { packets: 0, bytes: 0, failure: None };
        let (blocks, packet) = (Vec::new(), Vec::new());
        Self { output, snap, blocks, packet, last: Duration::ZERO, outcome }
    }

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
                    // A live reader receives all data before the writer waits.
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

    /// After a failure, the blocks that were written completely count.
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

    fn cut(&self, length: u64) {
        if let Self::File(file) = self {
            let _ = file.set_len(length);
        }
    }
}

/// Blocks are written at this size, or when the queue is empty.
const CHUNK: usize = 1 << 18;
