//! Two stores in virtual time, with writers whose clocks differ, links that lose and delay
//! messages, and stores that are killed between any two steps.

use std::collections::{BTreeMap, BTreeSet};

use kv::{
    ApplyOutcome, Content, Hedge, HybridClock, KeyVersion, Millis, Next, Record, Side, Span, StoreName,
    Sweep, ValueMeta, Version, differences, digest,
};
use proptest::prelude::*;

#[derive(Default)]
struct Store {
    heads: BTreeMap<String, Record>,
    /// Keys that the other store may lack.
    notes: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Sent {
    key: String,
    version: Version,
    is_delete: bool,
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Done,
    Lost,
    Unheard,
    /// The write is applied much later, after the client's timeout.
    Late,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Write {
        writer: usize,
        key: u8,
        is_delete: bool,
        first: bool,
        fates: [Fate; 2],
    },
    /// The store may be killed before it removes the note.
    Give {
        left: bool,
        is_killed: bool,
    },
    Compare {
        left: bool,
        at_once: usize,
        ranges: usize,
    },
    Arrive,
    Pass {
        hours: u64,
    },
}

struct World {
    stores: [Store; 2],
    writers: Vec<HybridClock>,
    /// The offsets of their clocks in milliseconds.
    apart: Vec<u64>,
    now: u64,
    late: Vec<(Side, Sent)>,
    /// The newest write of each key that any store has accepted, and whether it is a deletion.
    taken: BTreeMap<String, (Version, bool)>,
    acknowledged: BTreeMap<String, Version>,
}

fn side(is_left: bool) -> Side {
    if is_left { Side::Left } else { Side::Right }
}

impl Store {
    fn write(&mut self, sent: &Sent, now: u64) -> ApplyOutcome {
        let given = Record::given(self.heads.get(&sent.key), &sent.version);
        if given == ApplyOutcome::New {
            let content = if sent.is_delete {
                Content::Deleted { since: now / 1000 }
            } else {
                Content::Value(ValueMeta { bytes: 0, expiration: None, metadata: None })
            };
            self.heads.insert(sent.key.clone(), Record { version: sent.version.clone(), content });
            self.notes.insert(sent.key.clone());
        }
        given
    }

    fn take(&mut self, key: &str, record: &Record) {
        match Record::given(self.heads.get(key), &record.version) {
            ApplyOutcome::New => {
                self.heads.insert(key.to_owned(), record.clone());
                self.notes.remove(key);
            }
            ApplyOutcome::Same => drop(self.notes.remove(key)),
            ApplyOutcome::Older(_) => drop(self.notes.insert(key.to_owned())),
        }
    }

    fn sweep(&mut self, now: u64) {
        let keys: Vec<_> = self.heads.keys().cloned().collect();
        for key in keys {
            match self.heads[&key].sweep(Millis(now)) {
                Sweep::Keep => {}
                Sweep::Bury(record) => drop(self.heads.insert(key, record)),
                Sweep::Forget if self.notes.contains(&key) => {}
                Sweep::Forget => drop(self.heads.remove(&key)),
            }
        }
    }

    /// At most `most` records, and where the covered span ends.
    fn known(&self, span: &Span, most: usize, now: u64) -> (Vec<KeyVersion>, Option<String>) {
        let is_one = |(key, record): &(&String, &Record)| span.has(key) && record.is_compared(Millis(now));
        let mut all =
            self.heads.iter().filter(is_one).map(|(key, record)| (key.clone(), record.version.clone()));
        let known: Vec<_> = all.by_ref().take(most).collect();
        let is_all = all.next().is_none();
        let end = known.last().map(|(key, _)| key.clone()).filter(|_| !is_all);
        (known, end.or_else(|| span.upto.clone()))
    }
}

impl World {
    fn of(apart: &[u64]) -> Self {
        let name =
            |number: usize| StoreName::new(&format!("w{number}")).expect("letters and digits are a name");
        Self {
            stores: Default::default(),
            writers: (0..apart.len()).map(|number| HybridClock::resume(name(number), 0)).collect(),
            apart: apart.to_vec(),
            now: 1_700_000_000_000,
            late: Vec::new(),
            taken: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
        }
    }

    fn reach(&mut self, side: Side, sent: &Sent) -> ApplyOutcome {
        let given = self.stores[side.place()].write(sent, self.now);
        if given == ApplyOutcome::New {
            let newest =
                self.taken.entry(sent.key.clone()).or_insert_with(|| (sent.version.clone(), sent.is_delete));
            if newest.0 < sent.version {
                *newest = (sent.version.clone(), sent.is_delete);
            }
        }
        given
    }

