//! The switch: reads packets from hosts, moves them along their paths, and writes them to the
//! receivers when they are due.
//!
//! Each shard has a thread and owns some of the cities. A packet that leaves them is passed to the
//! next shard with its arrival time. Time is logical everywhere: a late shard delays a packet but
//! never changes a capacity.

mod alarm;
mod mailbox;
pub(crate) mod pool;
mod schedule;
mod shard;
mod transit;

use std::{
    io,
    sync::{Arc, Barrier, atomic::AtomicUsize, mpsc},
    time::Duration,
};

use world::{Effect, Layout};

use self::{mailbox::Mailbox, shard::Shard};
use crate::{
    clock::Clock,
    fidelity::{Tally, flows::Flows, heartbeat::Beat},
    host::Host,
    router::edges::EdgeReading,
    taps::Taps,
};

pub(crate) enum Order {
    Faults(Duration, Arc<Vec<Effect>>),
    Watch(Arc<Taps>),
    Flows(mpsc::Sender<Flows>),
    /// All shards stop at the barrier before and after, so that the counters are consistent.
    Report(Arc<Barrier>, mpsc::Sender<Reading>),
}

pub(crate) struct Reading {
    pub tally: Tally,
    pub in_flight: u64,
    pub edges: Vec<EdgeReading>,
    pub running: Duration,
    pub cpu: Duration,
}

#[derive(Clone)]
pub(crate) struct Handle {
    shards: Vec<(mpsc::Sender<Order>, Arc<Mailbox>)>,
    clock: Clock,
}

impl Handle {
    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    pub(crate) fn give(&self, order: impl Fn() -> Order) -> io::Result<()> {
        for (orders, mailbox) in &self.shards {
            orders.send(order()).map_err(|_| io::Error::other("the switch has stopped"))?;
            mailbox.ring()?;
        }
        Ok(())
    }

    pub(crate) fn flows(&self) -> io::Result<Vec<Flows>> {
        let (sender, receiver) = mpsc::channel();
        self.give(|| Order::Flows(sender.clone()))?;
        drop(sender);
        self.all(receiver.iter().collect())
    }

    pub(crate) fn read(&self) -> io::Result<Vec<Reading>> {
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(Barrier::new(self.shards.len()));
        self.give(|| Order::Report(Arc::clone(&barrier), sender.clone()))?;
        drop(sender);
        self.all(receiver.iter().collect())
    }

    /// Fails unless there is one answer from each shard.
    fn all<T>(&self, answers: Vec<T>) -> io::Result<Vec<T>> {
        if answers.len() == self.shards.len() {
            return Ok(answers);
        }
        Err(io::Error::other("a part of the switch has stopped"))
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }
}

struct Shared<'s> {
    layout: &'s Arc<Layout>,
    hosts: &'s Arc<Vec<Host>>,
    mailboxes: &'s [Arc<Mailbox>],
    beats: &'s [Arc<Beat>],
    clock: Clock,
    held: Arc<AtomicUsize>,
}

pub(crate) fn build(
    hosts: &Arc<Vec<Host>>,
    layout: &Arc<Layout>,
    beats: &[Arc<Beat>],
) -> io::Result<(Vec<Shard>, Handle)> {
    let count = threads(layout);
    let clock = Clock::start();
    let held = Arc::new(AtomicUsize::new(0));
    let mailboxes = (0..count).map(|_| Mailbox::new().map(Arc::new)).collect::<io::Result<Vec<_>>>()?;
    let (mut shards, mut ends) = (Vec::new(), Vec::new());
    let shared = Shared { layout, hosts, mailboxes: &mailboxes, beats, clock, held };
    for (number, mailbox) in mailboxes.iter().enumerate() {
        let (sender, orders) = mpsc::channel();
        ends.push((sender, Arc::clone(mailbox)));
        let shard = Shard::new(number, &shared, orders)?;
        shards.push(shard);
    }
    Ok((shards, Handle { shards: ends, clock }))
}

/// Half of the processors by default, up to a limit: programs need the others.
fn threads(layout: &Layout) -> usize {
    let spare = std::thread::available_parallelism().map_or(1, usize::from) / 2;
    layout.threads.map_or(spare.clamp(1, MOST_BY_DEFAULT), usize::from).min(layout.cities.len())
}

/// More shards would wait for memory and for each other.
const MOST_BY_DEFAULT: usize = 8;
