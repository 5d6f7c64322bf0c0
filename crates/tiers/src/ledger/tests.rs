//! That everybody hears of everything; and the promise that rests on it, over random histories: after a data centre has acknowledged a purge,
//! none of its visitors sees what was there before.

use proptest::prelude::*;

use super::*;

#[test]
fn what_one_lacks_another_tells() {
    let (mut a, mut b) = (Ledger::new(LogId(1)), Ledger::new(LogId(2)));
    a.append(["x", "y"]);
    b.append(["z"]);
    assert!(!b.covers(&a.position()) && !a.covers(&b.position()));
    let news = b.take(a.after(&b.position(), 1));
    assert_eq!((news.entries, news.everything), (vec!["x"], false));
    assert_eq!(b.take(a.after(&b.position(), 9)).entries, ["y"]);
    assert!(b.covers(&a.position()));
    // Again, and by way of a third one.
    assert_eq!(b.take(a.after(&Position::default(), 9)).entries, Vec::<&str>::new());
    let mut c = Ledger::new(LogId(3));
    assert_eq!(c.take(b.after(&c.position(), 9)).entries, ["x", "y", "z"]);
    assert!(c.covers(&a.position()) && c.covers(&b.position()));
}

#[test]
fn a_piece_that_does_not_follow_is_left_for_later() {
    let mut a = Ledger::new(LogId(1));
    let late = Piece { log: LogId(2), first: 2, forgets: false, entries: vec!["b"] };
    assert_eq!(a.take(vec![late.clone()]).entries, Vec::<&str>::new());
    let whole = Piece { first: 1, entries: vec!["a", "b"], ..late };
    assert_eq!(a.take(vec![whole]).entries, ["a", "b"]);
}

#[test]
fn who_is_behind_what_is_remembered_purges_everything() {
    let (mut a, mut b) = (Ledger::new(LogId(1)), Ledger::new(LogId(2)));
    a.append(0..REMEMBERED + 5);
    let news = b.take(a.after(&b.position(), usize::MAX));
    assert!(news.everything);
    assert_eq!(news.entries.len(), REMEMBERED);
    assert!(b.covers(&a.position()));
    // Another one that hears of it from there.
    let mut c = Ledger::new(LogId(3));
    assert!(c.take(b.after(&c.position(), usize::MAX)).everything);
}

#[test]
fn a_log_that_is_over_is_forgotten_when_all_have_it() {
    let mut ledgers: Vec<_> = (0..3).map(|id| Ledger::new(LogId(id))).collect();
    ledgers[0].append(["x"]);
    let pieces = ledgers[0].after(&Position::default(), 9);
    ledgers[1].take(pieces.clone());
    let alive = [LogId(1), LogId(2)].into();
    let others = |of: &[Ledger<&str>]| [of[2].position(), Position::from_str("0:1").unwrap()];
    let seen = others(&ledgers);
    ledgers[1].settle(&alive, &seen);
    assert_eq!(ledgers[1].position().to_string(), "0:1");
    ledgers[2].take(pieces.clone());
    let seen = others(&ledgers);
    ledgers[1].settle(&alive, &seen);
    assert_eq!(ledgers[1].position().to_string(), "");
    // Whoever still has it is not ahead, and what it tells is nothing new.
    assert!(ledgers[1].covers(&ledgers[2].position()));
    assert_eq!(ledgers[1].take(pieces).entries, Vec::<&str>::new());
}

#[test]
fn a_position_is_read_as_it_is_written() {
    let position = Position([(LogId(0x1f3a), 5), (LogId(u64::MAX), 1)].into());
    assert_eq!(position.to_string().parse(), Ok(position.clone()));
    assert_eq!("".parse(), Ok(Position::default()));
    for wrong in ["x", "1", "1:", "1:x", ":1", "1:2,3:4", "11111111111111111:1"] {
        assert_eq!(wrong.parse::<Position>(), Err(NoPosition), "{wrong}");
    }
}

const CENTRES: usize = 4;

/// What may happen next.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The origin's object changes, and a data centre is told to purge it.
    Purge { at: usize },
    /// A data centre that lacks the object begins to ask another one, or the origin.
    Ask { at: usize, whom: Option<usize> },
    /// The oldest request or response on its way arrives, or a younger one.
    Arrive { which: usize },
    /// One tells another what that lacks, if they reach each other.
    Tell { from: usize, to: usize },
    /// Two do not reach each other any more, or do again.
    Cut { a: usize, b: usize },
    /// A data centre starts again, with an empty store and another log.
    Restart { at: usize },
}

/// A request on its way to another data centre or the origin, or a response on its way back.
#[derive(Debug, Clone)]
enum Flight {
    Request { from: usize, run: u64, to: Option<usize>, began: usize, position: Position },
    Response { to: usize, run: u64, began: usize, version: u64 },
}

/// One data centre: its store has one object at most.
struct Centre {
    ledger: Ledger<()>,
    /// How many purges it has done: its epoch.
    done: usize,
    /// The object's version, unless it is purged.
    stored: Option<u64>,
    /// No visitor may see an older version.
    promised: u64,
}

