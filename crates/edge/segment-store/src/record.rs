//! Buffers for records. Short-lived buffers reuse the same memory, which avoids clearing it and is
//! better for the CPU cache.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

#[derive(Debug)]
pub(crate) struct Record {
    memory: Vec<u8>,
    length: usize,
}

impl Record {
    pub(crate) fn new(length: usize) -> Self {
        Self { memory: vec![0; length], length }
    }

    /// Reuses the buffer that this thread dropped last, unless it is too long. The contents are
    /// arbitrary and must be overwritten.
    pub(crate) fn brief(length: usize) -> Self {
        if length > MOST {
            return Self::new(length);
        }
        let mut memory = SPARE.try_with(Cell::take).unwrap_or_default();
        if memory.len() < length {
            memory.resize(MOST, 0);
        }
        Self { memory, length }
    }
}

impl Deref for Record {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

impl DerefMut for Record {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.length]
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if self.memory.len() == MOST {
            // Fails if the thread is ending.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.memory)));
        }
    }
}

/// Also limits the memory that a slow reader holds.
const MOST: usize = 16 * 1024;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_ones_take_turns_in_the_same_memory() {
        let place = |record: &Record| record.as_ptr().addr();
        let first = Record::brief(100);
        let (at, other) = (place(&first), Record::brief(100));
        assert_ne!(place(&other), at, "both are there at once");
        drop(other);
        drop(first);
        let second = Record::brief(MOST);
        assert_eq!((place(&second), second.len()), (at, MOST));
        drop(second);
        assert_eq!(Record::brief(3).len(), 3);
        let long = Record::brief(MOST + 1);
        let kept = Record::new(3);
        assert_eq!((long.len(), kept.memory.capacity()), (MOST + 1, 3));
    }
}
