//! Eviction and admission: S3-FIFO (Yang et al., SOSP 2023) over bytes instead of objects.
//!
//! A new object enters the small queue. At its end, an object without a hit is evicted and its name
//! is remembered; otherwise it moves to the main queue, where an object with hits gets another
//! turn. A new object whose name is remembered enters the main queue directly.
//!
//! An object that another tier stores too is admitted only if there is room, or if its name is
//! remembered.

mod ghosts;

use std::collections::{HashMap, VecDeque};

use self::ghosts::Ghosts;
use crate::hash::U64Hasher;

/// The objects of a store, with a limit for their total size.
#[derive(Debug)]
pub struct Eviction {
    capacity: u64,
    objects: HashMap<u64, Object, U64Hasher>,
    small: Queue,
    main: Queue,
    ghosts: Ghosts,
    was_full: bool,
    generation: u64,
}

#[derive(Debug)]
struct Object {
    bytes: u64,
    hits: u8,
    is_main: bool,
    generation: u64,
}

#[derive(Debug, Default)]
struct Queue {
    /// Numbers and generations, oldest first. Removed objects remain until their turn.
    order: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl Eviction {
    /// Creates a store of this size in bytes.
    pub fn new(capacity: u64) -> Self {
        let (small, main) = (Queue::default(), Queue::default());
        Self {
            capacity,
            objects: HashMap::default(),
            small,
            main,
            ghosts: Ghosts::new(capacity - capacity / SMALL_PART),
            was_full: false,
            generation: 0,
        }
    }

    /// The total size of the objects in bytes.
    pub fn bytes(&self) -> u64 {
        self.small.bytes + self.main.bytes
    }

    /// The size of the store in bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether to admit an object that another tier stores too.
    pub fn is_worth(&mut self, number: u64, bytes: u64) -> bool {
        if self.bytes() + bytes <= self.capacity || self.ghosts.has(number) {
            return true;
        }
        self.ghosts.remember(number, bytes);
        false
    }

    /// Adds or replaces an object. Returns the evicted objects, possibly `number` itself.
    pub fn insert(&mut self, number: u64, bytes: u64) -> Vec<u64> {
        self.remove(number);
        let was_known = self.ghosts.take(number);
        let Some(room) = self.capacity.checked_sub(bytes) else { return vec![number] };
        let evicted = self.make_room(room);
        self.generation += 1;
        let is_main = was_known || !self.was_full && self.small.bytes >= self.capacity / SMALL_PART;
        self.objects.insert(number, Object { bytes, hits: 0, is_main, generation: self.generation });
        let queue = if is_main { &mut self.main } else { &mut self.small };
        queue.order.push_back((number, self.generation));
        queue.bytes += bytes;
        evicted
    }

    /// Changes the size of an object, or adds it. Returns the evicted objects.
    pub fn resize(&mut self, number: u64, bytes: u64) -> Vec<u64> {
        let Some(object) = self.objects.get_mut(&number) else { return self.insert(number, bytes) };
        let queue = if object.is_main { &mut self.main } else { &mut self.small };
        queue.bytes = queue.bytes - object.bytes + bytes;
        object.bytes = bytes;
        self.make_room(self.capacity)
    }

    fn make_room(&mut self, most: u64) -> Vec<u64> {
        let mut evicted = Vec::new();
        while self.bytes() > most {
            evicted.extend(self.evict());
        }
        evicted
    }

    /// Records a hit.
    pub fn hit(&mut self, number: u64) {
        if let Some(object) = self.objects.get_mut(&number) {
            object.hits = (object.hits + 1).min(MOST_HITS);
        }
    }

    /// Removes an object.
    pub fn remove(&mut self, number: u64) {
        if let Some(object) = self.objects.remove(&number) {
            let queue = if object.is_main { &mut self.main } else { &mut self.small };
            queue.bytes -= object.bytes;
            // Many removals without evictions would leave stale entries.
            if queue.order.len() > 2 * self.objects.len() + SLACK {
                let objects = &self.objects;
                queue.order.retain(|(number, generation)| {
                    objects.get(number).is_some_and(|object| object.generation == *generation)
                });
            }
        }
    }

    fn evict(&mut self) -> Option<u64> {
        self.was_full = true;
        let most_in_main = self.capacity - self.capacity / SMALL_PART;
        let from_small = self.main.bytes <= most_in_main && self.small.bytes > 0;
        loop {
            let queue = if from_small { &mut self.small } else { &mut self.main };
            let (number, generation) = queue.order.pop_front()?;
            let found = self.objects.get_mut(&number).filter(|object| object.generation == generation);
            let Some(object) = found else { continue };
            let bytes = object.bytes;
            queue.bytes -= bytes;
            if object.hits == 0 {
                self.objects.remove(&number);
                if from_small {
                    self.ghosts.remember(number, bytes);
                }
                return Some(number);
            }
            object.hits = if from_small { 0 } else { object.hits - 1 };
            object.is_main = true;
            self.main.bytes += bytes;
            self.main.order.push_back((number, generation));
        }
    }
}

const SMALL_PART: u64 = 10;
const MOST_HITS: u8 = 3;
/// Minimum queue length before stale entries are removed.
const SLACK: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_asked_for_once_goes_before_what_was_asked_for_twice() {
        let mut store = Eviction::new(100);
        store.insert(1, 10);
        store.hit(1);
        let evicted: Vec<_> = (100..200).flat_map(|number| store.insert(number, 10)).collect();
        assert!(!evicted.contains(&1));
        assert_eq!(evicted.len(), 91);
    }

