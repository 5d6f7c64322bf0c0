//! Splits a captured stream into complete blocks, so that a truncated file remains readable, and
//! counts packets.

use super::pcapng::{BYTE_ORDER, MISSED, PACKET, SECTION, STATISTICS};
use crate::error::Error;

/// A parser for the stream of [`Planet::capture`](crate::Planet::capture).
#[derive(Debug, Default)]
pub struct Blocks {
    buffer: Vec<u8>,
    complete: usize,
    has_begun: bool,
    packets: u64,
    missed: u64,
}

impl Blocks {
    /// Adds received bytes. After an error the rest of the stream is unusable.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer.drain(..self.complete);
        self.complete = 0;
        self.buffer.extend_from_slice(bytes);
        while let Some(block) = Block::first(&self.buffer[self.complete..])? {
            if !self.has_begun && !block.is_section() {
                return Err(Error::NoCapture { what: "it begins with something else" });
            }
            self.has_begun = true;
            self.packets += u64::from(block.kind == PACKET);
            self.missed = self.missed.saturating_add(block.missed());
            self.complete += block.length();
        }
        Ok(())
    }

    /// The blocks that the last call completed.
    pub fn complete(&self) -> &[u8] {
        &self.buffer[..self.complete]
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Missing packets, because they arrived faster than they were read.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

pub(super) fn whole(bytes: &[u8]) -> (usize, u64) {
    let (mut length, mut packets) = (0, 0);
    while let Ok(Some(block)) = Block::first(&bytes[length..]) {
        length += block.length();
        packets += u64::from(block.kind == PACKET);
    }
    (length, packets)
}

struct Block<'b> {
    kind: u32,
    body: &'b [u8],
}

impl<'b> Block<'b> {
    fn first(bytes: &'b [u8]) -> Result<Option<Self>, Error> {
        let (Some(kind), Some(said)) = (word(bytes, 0), word(bytes, 4)) else { return Ok(None) };
        let length = said as usize;
        if !(AROUND..=LONGEST).contains(&length) || !length.is_multiple_of(4) {
            return Err(Error::NoCapture { what: "a block has an impossible length" });
        }
        let Some(again) = word(bytes, length - 4) else { return Ok(None) };
        if again != said {
            return Err(Error::NoCapture { what: "the end of a block contradicts its length" });
        }
        Ok(Some(Self { kind, body: &bytes[8..length - 4] }))
    }

    fn length(&self) -> usize {
        self.body.len() + AROUND
    }

    fn is_section(&self) -> bool {
        self.kind == SECTION && word(self.body, 0) == Some(BYTE_ORDER)
    }

    fn missed(&self) -> u64 {
        if self.kind != STATISTICS {
            return 0;
        }
        let mut options = self.body.get(12..).unwrap_or_default();
        while let Some((&[code, code_high, length, length_high], rest)) = options.split_first_chunk() {
            if u16::from_le_bytes([code, code_high]) == MISSED {
                return rest.first_chunk().map_or(0, |count| u64::from_le_bytes(*count));
            }
            let length = usize::from(u16::from_le_bytes([length, length_high])).next_multiple_of(4);
            options = rest.get(length..).unwrap_or_default();
        }
        0
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

const AROUND: usize = 12;
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::pcapng, *};

    fn capture() -> Vec<u8> {
        let mut out = Vec::new();
        let about = pcapng::Packet { at: Duration::ZERO, interface: 0, comment: Some("dropped: loss") };
        pcapng::section(&mut out);
        pcapng::interface(&mut out, "link", 0);
        pcapng::packet(&mut out, &about, &[7; 100], 100);
        pcapng::packet(&mut out, &about, &[], 0);
        pcapng::statistics(&mut out, Duration::ZERO, 0, 4, 3);
        pcapng::statistics(&mut out, Duration::ZERO, 1, 5, 4);
        out
    }

    #[test]
    fn blocks_are_found_however_the_stream_is_cut() {
        let stream = capture();
        for size in 1..=stream.len() {
            let mut blocks = Blocks::default();
            let mut whole = Vec::new();
            for piece in stream.chunks(size) {
                blocks.add(piece).unwrap();
                whole.extend_from_slice(blocks.complete());
            }
            assert_eq!((&whole, blocks.packets(), blocks.missed()), (&stream, 2, 3 + 4), "pieces of {size}");
        }
    }

    #[test]
    fn half_a_block_is_not_handed_on() {
        let stream = capture();
        let mut blocks = Blocks::default();
        // A statistics block: 12 bytes around, 12 of interface and time, two options of 12, and the end of
        // options with 4.
        blocks.add(&stream[..stream.len() - 1]).unwrap();
        assert_eq!((blocks.complete().len(), blocks.missed()), (stream.len() - 52, 3));
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let good = capture();
        let changed = |at: usize, byte: u8| {
            let mut bad = good.clone();
            bad[at] = byte;
            bad
        };
        for (bad, expected) in [
            (b"HTTP/1.1 200 OK\r\n".to_vec(), "impossible length"),
            (good[word(&good, 4).unwrap() as usize..].to_vec(), "begins with something else"),
            (changed(8, 0), "begins with something else"),
            (changed(6, 0xff), "impossible length"),
            (changed(4, 24), "contradicts its length"),
        ] {
            let said = Blocks::default().add(&bad).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}
