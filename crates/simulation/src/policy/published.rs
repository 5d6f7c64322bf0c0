//! S3-FIFO with the parameters and the order of steps of its authors' simulator (libCacheSim), so that results can be compared to the
//! request. The edge's own differs: see [`cache::Eviction`].

use std::collections::HashMap;

use super::queue::{OnHit, Queue};
use crate::number::ByNumber;

/// A small queue for what is new, a main queue for what was asked for again, and the names of what left the small one.
#[derive(Debug)]
pub(crate) struct S3Fifo {
    capacity: u64,
    small_capacity: u64,
    small: Queue,
    main: Queue,
    ghosts: Queue,
    /// How often an object was asked for since it came into its queue.
    hits: HashMap<u64, u8, ByNumber>,
    forgotten: Vec<u64>,
}

impl S3Fifo {
    pub(crate) fn new(capacity: u64) -> Self {
        let queue = |capacity| Queue::new(capacity, OnHit::Stays);
        let small_capacity = capacity / 10;
        Self {
            capacity,
            small_capacity,
            small: queue(small_capacity),
            main: queue(capacity - small_capacity),
            // Names count as the bytes of their objects, up to nine tenths of the store.
            ghosts: queue(capacity - capacity.div_ceil(10)),
            hits: HashMap::default(),
            forgotten: Vec::new(),
        }
    }

    pub(crate) fn hit(&mut self, number: u64) {
        let hits = self.hits.entry(number).or_default();
        *hits = hits.saturating_add(1);
    }

    pub(crate) fn insert(&mut self, number: u64, bytes: u64, gone: &mut Vec<u64>) {
        let _ = self.small.remove(number) || self.main.remove(number);
        self.hits.remove(&number);
        let is_remembered = self.ghosts.remove(number);
        if bytes > self.small_capacity {
            gone.push(number);
            return;
        }
        while self.small.bytes() + self.main.bytes() + bytes > self.capacity {
            gone.extend(self.evict());
        }
        if is_remembered {
            self.main.push(number, bytes);
        } else if bytes < self.small_capacity {
            self.small.push(number, bytes);
        } else {
            gone.push(number);
        }
    }

    /// One object goes, or all of the small queue moved to the main one.
    fn evict(&mut self) -> Option<u64> {
        let number = if self.main.bytes() > self.capacity - self.small_capacity || self.small.bytes() == 0 {
            self.evict_from_main()
        } else {
            self.evict_from_small()
        };
        if let Some(number) = number {
            self.hits.remove(&number);
        }
        number
    }

    fn evict_from_small(&mut self) -> Option<u64> {
        while let Some((number, bytes)) = self.small.pop() {
            if self.hits.get(&number).is_none_or(|hits| *hits < TO_MAIN) {
                self.ghosts.insert(number, bytes, &mut self.forgotten);
                self.forgotten.clear();
                return Some(number);
            }
            self.hits.remove(&number);
            self.main.push(number, bytes);
        }
        None
    }

    fn evict_from_main(&mut self) -> Option<u64> {
        while let Some((number, bytes)) = self.main.pop() {
            match self.hits.get_mut(&number) {
                Some(hits) if *hits > 0 => *hits = (*hits).min(MOST_HITS) - 1,
                _ => return Some(number),
            }
            self.main.push(number, bytes);
        }
        None
    }
}

/// So many hits in the small queue bring an object into the main one.
const TO_MAIN: u8 = 2;
/// What counts of an object's popularity in the main queue.
const MOST_HITS: u8 = 3;