    #[test]
    fn what_comes_back_soon_is_kept() {
        let mut store = Eviction::new(100);
        for number in 0..11 {
            store.insert(number, 10);
        }
        store.insert(0, 10);
        let evicted: Vec<_> = (100..105).flat_map(|number| store.insert(number, 10)).collect();
        assert!(!evicted.contains(&0), "{evicted:?}");
    }

    #[test]
    fn what_is_kept_elsewhere_comes_where_there_is_room_or_when_it_is_asked_for_again_soon() {
        let mut store = Eviction::new(100);
        for number in 0..9 {
            assert!(store.is_worth(number, 10));
            store.insert(number, 10);
        }
        assert!(!store.is_worth(9, 11));
        assert!(store.is_worth(9, 11));
        assert!(store.insert(9, 11).len() == 1);
        assert!(!store.is_worth(10, 20));
        for number in 100..107 {
            assert!(!store.is_worth(number, 10));
        }
        assert!(store.is_worth(10, 20));
        for number in 107..109 {
            assert!(!store.is_worth(number, 10));
        }
        assert!(!store.is_worth(10, 20));
    }

    #[test]
    fn an_object_that_is_too_large_goes_itself() {
        let mut store = Eviction::new(100);
        store.insert(0, 10);
        assert_eq!(store.insert(1, 101), [1]);
        assert_eq!(store.bytes(), 10);
        assert_eq!(store.resize(0, 101), [0]);
        assert_eq!(store.bytes(), 0);
    }

    proptest! {
        #[test]
        fn the_store_is_never_too_full_and_loses_only_what_it_says(
            steps in proptest::collection::vec((0_u64..40, 1_u64..30, 0_u8..4), 1..400)
        ) {
            let mut store = Eviction::new(200);
            let mut held = std::collections::BTreeMap::new();
            for (number, bytes, step) in steps {
                match step {
                    0 => {
                        held.insert(number, bytes);
                        for evicted in store.insert(number, bytes) {
                            prop_assert!(held.remove(&evicted).is_some());
                        }
                    }
                    1 => store.hit(number),
                    2 => {
                        held.insert(number, bytes);
                        for evicted in store.resize(number, bytes) {
                            prop_assert!(held.remove(&evicted).is_some());
                        }
                    }
                    _ => {
                        store.remove(number);
                        held.remove(&number);
                    }
                }
                prop_assert!(store.bytes() <= 200);
                prop_assert_eq!(store.bytes(), held.values().sum::<u64>());
            }
        }
    }
}
