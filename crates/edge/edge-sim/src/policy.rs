//! Eviction policies: that of the edge, and simpler alternatives.

mod queue;

use http_cache::Eviction;

use self::queue::{OnHit, Queue};

/// An eviction policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// First in, first out.
    Fifo,
    /// Least recently used.
    Lru,
    /// The policy of the edge: [`Eviction`].
    #[default]
    S3Fifo,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Fifo, Self::Lru, Self::S3Fifo];

    /// The name of the policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::S3Fifo => "s3-fifo",
        }
    }

    pub(crate) fn order(self, capacity: u64) -> Order {
        match self {
            Self::Fifo => Order::Queue(Queue::new(capacity, OnHit::Stays)),
            Self::Lru => Order::Queue(Queue::new(capacity, OnHit::Moves)),
            Self::S3Fifo => Order::S3Fifo(Eviction::new(capacity)),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Order {
    Queue(Queue),
    S3Fifo(Eviction),
}

impl Order {
    /// Evicted objects are appended to `gone`.
    pub(crate) fn insert(&mut self, number: u64, bytes: u64, gone: &mut Vec<u64>) {
        match self {
            Self::Queue(queue) => queue.insert(number, bytes, gone),
            Self::S3Fifo(eviction) => gone.extend(eviction.insert(number, bytes)),
        }
    }

    pub(crate) fn hit(&mut self, number: u64) {
        match self {
            Self::Queue(queue) => queue.hit(number),
            Self::S3Fifo(eviction) => eviction.hit(number),
        }
    }
}
