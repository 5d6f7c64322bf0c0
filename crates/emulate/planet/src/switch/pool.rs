//! Memory for packets in flight. Large buffers are reused; small packets are copied to exact
//! allocations.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::frame::{Frame, LARGEST_FRAME};

#[derive(Debug)]
pub(crate) struct Held {
    bytes: Vec<u8>,
    length: usize,
    pub frame: Frame,
}

impl Held {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    current: Vec<u8>,
    free: Vec<Vec<u8>>,
    held_bytes: Arc<AtomicUsize>,
    most_held: usize,
}

impl Pool {
    pub(crate) fn new(held_bytes: Arc<AtomicUsize>) -> Self {
        Self { current: Vec::new(), free: Vec::new(), held_bytes, most_held: most_held() }
    }

    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        if self.current.is_empty() {
            self.current = self.free.pop().unwrap_or_else(|| vec![0; LARGEST_FRAME]);
        }
        &mut self.current
    }

    pub(crate) fn hold(&mut self, length: usize, frame: Frame) -> Option<Arc<Held>> {
        let bytes =
            if length <= SMALL { self.current[..length].to_vec() } else { std::mem::take(&mut self.current) };
        if self.held_bytes.load(Ordering::Relaxed) + bytes.len() > self.most_held {
            if bytes.len() == LARGEST_FRAME {
                self.current = bytes;
            }
            return None;
        }
        self.held_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        Some(Arc::new(Held { bytes, length, frame }))
    }

    pub(crate) fn own(&mut self, bytes: Vec<u8>, frame: Frame) -> Arc<Held> {
        self.held_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        Arc::new(Held { length: bytes.len(), bytes, frame })
    }

    pub(crate) fn release(&mut self, held: Arc<Held>) {
        let Some(held) = Arc::into_inner(held) else { return };
        self.held_bytes.fetch_sub(held.bytes.len(), Ordering::Relaxed);
        if held.bytes.len() == LARGEST_FRAME && self.free.len() < MOST_FREE {
            self.free.push(held.bytes);
        }
    }
}

/// 4 GiB, a round trip of 300 ms at 100 Gbit/s, or half of the free memory.
fn most_held() -> usize {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.parse::<usize>().ok()
    });
    available.map_or(MOST_HELD, |kilobytes| (kilobytes * 1024 / 2).min(MOST_HELD))
}

/// Copying this much is cheaper than keeping 64 KB for it.
const SMALL: usize = 16_384;

const MOST_HELD: usize = 4 << 30;

/// 1 GB. A flow that takes buffers from one shard and releases them in another would accumulate
/// them.
const MOST_FREE: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize) -> (Vec<u8>, Frame) {
        let mut bytes = vec![7; length];
        bytes[..10].fill(0);
        bytes[10] = 0x45;
        let frame = Frame::parse(&bytes).unwrap();
        (bytes, frame)
    }

    #[test]
    fn a_large_buffer_is_used_again_and_a_small_packet_copied() {
        let mut pool = Pool::new(Arc::default());
        for length in [100, 60_000, 100, 60_000] {
            let (bytes, frame) = frame(length);
            pool.buffer()[..length].copy_from_slice(&bytes);
            let held = pool.hold(length, frame).unwrap();
            assert_eq!(held.bytes(), bytes);
            let second = Arc::clone(&held);
            pool.release(held);
            assert_eq!(second.bytes(), bytes, "still held once");
            pool.release(second);
            assert_eq!(pool.held_bytes.load(Ordering::Relaxed), 0);
        }
        pool.buffer();
        assert!(pool.free.len() <= 1);
    }
}