    fn write(&mut self, writer: usize, key: &str, is_delete: bool, first: Side, fates: [Fate; 2]) {
        let before: Vec<_> =
            self.stores.iter().map(|store| store.heads.get(key).map(|head| head.version.clone())).collect();
        for _ in 0..4 {
            let version = self.writers[writer].next(Millis(self.now + self.apart[writer]));
            let sent = Sent { key: key.to_owned(), version: version.clone(), is_delete };
            let mut hedge = Hedge::asking(first);
            let mut next = Next::Ask(first);
            let mut older = None;
            while let Next::Ask(asked) = next {
                let given = match fates[asked.place()] {
                    Fate::Lost => None,
                    Fate::Late => {
                        self.late.push((asked, sent.clone()));
                        None
                    }
                    Fate::Unheard => {
                        self.reach(asked, &sent);
                        None
                    }
                    Fate::Done => Some(self.reach(asked, &sent)),
                };
                match given {
                    None => next = hedge.failed(),
                    Some(ApplyOutcome::Older(known)) => {
                        older = Some(known);
                        break;
                    }
                    Some(ApplyOutcome::New | ApplyOutcome::Same) => {
                        assert!(before[asked.place()].as_ref().is_none_or(|before| *before < version));
                        let newest =
                            self.acknowledged.entry(key.to_owned()).or_insert_with(|| version.clone());
                        *newest = version.clone().max(newest.clone());
                        return;
                    }
                }
            }
            let Some(older) = older else { return };
            self.writers[writer].hear(&older);
        }
        panic!("a newer version than the one that is known is taken");
    }

    fn give(&mut self, from: Side, is_killed: bool) {
        for key in self.stores[from.place()].notes.clone() {
            let Some(record) = self.stores[from.place()].heads.get(&key).cloned() else { continue };
            self.stores[from.other().place()].take(&key, &record);
            if is_killed {
                return;
            }
            self.stores[from.place()].notes.remove(&key);
        }
    }

    fn compare(&mut self, here: Side, at_once: usize, ranges: usize) {
        let mut after = String::new();
        for _ in 0..ranges {
            let all = Span { after: after.clone(), upto: None };
            let (known, upto) = self.stores[here.place()].known(&all, at_once, self.now);
            let span = Span { after: after.clone(), upto };
            let (there, end) = self.stores[here.other().place()].known(&span, at_once, self.now);
            let mut span = span;
            if digest(&known) != digest(&there) || end != span.upto {
                span = span.until(end);
                let found = differences(&span, &known, &there);
                self.stores[here.place()].notes.extend(found.newer_here);
                self.stores[here.other().place()].notes.extend(found.newer_there);
            }
            match span.upto {
                None => return,
                Some(upto) => after = upto,
            }
        }
    }

    fn arrive(&mut self) {
        for (side, sent) in std::mem::take(&mut self.late) {
            self.reach(side, &sent);
        }
    }

    fn happen(&mut self, event: Event) {
        self.now += 10;
        match event {
            Event::Write { writer, key, is_delete, first, fates } => {
                let key = format!("ns\0k{}", key % 6);
                self.write(writer % self.writers.len(), &key, is_delete, side(first), fates);
            }
            Event::Give { left, is_killed } => self.give(side(left), is_killed),
            Event::Compare { left, at_once, ranges } => self.compare(side(left), at_once, ranges),
            Event::Arrive => self.arrive(),
            Event::Pass { hours } => {
                self.arrive();
                self.now += hours * 3_600_000;
                let now = self.now;
                self.stores.iter_mut().for_each(|store| store.sweep(now));
            }
        }
    }

    fn heal(&mut self) {
        self.arrive();
        for _ in 0..3 {
            self.compare(Side::Left, 2, usize::MAX);
            self.compare(Side::Right, 3, usize::MAX);
            self.give(Side::Left, false);
            self.give(Side::Right, false);
        }
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![4 => Just(Fate::Done), 2 => Just(Fate::Lost), 1 => Just(Fate::Unheard), 1 => Just(Fate::Late)]
}

fn event() -> impl Strategy<Value = Event> {
    let write = (any::<usize>(), any::<u8>(), prop::bool::weighted(0.3), any::<bool>(), [fate(), fate()]);
    prop_oneof![
        8 => write.prop_map(|(writer, key, is_delete, first, fates)| Event::Write { writer, key, is_delete, first, fates }),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(left, is_killed)| Event::Give { left, is_killed }),
        1 => (any::<bool>(), 1..4_usize, 0..4_usize).prop_map(|(left, at_once, ranges)| Event::Compare { left, at_once, ranges }),
        1 => Just(Event::Arrive),
        1 => (0..40_u64).prop_map(|hours| Event::Pass { hours }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_stores_know_the_newest_in_the_end(
        apart in prop::collection::vec(0..20_000_u64, 1..4),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let mut world = World::of(&apart);
        for event in events {
            world.happen(event);
        }
        world.heal();
        for (key, (newest, is_delete)) in &world.taken {
            if let Some(acknowledged) = world.acknowledged.get(key) {
                prop_assert!(acknowledged <= newest);
            }
            for store in &world.stores {
                let known = store.heads.get(key);
                let has_value = known.is_some_and(|known| known.value(Millis(world.now)).is_some());
                prop_assert_eq!(has_value, !is_delete, "{}", key);
                prop_assert!(known.is_none_or(|known| known.version == *newest) && (known.is_some() || *is_delete));
            }
        }
        prop_assert!(world.stores.iter().all(|store| store.notes.is_empty()));
    }
}
