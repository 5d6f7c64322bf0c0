//! Which objects a full store gives up: as the edge does it, or as its simpler alternatives do.

mod queue;

use cache::Eviction;

use self::queue::{OnHit, Queue};

/// The rule of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// First in, first out.
    Fifo,
    /// What was asked for longest ago.
    Lru,
    /// The edge's own: [`Eviction`].
    #[default]
    S3Fifo,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fifo, Self::Lru, Self::S3Fifo];

    /// As it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::S3Fifo => "s3-fifo",
        }
    }

    /// The objects of an empty store for so many bytes.
    pub(crate) fn order(self, capacity: u64) -> Order {
        match self {
            Self::Fifo => Order::Queue(Queue::new(capacity, OnHit::Stays)),
            Self::Lru => Order::Queue(Queue::new(capacity, OnHit::Moves)),
            Self::S3Fifo => Order::S3Fifo(Eviction::new(capacity)),
        }
    }
}

/// The objects of a store in the order in which they go.
#[derive(Debug)]
pub(crate) enum Order {
    Queue(Queue),
    S3Fifo(Eviction),
}

impl Order {
    /// Adds an object, in place of one of the same number; those that have to go are pushed to `gone`.
    pub(crate) fn insert(&mut self, number: u64, bytes: u64, gone: &mut Vec<u64>) {
        match self {
            Self::Queue(queue) => queue.insert(number, bytes, gone),
            Self::S3Fifo(eviction) => gone.extend(eviction.insert(number, bytes)),
        }
    }

    /// An object was asked for.
    pub(crate) fn hit(&mut self, number: u64) {
        match self {
            Self::Queue(queue) => queue.hit(number),
            Self::S3Fifo(eviction) => eviction.hit(number),
        }
    }
}
