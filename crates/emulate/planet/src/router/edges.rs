//! The engines of all edges that start in some cities, created on first use.

use std::{collections::HashMap, sync::Arc, time::Duration};

use link::{Arrival, Config, Counters, Link, Verdict};
use world::{Change, Layout, LinkDown, file::ETHERNET};

use super::{edge::Edge, faults::Faults};

pub(crate) type EdgeId = usize;

pub(crate) struct Edges<T: Clone> {
    layout: Arc<Layout>,
    index: HashMap<Edge, EdgeId>,
    all: Vec<Engine<T>>,
}

struct Engine<T: Clone> {
    edge: Edge,
    link: Link<T>,
    change: Change,
    alarm: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(crate) struct EdgeReading {
    pub edge: Edge,
    pub config: Config,
    pub is_down: bool,
    pub is_changed: bool,
    pub counters: Counters,
    pub waiting: link::Amount,
}

impl<T: Clone> Edges<T> {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Self { layout, index: HashMap::new(), all: Vec::new() }
    }

    pub(crate) fn find(&mut self, edge: Edge, faults: &Faults) -> EdgeId {
        let (layout, all) = (&self.layout, &mut self.all);
        *self.index.entry(edge).or_insert_with(|| {
            let change = faults.change(layout, edge);
            let link = Link::new(change.apply(described(layout, edge)), seed(layout, edge));
            all.push(Engine { edge, link, change, alarm: None });
            all.len() - 1
        })
    }

    pub(crate) fn ids(&self) -> std::ops::Range<EdgeId> {
        0..self.all.len()
    }

    pub(crate) fn edge(&self, id: EdgeId) -> Edge {
        self.all[id].edge
    }

    pub(crate) fn down(&self, id: EdgeId) -> Option<LinkDown> {
        self.all[id].change.down
    }

    pub(crate) fn offer(
        &mut self,
        id: EdgeId,
        now: Duration,
        arrival: Arrival<T>,
        each: &mut impl FnMut(&T, Verdict),
    ) {
        self.all[id].link.offer(now, arrival, each);
    }

    pub(crate) fn advance(&mut self, id: EdgeId, now: Duration, each: &mut impl FnMut(&T, Verdict)) {
        self.all[id].alarm = None;
        self.all[id].link.advance(now, each);
    }

    /// When [`Edges::advance`] must be called for an edge, if earlier than all timeouts returned
    /// before.
    pub(crate) fn new_alarm(&mut self, id: EdgeId) -> Option<Duration> {
        let engine = &mut self.all[id];
        let timeout = engine.link.next_timeout()?;
        if engine.alarm.is_some_and(|alarm| alarm <= timeout) {
            return None;
        }
        engine.alarm = Some(timeout);
        engine.alarm
    }

    /// Returns the changed edges, which must be advanced.
    pub(crate) fn apply(&mut self, now: Duration, faults: &Faults) -> Vec<EdgeId> {
        let mut changed = Vec::new();
        for (id, engine) in self.all.iter_mut().enumerate() {
            let change = faults.change(&self.layout, engine.edge);
            if change != engine.change {
                engine.link.reconfigure(now, change.apply(described(&self.layout, engine.edge)));
                engine.change = change;
                changed.push(id);
            }
        }
        changed
    }

    pub(crate) fn waiting_bytes(&self) -> u64 {
        let of = |engine: &Engine<T>| {
            let waiting = engine.link.backlog();
            waiting.bytes - waiting.segments * u64::from(engine.link.config().overhead)
        };
        self.all.iter().map(of).sum()
    }

    pub(crate) fn read(&self) -> Vec<EdgeReading> {
        let read = |engine: &Engine<T>| EdgeReading {
            edge: engine.edge,
            config: engine.link.config().clone(),
            is_down: engine.change.down.is_some(),
            is_changed: !engine.change.is_empty(),
            counters: engine.link.counters(),
            waiting: engine.link.backlog(),
        };
        self.all.iter().map(read).collect()
    }
}

impl EdgeReading {
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

fn described(layout: &Layout, edge: Edge) -> Config {
    // A plain cable to the router exists as an edge only while a fault applies.
    let cable = || Config { receive: layout.receive, overhead: ETHERNET.into(), ..Config::default() };
    let line = |port: usize| layout.ports[port].line.as_ref();
    match edge {
        Edge::Up(port) => line(port).map_or_else(cable, |line| line.up.clone()),
        Edge::Down(port) => line(port).map_or_else(cable, |line| line.down.clone()),
        Edge::Between(from, to) => layout.link(from, to),
    }
}

fn seed(layout: &Layout, edge: Edge) -> u64 {
    match edge {
        Edge::Up(port) => layout.line_seed(port, true),
        Edge::Down(port) => layout.line_seed(port, false),
        Edge::Between(from, to) => layout.link_seed(from, to),
    }
}
