//! The switch: takes packets from hosts, moves them along their paths, and hands them over when they are due.
//!
//! It consists of shards, a thread each. A shard has some of the cities: the devices of their hosts, and the engines of the
//! edges that begin there. A packet that leaves a shard's cities is handed to the next one through its [`Mailbox`], with
//! the time of its arrival, so that time is logical everywhere: a shard that is late shifts a packet and never a capacity.
//!
//! - [`Shard`]: the loop of a thread: wait, read devices, deliver what is due.
//! - `transit`: the life of a packet inside a shard.
//! - `schedule`, `alarm`, `pool`, `mailbox`: what happens when, waking up in time, memory, and what shards exchange.

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

/// What another thread may ask of a shard.
pub(crate) enum Order {
    /// These faults are active from then on, and no others.
    Faults(Duration, Arc<Vec<Effect>>),
    /// Shows packets to somebody, from now on.
    Watch(Arc<Taps>),
    /// Reports how late packets were, by flow and time.
    Flows(mpsc::Sender<Flows>),
    /// Reports what was counted so far. All shards stop at the barrier before and after, so that they count at one moment.
    Report(Arc<Barrier>, mpsc::Sender<Reading>),
}

/// What a shard counted.
pub(crate) struct Reading {
    pub tally: Tally,
    /// Bytes of packets that are in flight.
    pub in_flight: u64,
    pub edges: Vec<EdgeReading>,
    /// Time since the switch started.
    pub running: Duration,
    /// Processor time that the shard used.
    pub cpu: Duration,
}

/// The other end of a switch, for other threads.
#[derive(Clone)]
pub(crate) struct Handle {
    shards: Vec<(mpsc::Sender<Order>, Arc<Mailbox>)>,
    clock: Clock,
}

impl Handle {
    /// Time since the switch started.
    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Gives every shard an order.
    pub(crate) fn give(&self, order: impl Fn() -> Order) -> io::Result<()> {
        for (orders, mailbox) in &self.shards {
            orders.send(order()).map_err(|_| io::Error::other("the switch has stopped"))?;
            mailbox.ring()?;
        }
        Ok(())
    }

    /// The flows of each shard.
    pub(crate) fn flows(&self) -> io::Result<Vec<Flows>> {
        let (sender, receiver) = mpsc::channel();
        self.give(|| Order::Flows(sender.clone()))?;
        drop(sender);
        self.all(receiver.iter().collect())
    }

    /// What all shards have counted, at one moment.
    pub(crate) fn read(&self) -> io::Result<Vec<Reading>> {
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(Barrier::new(self.shards.len()));
        self.give(|| Order::Report(Arc::clone(&barrier), sender.clone()))?;
        drop(sender);
        self.all(receiver.iter().collect())
    }

    /// One of each shard, or none of them.
    fn all<T>(&self, answers: Vec<T>) -> io::Result<Vec<T>> {
        if answers.len() == self.shards.len() {
            return Ok(answers);
        }
        Err(io::Error::other("a part of the switch has stopped"))
    }

    /// The switch's clock.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }
}

/// What all shards share.
struct Shared<'s> {
    layout: &'s Arc<Layout>,
    hosts: &'s Arc<Vec<Host>>,
    mailboxes: &'s [Arc<Mailbox>],
    beats: &'s [Arc<Beat>],
    clock: Clock,
    /// Bytes of packets that are held.
    held: Arc<AtomicUsize>,
}

/// Makes a switch between `hosts`, which are those of the layout, in its order.
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

/// As many as the file says; else half of the processors, for the programs need the others, but not more than eight.
fn threads(layout: &Layout) -> usize {
    let spare = std::thread::available_parallelism().map_or(1, usize::from) / 2;
    layout.threads.map_or(spare.clamp(1, MOST_BY_DEFAULT), usize::from).min(layout.cities.len())
}

/// Beyond it shards wait for memory and for each other.
const MOST_BY_DEFAULT: usize = 8;
