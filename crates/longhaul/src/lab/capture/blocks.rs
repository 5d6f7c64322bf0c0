//! Cuts a pcapng stream into whole blocks, so that what is written can be read wherever it stops, and counts packets.
//!
//! A block is its type, its length, its body and its length again (draft-ietf-opsawg-pcapng, section 3.1). The first one of
//! a section says in which byte order (4.1).

use std::io;

/// The part of a stream that has not been handed on.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Begins with a block.
    buffer: Vec<u8>,
    /// Where the first block ends that is not complete.
    complete: usize,
    order: Option<Order>,
    packets: u64,
}

/// The byte order of a section.
#[derive(Debug, Clone, Copy)]
enum Order {
    Big,
    Little,
}

impl Blocks {
    /// Takes what has come next.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.drain(..self.complete);
        self.complete = 0;
        self.buffer.extend_from_slice(bytes);
        while let Some(length) = self.next()? {
            self.complete += length;
        }
        Ok(())
    }

    /// The blocks that the last piece has completed.
    pub(super) fn complete(&self) -> &[u8] {
        &self.buffer[..self.complete]
    }

    /// Packets so far.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// The length of the next block, if it is there as a whole.
    fn next(&mut self) -> io::Result<Option<usize>> {
        let rest = &self.buffer[self.complete..];
        let word = |at: usize| rest.get(at..at + 4).map(|bytes| [bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (Some(kind), Some(length), Some(third)) = (word(0), word(4), word(8)) else { return Ok(None) };
        // Its own type reads the same in both orders.
        if kind == SECTION {
            self.order = match third {
                BYTE_ORDER => Some(Order::Big),
                _ if third.iter().rev().eq(&BYTE_ORDER) => Some(Order::Little),
                _ => None,
            };
        }
        let Some(order) = self.order else { return Err(malformed("no section begins where one should")) };
        let length = order.read(length) as usize;
        if !(SHORTEST..=LONGEST).contains(&length) || !length.is_multiple_of(4) {
            return Err(malformed("a block of an impossible length"));
        }
        let Some(again) = word(length - 4) else { return Ok(None) };
        if order.read(again) as usize != length {
            return Err(malformed("a block that ends elsewhere than it says"));
        }
        self.packets += u64::from(order.read(kind) == ENHANCED_PACKET);
        Ok(Some(length))
    }
}

impl Order {
    fn read(self, word: [u8; 4]) -> u32 {
        match self {
            Self::Big => u32::from_be_bytes(word),
            Self::Little => u32::from_le_bytes(word),
        }
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the planet sent {what}"))
}

const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BYTE_ORDER: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const ENHANCED_PACKET: u32 = 6;

/// Type, length, nothing, length.
const SHORTEST: usize = 12;
/// A packet has up to 64 KiB, and its block some hundred bytes more.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8], word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let length = word(u32::try_from(12 + body.len()).unwrap());
        [&word(kind), &length, body, &length].concat()
    }

    fn capture(word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let section = [&word(0x1a2b_3c4d)[..], &[0; 12]].concat();
        [
            block(0x0a0d_0d0a, &section, word),
            block(1, &[0; 8], word),
            block(6, &[7; 100], word),
            block(6, &[], word),
        ]
        .concat()
    }

    #[test]
    fn blocks_are_found_however_the_stream_is_cut() {
        for stream in [capture(u32::to_be_bytes), capture(u32::to_le_bytes)] {
            for size in 1..=stream.len() {
                let mut blocks = Blocks::default();
                let mut whole = Vec::new();
                for piece in stream.chunks(size) {
                    blocks.add(piece).unwrap();
                    whole.extend_from_slice(blocks.complete());
                }
                assert_eq!((whole.len(), blocks.packets()), (stream.len(), 2), "pieces of {size}");
            }
        }
    }

    #[test]
    fn half_a_block_is_not_handed_on() {
        let stream = capture(u32::to_le_bytes);
        let mut blocks = Blocks::default();
        // The last block has 12 bytes, the one before it 112.
        blocks.add(&stream[..stream.len() - 13]).unwrap();
        assert_eq!((blocks.complete().len(), blocks.packets()), (stream.len() - 124, 0));
    }

    #[test]
    fn what_is_no_pcapng_is_refused() {
        let good = capture(u32::to_le_bytes);
        let mut bad_order = good.clone();
        bad_order[8] = 0;
        let mut too_long = good.clone();
        too_long[6] = 0xff;
        let mut other_end = good.clone();
        other_end[24] = 0;
        for bad in [&b"HTTP/1.1 200 OK\r\n"[..], &bad_order, &too_long, &other_end] {
            assert_eq!(Blocks::default().add(bad).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
