//! Names of objects that were evicted or not admitted, limited by the bytes of the objects.

use std::collections::{HashMap, VecDeque};

use crate::hash::U64Hasher;

#[derive(Debug)]
pub(super) struct Ghosts {
    capacity: u64,
    bytes: u64,
    names: HashMap<u64, Ghost, U64Hasher>,
    /// Numbers and generations, oldest first. Taken names remain until their turn.
    order: VecDeque<(u64, u64)>,
    generation: u64,
}

#[derive(Debug)]
struct Ghost {
    bytes: u64,
    generation: u64,
}

impl Ghosts {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, bytes: 0, names: HashMap::default(), order: VecDeque::new(), generation: 0 }
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.names.contains_key(&number)
    }

    pub(super) fn take(&mut self, number: u64) -> bool {
        let ghost = self.names.remove(&number);
        self.bytes -= ghost.as_ref().map_or(0, |ghost| ghost.bytes);
        ghost.is_some()
    }

    pub(super) fn remember(&mut self, number: u64, bytes: u64) {
        // An object of 0 bytes would be remembered forever.
        let bytes = bytes.max(1);
        self.take(number);
        if bytes > self.capacity {
            return;
        }
        while self.bytes + bytes > self.capacity {
            let Some((oldest, generation)) = self.order.pop_front() else { break };
            if self.is_there(oldest, generation) {
                self.take(oldest);
            }
        }
        self.generation += 1;
        self.names.insert(number, Ghost { bytes, generation: self.generation });
        self.bytes += bytes;
        self.order.push_back((number, self.generation));
        if self.order.len() > 2 * self.names.len() + super::SLACK {
            let names = &self.names;
            self.order.retain(|(number, generation)| {
                names.get(number).is_some_and(|ghost| ghost.generation == *generation)
            });
        }
    }

    fn is_there(&self, number: u64, generation: u64) -> bool {
        self.names.get(&number).is_some_and(|ghost| ghost.generation == generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut ghosts = Ghosts::new(100);
        ghosts.remember(1, 40);
        ghosts.remember(2, 40);
        ghosts.remember(1, 40);
        ghosts.remember(3, 40);
        assert!(ghosts.has(1) && !ghosts.has(2) && ghosts.has(3));
        ghosts.remember(4, 101);
        assert!(ghosts.has(1) && !ghosts.has(4));
        assert!(ghosts.take(1) && !ghosts.take(1));
        ghosts.remember(5, 60);
        assert!(ghosts.has(3) && ghosts.has(5));
    }

    #[test]
    fn what_comes_and_goes_leaves_nothing() {
        let mut ghosts = Ghosts::new(100);
        for number in 0..10_000 {
            ghosts.remember(number, 0);
            ghosts.take(number);
        }
        assert!(ghosts.order.len() <= 2 + super::super::SLACK && ghosts.bytes == 0);
    }
}
