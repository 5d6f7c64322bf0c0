//! Memory for a record that is read. What is read again and again, and given up soon, takes turns in the same memory: it need not be
//! cleared each time, and the processor has it close by.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

/// A record's bytes, or room for them.
#[derive(Debug)]
pub(crate) struct Record {
    memory: Vec<u8>,
    length: usize,
}

impl Record {
    /// Room for so many bytes, and no more.
    pub(crate) fn new(length: usize) -> Self {
        Self { memory: vec![0; length], length }
    }

    /// Room for so many bytes that are not kept for long: where the last one was, if this thread let go of it and it is not too long.
    /// Whatever is in it is to be read over.
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
            // A thread that ends needs none.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.memory)));
        }
    }
}

/// Bytes of a record that may have the memory of the last: who reads slowly holds no more than this.
const MOST: usize = 16 * 1024;

thread_local! {
    /// What the last one left.
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
