//! Which objects a full store gives up: S3-FIFO (Yang et al., SOSP 2023) over bytes instead of objects.
//!
//! A new object comes into a small queue, a tenth of the store. If nobody asked for it again until it reaches the end of that, it
//! goes, and only its name is remembered; else it moves to the main queue, where each object that was asked for since its last
//! turn gets another one. An object whose name is still remembered comes into the main queue at once. A hit changes a counter and
//! moves nothing. An object that can be had from elsewhere comes in where there is room, or if its name is remembered: so those that
//! are asked for once push nothing out.

use std::collections::{HashMap, VecDeque};

/// The objects of a store by their numbers, and how many bytes they may have together.
#[derive(Debug)]
pub struct Eviction {
    capacity: u64,
    objects: HashMap<u64, Object>,
    small: Queue,
    main: Queue,
    /// Names of objects that left the small queue.
    ghosts: VecDeque<u64>,
    remembered: HashMap<u64, u64>,
    /// Tells an object from an earlier one with the same number.
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
    /// Numbers and generations, the oldest first. What was removed is still in it.
    order: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl Eviction {
    /// A store for so many bytes.
    pub fn new(capacity: u64) -> Self {
        let (small, main) = (Queue::default(), Queue::default());
        Self {
            capacity,
            objects: HashMap::new(),
            small,
            main,
            ghosts: VecDeque::new(),
            remembered: HashMap::new(),
            generation: 0,
        }
    }

    /// How many bytes its objects have together.
    pub fn bytes(&self) -> u64 {
        self.small.bytes + self.main.bytes
    }

    /// How many bytes there is room for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether an object that is kept elsewhere too is worth a place: there is room for it, or it was asked about, or left, not long ago.
    /// If not, its name is remembered.
    pub fn is_worth(&mut self, number: u64, bytes: u64) -> bool {
        if self.bytes() + bytes <= self.capacity || self.remembered.contains_key(&number) {
            return true;
        }
        self.remember(number);
        false
    }

    /// Adds an object, in place of one of the same number, and returns which have to go: possibly this one.
    pub fn insert(&mut self, number: u64, bytes: u64) -> Vec<u64> {
        self.remove(number);
        self.generation += 1;
        let is_main = self.remembered.remove(&number).is_some();
        self.objects.insert(number, Object { bytes, hits: 0, is_main, generation: self.generation });
        let queue = if is_main { &mut self.main } else { &mut self.small };
        queue.order.push_back((number, self.generation));
        queue.bytes += bytes;
        self.make_room()
    }

    /// Counts an object as so many bytes, in its place if it has one, and returns which have to go: possibly this one.
    pub fn resize(&mut self, number: u64, bytes: u64) -> Vec<u64> {
        let Some(object) = self.objects.get_mut(&number) else { return self.insert(number, bytes) };
        let queue = if object.is_main { &mut self.main } else { &mut self.small };
        queue.bytes = queue.bytes - object.bytes + bytes;
        object.bytes = bytes;
        self.make_room()
    }

    fn make_room(&mut self) -> Vec<u64> {
        let mut evicted = Vec::new();
        while self.bytes() > self.capacity {
            evicted.extend(self.evict());
        }
        evicted
    }

    /// Notes that an object was asked for.
    pub fn hit(&mut self, number: u64) {
        if let Some(object) = self.objects.get_mut(&number) {
            object.hits = (object.hits + 1).min(MOST_HITS);
        }
    }

    /// Takes an object out.
    pub fn remove(&mut self, number: u64) {
        if let Some(object) = self.objects.remove(&number) {
            let queue = if object.is_main { &mut self.main } else { &mut self.small };
            queue.bytes -= object.bytes;
            // Purged by the thousand without being evicted, they would be in the queue for ever.
            if queue.order.len() > 2 * self.objects.len() + SLACK {
                let objects = &self.objects;
                queue.order.retain(|(number, generation)| {
                    objects.get(number).is_some_and(|object| object.generation == *generation)
                });
            }
        }
    }

    /// One step: an object goes, or moves.
    fn evict(&mut self) -> Option<u64> {
        let from_small = self.small.bytes > self.capacity / SMALL_PART || self.main.bytes == 0;
        let queue = if from_small { &mut self.small } else { &mut self.main };
        let (number, generation) = queue.order.pop_front()?;
        let object = self.objects.get_mut(&number).filter(|object| object.generation == generation)?;
        if object.hits == 0 {
            queue.bytes -= object.bytes;
            self.objects.remove(&number);
            if from_small {
                self.remember(number);
            }
            return Some(number);
        }
        if from_small {
            object.hits = 0;
            object.is_main = true;
            self.small.bytes -= object.bytes;
            self.main.bytes += object.bytes;
        } else {
            object.hits -= 1;
        }
        self.main.order.push_back((number, generation));
        None
    }

    /// As many names as there are objects in the main queue.
    fn remember(&mut self, number: u64) {
        *self.remembered.entry(number).or_default() += 1;
        self.ghosts.push_back(number);
        while self.ghosts.len() > self.main.order.len().max(FEWEST_GHOSTS) {
            let Some(forgotten) = self.ghosts.pop_front() else { return };
            if let Some(times) = self.remembered.get_mut(&forgotten) {
                *times -= 1;
                if *times == 0 {
                    self.remembered.remove(&forgotten);
                }
            }
        }
    }
}

/// The small queue is a tenth of the store.
const SMALL_PART: u64 = 10;
/// What counts of an object's popularity.
const MOST_HITS: u8 = 3;
/// Names that are remembered although the main queue is short.
const FEWEST_GHOSTS: usize = 16;
/// A queue is not searched for what was removed before it has this many.
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
        // A scan of a hundred objects that nobody wants again.
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
        // 0 was pushed out by 10 and comes back.
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
        // As many others as there are names.
        assert!(!store.is_worth(10, 100));
        for number in 100..100 + FEWEST_GHOSTS as u64 {
            assert!(!store.is_worth(number, 100));
        }
        assert!(!store.is_worth(10, 100));
    }

    #[test]
    fn an_object_that_is_too_large_goes_itself() {
        let mut store = Eviction::new(100);
        assert_eq!(store.insert(1, 101), [1]);
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
