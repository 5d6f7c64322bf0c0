//! The engines of all wires that begin in some cities, made when they are first used.

use std::{collections::HashMap, sync::Arc, time::Duration};

use link::{Arrival, Config, Counters, Link, Verdict};
use world::{Change, Layout, LinkDown, file::ETHERNET};

use super::{faults::Faults, wire::Wire};

/// Index of a wire's engine.
pub(crate) type WireId = usize;

/// The engines. `T` is what the caller wants back with each verdict.
pub(crate) struct Wires<T: Clone> {
    layout: Arc<Layout>,
    index: HashMap<Wire, WireId>,
    all: Vec<Engine<T>>,
}

struct Engine<T: Clone> {
    wire: Wire,
    link: Link<T>,
    change: Change,
    /// The earliest time at which the caller was asked to come back.
    alarm: Option<Duration>,
}

/// What a wire is and did.
#[derive(Debug, Clone)]
pub(crate) struct WireReading {
    pub wire: Wire,
    pub config: Config,
    pub is_down: bool,
    pub is_changed: bool,
    pub counters: Counters,
    pub waiting: link::Amount,
}

impl<T: Clone> Wires<T> {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Self { layout, index: HashMap::new(), all: Vec::new() }
    }

    /// The engine of a wire.
    pub(crate) fn find(&mut self, wire: Wire, faults: &Faults) -> WireId {
        let (layout, all) = (&self.layout, &mut self.all);
        *self.index.entry(wire).or_insert_with(|| {
            let change = faults.change(layout, wire);
            let link = Link::new(change.apply(described(layout, wire)), seed(layout, wire));
            all.push(Engine { wire, link, change, alarm: None });
            all.len() - 1
        })
    }

    /// The engines of all wires that were used.
    pub(crate) fn ids(&self) -> std::ops::Range<WireId> {
        0..self.all.len()
    }

    /// Which wire an engine is.
    pub(crate) fn wire(&self, id: WireId) -> Wire {
        self.all[id].wire
    }

    /// How a wire is down, if it is.
    pub(crate) fn down(&self, id: WireId) -> Option<LinkDown> {
        self.all[id].change.down
    }

    /// A packet enters a wire; `each` is told what can be said about it, and about those before it.
    pub(crate) fn offer(
        &mut self,
        id: WireId,
        now: Duration,
        arrival: Arrival<T>,
        each: &mut impl FnMut(&T, Verdict),
    ) {
        self.all[id].link.offer(now, arrival, each);
    }

    /// Decides everything whose time has come on a wire.
    pub(crate) fn advance(&mut self, id: WireId, now: Duration, each: &mut impl FnMut(&T, Verdict)) {
        self.all[id].alarm = None;
        self.all[id].link.advance(now, each);
    }

    /// When [`Wires::advance`] must be called for a wire, if nobody was asked to yet.
    pub(crate) fn new_alarm(&mut self, id: WireId) -> Option<Duration> {
        let engine = &mut self.all[id];
        let timeout = engine.link.next_timeout()?;
        if engine.alarm.is_some_and(|alarm| alarm <= timeout) {
            return None;
        }
        engine.alarm = Some(timeout);
        engine.alarm
    }

    /// Makes all wires what faults make of them from `now` on. Those that changed are to be advanced.
    pub(crate) fn apply(&mut self, now: Duration, faults: &Faults) -> Vec<WireId> {
        let mut changed = Vec::new();
        for (id, engine) in self.all.iter_mut().enumerate() {
            let change = faults.change(&self.layout, engine.wire);
            if change != engine.change {
                engine.link.reconfigure(now, change.apply(described(&self.layout, engine.wire)));
                engine.change = change;
                changed.push(id);
            }
        }
        changed
    }

    /// Bytes of IP packets that wait for a wire.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let of = |engine: &Engine<T>| {
            let waiting = engine.link.backlog();
            waiting.bytes - waiting.segments * u64::from(engine.link.config().overhead)
        };
        self.all.iter().map(of).sum()
    }

    /// All wires that were used.
    pub(crate) fn read(&self) -> Vec<WireReading> {
        let read = |engine: &Engine<T>| WireReading {
            wire: engine.wire,
            config: engine.link.config().clone(),
            is_down: engine.change.down.is_some(),
            is_changed: !engine.change.is_empty(),
            counters: engine.link.counters(),
            waiting: engine.link.backlog(),
        };
        self.all.iter().map(read).collect()
    }
}

impl WireReading {
    /// Whether what went in came out, was dropped by the model, or waits.
    pub(crate) fn is_conserved(&self) -> bool {
        let Counters { offered, duplicated, delivered, lost, overflowed, managed, .. } = self.counters;
        let [mut gained, mut spent] = [offered, delivered];
        gained += duplicated;
        for amount in [lost, overflowed, managed, self.waiting] {
            spent += amount;
        }
        gained == spent
    }
}

fn described(layout: &Layout, wire: Wire) -> Config {
    // What a fault is on, and nothing else, is the cable to the router of the city.
    let cable = || Config { receive: layout.receive, overhead: ETHERNET.into(), ..Config::default() };
    let line = |port: usize| layout.ports[port].line.as_ref();
    match wire {
        Wire::Up(port) => line(port).map_or_else(cable, |line| line.up.clone()),
        Wire::Down(port) => line(port).map_or_else(cable, |line| line.down.clone()),
        Wire::Between(from, to) => layout.link(from, to),
    }
}

fn seed(layout: &Layout, wire: Wire) -> u64 {
    match wire {
        Wire::Up(port) => layout.line_seed(port, true),
        Wire::Down(port) => layout.line_seed(port, false),
        Wire::Between(from, to) => layout.link_seed(from, to),
    }
}