struct World {
    centres: Vec<Centre>,
    /// The object's version at the origin.
    version: u64,
    flights: Vec<Flight>,
    cut: BTreeSet<(usize, usize)>,
    runs: u64,
}

impl World {
    fn new() -> Self {
        let centre = |id| Centre { ledger: Ledger::new(LogId(id)), done: 0, stored: None, promised: 0 };
        let centres: Vec<_> = (0..CENTRES as u64).map(centre).collect();
        Self { centres, version: 0, flights: Vec::new(), cut: BTreeSet::new(), runs: CENTRES as u64 }
    }

    fn reach(&self, a: usize, b: usize) -> bool {
        a != b && !self.cut.contains(&(a.min(b), a.max(b)))
    }

    fn tell(&mut self, from: usize, to: usize) {
        if self.reach(from, to) {
            let pieces = self.centres[from].ledger.after(&self.centres[to].ledger.position(), 1);
            let news = self.centres[to].ledger.take(pieces);
            if !news.entries.is_empty() {
                (self.centres[to].done, self.centres[to].stored) = (self.centres[to].done + 1, None);
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Purge { at } => {
                self.version += 1;
                let centre = &mut self.centres[at];
                centre.ledger.append([()]);
                (centre.done, centre.stored, centre.promised) = (centre.done + 1, None, self.version);
            }
            Step::Ask { at, whom } => {
                let centre = &self.centres[at];
                if let Some(version) = centre.stored {
                    // A visitor's hit.
                    prop_assert!(version >= centre.promised, "{at} serves {version}");
                    return Ok(());
                }
                let run = centre.ledger.own().0;
                let position = centre.ledger.position();
                let began = centre.done;
                self.flights.push(Flight::Request {
                    from: at,
                    run,
                    to: whom.filter(|&to| to != at),
                    began,
                    position,
                });
            }
            Step::Arrive { which } => {
                if self.flights.is_empty() {
                    return Ok(());
                }
                let flight = self.flights.remove(which % self.flights.len());
                self.arrive(flight)?;
            }
            Step::Tell { from, to } => self.tell(from, to),
            Step::Cut { a, b } => {
                let pair = (a.min(b), a.max(b));
                if a != b && !self.cut.remove(&pair) {
                    self.cut.insert(pair);
                }
            }
            Step::Restart { at } => {
                // What nobody else has heard of dies with it, and with its store; so it has told one other before.
                let to = (at + 1) % CENTRES;
                while self.reach(at, to)
                    && !self.centres[to].ledger.covers(&self.centres[at].ledger.position())
                {
                    self.tell(at, to);
                }
                if !self.centres[to].ledger.covers(&self.centres[at].ledger.position()) {
                    return Ok(());
                }
                self.runs += 1;
                let ledger = Ledger::new(LogId(self.runs));
                self.centres[at] = Centre { ledger, done: 0, stored: None, promised: 0 };
            }
        }
        Ok(())
    }

    fn arrive(&mut self, flight: Flight) -> Result<(), TestCaseError> {
        match flight {
            Flight::Request { from, run, to, began, position } => {
                let version = match to {
                    Some(to) if self.reach(from, to) => {
                        // Behind: it catches up with who asks, or is no help.
                        for _ in 0..100 {
                            if !self.centres[to].ledger.covers(&position) {
                                self.tell(from, to);
                            }
                        }
                        let there = &self.centres[to];
                        there.stored.filter(|_| there.ledger.covers(&position)).unwrap_or(self.version)
                    }
                    _ => self.version,
                };
                self.flights.push(Flight::Response { to: from, run, began, version });
            }
            Flight::Response { to, run, began, version } => {
                let centre = &mut self.centres[to];
                if centre.ledger.own().0 == run && centre.done == began {
                    prop_assert!(version >= centre.promised, "{to} stores {version}");
                    centre.stored = Some(version);
                }
            }
        }
        Ok(())
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let centre = || 0..CENTRES;
    prop_oneof![
        2 => centre().prop_map(|at| Step::Purge { at }),
        6 => (centre(), prop::option::of(centre())).prop_map(|(at, whom)| Step::Ask { at, whom }),
        8 => (0_usize..8).prop_map(|which| Step::Arrive { which }),
        4 => (centre(), centre()).prop_map(|(from, to)| Step::Tell { from, to }),
        1 => (centre(), centre()).prop_map(|(a, b)| Step::Cut { a, b }),
        1 => centre().prop_map(|at| Step::Restart { at }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_visitor_sees_what_was_there_before_an_acknowledged_purge(
        steps in prop::collection::vec(steps(), 1..80)
    ) {
        let mut world = World::new();
        for step in steps {
            world.step(step)?;
        }
        // When all reach one another again, all have heard of everything.
        world.cut.clear();
        for _ in 0..200 {
            for from in 0..CENTRES {
                world.tell(from, (from + 1) % CENTRES);
            }
        }
        for centre in &world.centres {
            prop_assert!(world.centres.iter().all(|other| centre.ledger.covers(&other.ledger.position())));
        }
    }
}
