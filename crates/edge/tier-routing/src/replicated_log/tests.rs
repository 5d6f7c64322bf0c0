//! All data centres receive all entries; and after a data centre has acknowledged a purge, none of
//! its visitors receives an older version.

use proptest::prelude::*;

use super::*;
use crate::proptest_cases;

mod stream;

fn told<E: Clone>(news: &LogDelta<E>) -> Vec<E> {
    news.entries.iter().map(|new| new.entry.clone()).collect()
}

#[test]
fn what_one_lacks_another_tells() {
    let (mut a, mut b) = (ReplicatedLog::new(LogId(1)), ReplicatedLog::new(LogId(2)));
    a.append(["x", "y"]);
    b.append(["z"]);
    assert!(!b.covers(&a.position()) && !a.covers(&b.position()));
    let news = b.take(a.after(&b.position(), 1));
    assert_eq!((told(&news), news.everything), (vec!["x"], false));
    assert_eq!(b.take(a.after(&b.position(), 9)).entries, [New { log: LogId(1), number: 2, entry: "y" }]);
    assert!(b.covers(&a.position()));
    assert_eq!(told(&b.take(a.after(&Position::default(), 9))), Vec::<&str>::new());
    let mut c = ReplicatedLog::new(LogId(3));
    assert_eq!(told(&c.take(b.after(&c.position(), 9))), ["x", "y", "z"]);
    assert!(c.covers(&a.position()) && c.covers(&b.position()));
}

#[test]
fn a_piece_that_does_not_follow_is_left_for_later() {
    let mut a = ReplicatedLog::new(LogId(1));
    let late = LogSlice { log: LogId(2), first: 2, forgets: false, entries: vec!["b"] };
    assert_eq!(told(&a.take(vec![late.clone()])), Vec::<&str>::new());
    let whole = LogSlice { first: 1, entries: vec!["a", "b"], ..late };
    assert_eq!(told(&a.take(vec![whole])), ["a", "b"]);
}

#[test]
fn numbers_and_logs_beyond_all_bounds_are_left_out() {
    let mut a = ReplicatedLog::new(LogId(1));
    let piece = |log, first| LogSlice { log: LogId(log), first, forgets: true, entries: vec!["x"] };
    assert!(a.take(vec![piece(2, u64::MAX), piece(2, LARGEST + 1), piece(2, 0)]).entries.is_empty());
    a.take((2..).map(|log| piece(log, 1)).take(MOST_LOGS + 5).collect());
    assert_eq!(a.position().logs().count(), MOST_LOGS);
}

#[test]
fn what_all_have_is_forgotten_and_counts_all_the_same() {
    let (mut a, mut b, mut c) =
        (ReplicatedLog::new(LogId(1)), ReplicatedLog::new(LogId(2)), ReplicatedLog::new(LogId(3)));
    assert_eq!(a.append(["x", "y", "z"]), 3);
    b.take(a.after(&b.position(), 9));
    c.take(a.after(&c.position(), 2));
    a.forget(&[b.position(), c.position()]);
    assert_eq!((a.remembered(), a.position().to_string()), (1, "1:3".to_owned()));
    let news = c.take(a.after(&c.position(), 9));
    assert_eq!((told(&news), news.everything), (vec!["z"], false));
    b.forget(&[a.position(), Position::default()]);
    assert_eq!(b.remembered(), 3);
    assert!(ReplicatedLog::new(LogId(4)).take(a.after(&Position::default(), 9)).everything);
}

#[test]
fn a_run_goes_on_where_the_one_before_ended() {
    let (mut a, mut b) = (ReplicatedLog::new(LogId(1)), ReplicatedLog::new(LogId(2)));
    a.append(["x", "y"]);
    b.append(["z"]);
    let noted = b.take(a.after(&b.position(), 9)).entries;
    let mut again = ReplicatedLog::new(LogId(4));
    again.resume(New { log: LogId(2), number: 1, entry: "z" });
    noted.into_iter().for_each(|new| again.resume(new));
    again.resume_at(&"1:2 2:1 7:9".parse().unwrap());
    assert_eq!(again.position().to_string(), "1:2 2:1 7:9");
    let news = ReplicatedLog::new(LogId(3)).take(again.after(&"7:9".parse().unwrap(), 9));
    assert_eq!((told(&news), news.everything), (vec!["x", "y", "z"], false));
    assert!(ReplicatedLog::new(LogId(3)).take(again.after(&Position::default(), 9)).everything);
    again.resume(New { log: LogId(1), number: 5, entry: "v" });
    assert_eq!(again.position().reached(LogId(1)), 5);
}

#[test]
fn a_log_that_was_settled_too_early_goes_on() {
    let mut ledgers = [ReplicatedLog::new(LogId(0)), ReplicatedLog::new(LogId(1))];
    ledgers[0].append([10, 11]);
    let told = ledgers[0].after(&Position::default(), 9);
    ledgers[1].take(told);
    assert_eq!(ledgers[1].settle(&BTreeSet::from([LogId(1)]), &[]), [LogId(0)]);
    assert!(ledgers[1].covers(&ledgers[0].position()));
    ledgers[0].append([12]);
    assert!(!ledgers[1].covers(&ledgers[0].position()), "what was purged since is not known");
    let position = ledgers[1].position();
    let news = ledgers[1].take(ledgers[0].after(&position, 9));
    assert_eq!(news.entries, [New { log: LogId(0), number: 3, entry: 12 }]);
    assert!(!news.everything && ledgers[1].covers(&ledgers[0].position()));
    let news = ledgers[0].take(vec![LogSlice { log: LogId(0), first: 9, forgets: true, entries: vec![7] }]);
    assert!(news.entries.is_empty() && !news.everything);
}

#[test]
fn a_log_that_was_settled_too_early_is_told_from_its_end() {
    let mut ledgers = [ReplicatedLog::new(LogId(0)), ReplicatedLog::new(LogId(1))];
    ledgers[0].append(1..=5);
    let told = ledgers[0].after(&Position::default(), 9);
    ledgers[1].take(told);
    ledgers[1].settle(&BTreeSet::from([LogId(1)]), &[]);
    ledgers[0].append(6..=9);
    let mut news = Vec::new();
    for _ in 0..2 {
        let (position, there) = (ledgers[1].position(), ledgers[0].position());
        let pieces = ledgers[0].after(&position, 2);
        news.extend(ledgers[1].take(pieces).entries);
        ledgers[1].hear(LogId(2), &there);
    }
    let pieces = ledgers[0].after(&ledgers[1].position(), 2);
    news.extend(ledgers[1].take(pieces).entries);
    assert_eq!(news.iter().map(|new| new.entry).collect::<Vec<_>>(), [6, 7, 8, 9]);
    assert!(ledgers[1].covers(&ledgers[0].position()));
    ledgers[1].settle(&BTreeSet::from([LogId(1)]), &[]);
    assert!(!ledgers[1].hear(LogId(2), &ledgers[0].position()));
    assert_eq!(ledgers[1].position(), Position::default());
    assert!(ledgers[1].hear(LogId(0), &ledgers[0].position()));
    assert_eq!(ledgers[1].position(), ledgers[0].position());
}

#[test]
fn who_hears_that_a_log_is_over_knows_how_far_it_went() {
    let mut ledgers = [ReplicatedLog::new(LogId(0)), ReplicatedLog::new(LogId(1))];
    ledgers[0].append(["x", "y", "z"]);
    let late = ledgers[0].after(&"0:1".parse().unwrap(), 9);
    ledgers[1].take(ledgers[0].after(&Position::default(), 1));
    assert!(ledgers[1].end(LogId(0), 3));
    assert_eq!(told(&ledgers[1].take(late)), Vec::<&str>::new());
    assert!(ledgers[1].covers(&"0:3".parse().unwrap()) && !ledgers[1].covers(&"0:4".parse().unwrap()));
    assert_eq!(ledgers[1].position(), Position::default());
    assert!(ledgers[1].end(LogId(7), 2) && !ledgers[1].end(LogId(7), 1) && ledgers[1].end(LogId(7), 4));
    assert_eq!(ledgers[1].over(&"0:3 7:4".parse().unwrap()).to_string(), "0:3 7:4");
    assert_eq!(ledgers[1].over(&"0:2 7:2".parse().unwrap()), Position::default());
    assert!(!ledgers[1].end(LogId(8), u64::MAX));
}

#[test]
fn who_lacks_some_of_a_log_that_is_settled_purges_everything() {
    let mut ledgers =
        [ReplicatedLog::new(LogId(0)), ReplicatedLog::new(LogId(1)), ReplicatedLog::new(LogId(2))];
    ledgers[0].append(["x", "y", "z"]);
    ledgers[1].take(ledgers[0].after(&Position::default(), 9));
    // An uncounted data centre has two of the three entries, and a new one has received nothing.
    ledgers[2].take(ledgers[0].after(&Position::default(), 2));
    ledgers[1].settle(&BTreeSet::from([LogId(1)]), &[]);
    let said = ledgers[2].position();
    let pieces = ledgers[1].short_of(&said).collect();
    let news = ledgers[2].take(pieces);
    assert!(news.everything && news.entries.is_empty());
    assert_eq!(ledgers[1].over(&ledgers[2].position()), ledgers[0].position());
    assert_eq!(ledgers[1].short_of(&ledgers[2].position()).count(), 0);
    assert_eq!(ledgers[1].short_of(&Position::default()).count(), 0);
}

#[test]
fn what_one_has_settled_the_others_forget() {
    let mut ledgers: Vec<_> = (0..3).map(|id| ReplicatedLog::new(LogId(id))).collect();
    ledgers[0].append(["x"]);
    let pieces = ledgers[0].after(&Position::default(), 9);
    ledgers[1].take(pieces.clone());
    ledgers[2].take(pieces);
    let seen = [ledgers[2].position(), "0:1".parse().unwrap()];
    assert_eq!(ledgers[1].settle(&[LogId(1), LogId(2)].into(), &seen), [LogId(0)]);
    let over = ledgers[1].over(&ledgers[2].position());
    assert_eq!(over.to_string(), "0:1");
    assert!(over.logs().all(|(log, number)| ledgers[2].end(log, number)));
    assert_eq!(ledgers[2].position(), Position::default());
    assert!(!ledgers[0].end(LogId(0), 1));
    assert_eq!(ledgers[0].position().to_string(), "0:1");
}

#[test]
fn who_is_behind_what_is_remembered_purges_everything() {
    let (mut a, mut b) = (ReplicatedLog::new(LogId(1)), ReplicatedLog::new(LogId(2)));
    a.append(0..REMEMBERED + 5);
    let news = b.take(a.after(&b.position(), usize::MAX));
    assert!(news.everything);
    assert_eq!(news.entries.len(), REMEMBERED);
    assert!(b.covers(&a.position()));
    let mut c = ReplicatedLog::new(LogId(3));
    assert!(c.take(b.after(&c.position(), usize::MAX)).everything);
}

#[test]
fn a_log_that_is_over_is_forgotten_when_all_have_it() {
    let mut ledgers: Vec<_> = (0..3).map(|id| ReplicatedLog::new(LogId(id))).collect();
    ledgers[0].append(["x"]);
    let pieces = ledgers[0].after(&Position::default(), 9);
    ledgers[1].take(pieces.clone());
    let alive = [LogId(1), LogId(2)].into();
    let others = |of: &[ReplicatedLog<&str>]| [of[2].position(), Position::from_str("0:1").unwrap()];
    let seen = others(&ledgers);
    ledgers[1].settle(&alive, &seen);
    assert_eq!(ledgers[1].position().to_string(), "0:1");
    ledgers[2].take(pieces.clone());
    let seen = others(&ledgers);
    ledgers[1].settle(&alive, &seen);
    assert_eq!(ledgers[1].position().to_string(), "");
    assert!(ledgers[1].covers(&ledgers[2].position()));
    assert_eq!(told(&ledgers[1].take(pieces)), Vec::<&str>::new());
}

#[test]
fn positions_are_joined_and_compared() {
    let mut position: Position = "1:5 2:3".parse().unwrap();
    let other = "2:7 3:1".parse().unwrap();
    assert_eq!((position.ahead_of(&other), other.ahead_of(&position)), (5, 5));
    position.join(&other);
    assert_eq!(position.to_string(), "1:5 2:7 3:1");
    position.leave(LogId(2));
    assert_eq!(position.to_string(), "1:5 3:1");
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

/// Far fewer than in a history, as in the edge.
const MOST_TOLD: usize = 2;

/// More messages than a history has entries.
const ENOUGH: usize = 200;

#[derive(Debug, Clone, Copy)]
enum Step {
    Purge { at: usize },
    Ask { at: usize, whom: Option<usize> },
    // Not necessarily the oldest message in flight.
    Arrive { which: usize },
    // If they are connected. Both receive the other's position.
    Tell { from: usize, to: usize },
    // The entries that the receiver lacks, as far as is known. They arrive later.
    Send { from: usize, to: usize },
    Cut { a: usize, b: usize },
    // A network file in which another data centre is missing or present again.
    File { at: usize, other: usize },
    Restart { at: usize },
    // With its cache and its applied entries from the disk.
    Resume { at: usize },
    Look { at: usize },
    Put { at: usize },
    // Reads this number of messages from the stream, if there are any.
    Read { at: usize, messages: usize },
    Say { from: usize, to: usize },
}

#[derive(Debug, Clone)]
enum Flight {
    Request { from: usize, run: u64, to: Option<usize>, began: usize, position: Position },
    Response { to: usize, run: u64, began: usize, version: u64 },
    Message { from: usize, to: usize, message: Message },
}

#[derive(Debug, Clone)]
struct Message {
    log: LogId,
    position: Position,
    over: Position,
    pieces: Vec<LogSlice<u64>>,
}

struct Known {
    log: LogId,
    position: Position,
    said: Position,
}

/// The cache has at most one object. A purge contains the version that the object had after it.
struct Centre {
    ledger: ReplicatedLog<u64>,
    known: BTreeMap<usize, Known>,
    missing: BTreeSet<usize>,
    done: usize,
    /// As stored on its disk.
    noted: Vec<New<u64>>,
    reached: Position,
    stored: Option<u64>,
    /// The oldest version that visitors may receive.
    promised: u64,
    read: usize,
    in_stream: Position,
}

impl Centre {
    fn new(id: u64) -> Self {
        Self {
            ledger: ReplicatedLog::new(LogId(id)),
            known: BTreeMap::new(),
            missing: BTreeSet::new(),
            done: 0,
            noted: Vec::new(),
            reached: Position::default(),
            stored: None,
            promised: 0,
            read: 0,
            in_stream: Position::default(),
        }
    }

    fn message_to(&self, receiver: usize) -> Message {
        match self.known.get(&receiver) {
            Some(known) => self.message(&known.position, &known.said),
            None => self.message(&self.ledger.position(), &Position::default()),
        }
    }

    fn answer(&self, question: &Message) -> Message {
        let mut reached = question.position.clone();
        reached.join(&question.over);
        self.message(&reached, &question.position)
    }

    fn message(&self, receiver: &Position, said: &Position) -> Message {
        let short = self.ledger.short_of(said);
        Message {
            log: self.ledger.own(),
            position: self.ledger.position(),
            over: self.ledger.over(said),
            pieces: short.chain(self.ledger.after(receiver, MOST_TOLD)).collect(),
        }
    }

    fn take(&mut self, from: usize, message: &Message) {
        self.take_pieces(message.pieces.clone());
        self.hear(from, message);
    }

    fn take_pieces(&mut self, pieces: Vec<LogSlice<u64>>) {
        let news = self.ledger.take(pieces);
        if news.everything || !news.entries.is_empty() {
            (self.done, self.stored) = (self.done + 1, None);
        }
        let promised = news.entries.iter().map(|new| new.entry).max();
        self.promised = self.promised.max(promised.unwrap_or(0));
        self.noted.extend(news.entries);
        if news.everything {
            self.reached = self.ledger.position();
        }
    }

    fn hear(&mut self, from: usize, message: &Message) {
        let (log, said) = (message.log, message.position.clone());
        let known = self.known.entry(from);
        let known = known.or_insert_with(|| Known { log, position: said.clone(), said: said.clone() });
        if known.log != log {
            *known = Known { log, position: Position::default(), said: said.clone() };
        }
        known.position.join(&said);
        known.position.join(&message.over);
        known.said = said;
        if self.ledger.hear(log, &message.position) {
            self.reached.join(&self.ledger.position());
        }
        let ended = self.ledger.over(&message.position);
        if let Some(known) = self.known.get_mut(&from) {
            ended.logs().for_each(|(log, _)| known.position.leave(log));
        }
        for (log, number) in message.over.logs() {
            let knows_better = |known: &Known| known.log == log || known.position.reached(log) > number;
            if !self.known.values().any(knows_better) && self.ledger.end(log, number) {
                self.forget(log);
            }
        }
    }

    fn forget(&mut self, log: LogId) {
        self.known.values_mut().for_each(|known| known.position.leave(log));
        self.noted.retain(|new| new.log != log);
        self.reached.leave(log);
    }

    fn look(&mut self) {
        self.known.retain(|other, _| !self.missing.contains(other));
        if self.known.len() + self.missing.len() + 1 < CENTRES {
            return;
        }
        let mut alive: BTreeSet<_> = self.known.values().map(|known| known.log).collect();
        alive.insert(self.ledger.own());
        let positions: Vec<_> = self.known.values().map(|known| known.position.clone()).collect();
        self.ledger.forget(&positions);
        let over = self.ledger.settle(&alive, &positions);
        over.into_iter().for_each(|log| self.forget(log));
    }
}

struct World {
    centres: Vec<Centre>,
    version: u64,
    flights: Vec<Flight>,
    cut: BTreeSet<(usize, usize)>,
    stream: Vec<Option<LogSlice<u64>>>,
    runs: u64,
    /// Not while network files differ.
    is_promised: bool,
}

impl World {
    fn new(is_promised: bool) -> Self {
        let centres: Vec<_> = (0..CENTRES as u64).map(Centre::new).collect();
        let (flights, cut, stream) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { centres, version: 0, flights, cut, stream, runs: CENTRES as u64, is_promised }
    }

    fn reach(&self, a: usize, b: usize) -> bool {
        let is_missing = |at: usize, other| self.centres[at].missing.contains(&other);
        let is_known = !is_missing(a, b) && !is_missing(b, a);
        a != b && is_known && !self.cut.contains(&(a.min(b), a.max(b)))
    }

    fn come_together(&mut self) -> Result<(), TestCaseError> {
        self.cut.clear();
        self.centres.iter_mut().for_each(|centre| centre.missing.clear());
        for _ in 0..ENOUGH {
            if self.is_even() {
                break;
            }
            for (from, to) in (0..CENTRES).flat_map(|from| (0..CENTRES).map(move |to| (from, to))) {
                self.tell(from, to);
            }
        }
        prop_assert!(self.is_even());
        Ok(())
    }

    fn is_even(&self) -> bool {
        let positions: Vec<_> = self.centres.iter().map(|centre| centre.ledger.position()).collect();
        self.centres.iter().all(|centre| positions.iter().all(|other| centre.ledger.covers(other)))
    }

    fn tell(&mut self, from: usize, to: usize) {
        if self.reach(from, to) {
            let question = self.centres[to].message_to(from);
            let answer = self.centres[from].answer(&question);
            self.centres[from].take(to, &question);
            self.centres[to].take(from, &answer);
        }
    }

    fn tell_all(&mut self, from: usize, to: usize) -> Result<(), TestCaseError> {
        let lacks = |world: &Self| {
            let [there, here] = [to, from].map(|at| &world.centres[at].ledger);
            !there.covers(&here.position())
        };
        for _ in 0..ENOUGH {
            if self.reach(from, to) && lacks(self) {
                self.tell(from, to);
                self.tell(to, from);
            }
        }
        let is_told = !self.reach(from, to) || !lacks(self);
        prop_assert!(is_told, "{from} tells {to} for ever");
        Ok(())
    }

    fn send(&mut self, from: usize, to: usize) {
        if from != to {
            let message = self.centres[from].message_to(to);
            self.flights.push(Flight::Message { from, to, message });
        }
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Purge { at } => {
                self.version += 1;
                let centre = &mut self.centres[at];
                let number = centre.ledger.append([self.version]);
                centre.noted.push(New { log: centre.ledger.own(), number, entry: self.version });
                (centre.done, centre.stored, centre.promised) = (centre.done + 1, None, self.version);
            }
            Step::Ask { at, whom } => {
                let centre = &self.centres[at];
                if let Some(version) = centre.stored {
                    let is_kept = version >= centre.promised || !self.is_promised;
                    prop_assert!(is_kept, "{at} serves {version}");
                    return Ok(());
                }
                let run = centre.ledger.own().0;
                let position = centre.ledger.position();
                let began = centre.done;
                let to = whom.filter(|&to| to != at);
                self.flights.push(Flight::Request { from: at, run, to, began, position });
            }
            Step::Arrive { which } => {
                if self.flights.is_empty() {
                    return Ok(());
                }
                let flight = self.flights.remove(which % self.flights.len());
                self.arrive(flight)?;
            }
            Step::Tell { from, to } => self.tell(from, to),
            Step::Send { from, to } => self.send(from, to),
            Step::Cut { a, b } => {
                let pair = (a.min(b), a.max(b));
                if a != b && !self.cut.remove(&pair) {
                    self.cut.insert(pair);
                }
            }
            Step::File { at, other } => {
                let missing = &mut self.centres[at].missing;
                if at != other && !missing.remove(&other) {
                    missing.insert(other);
                }
            }
            Step::Restart { at } => {
                let to = (at + 1) % CENTRES;
                self.tell_all(at, to)?;
                let position = self.centres[at].ledger.position();
                if !self.centres[to].ledger.covers(&position) && !self.in_stream().covers(&position) {
                    return Ok(());
                }
                self.runs += 1;
                let missing = self.centres[at].missing.clone();
                self.centres[at] = Centre { missing, ..Centre::new(self.runs) };
            }
            Step::Resume { at } => {
                self.runs += 1;
                let before = &self.centres[at];
                let mut again = Centre::new(self.runs);
                before.noted.iter().for_each(|&new| again.ledger.resume(new));
                again.ledger.resume_at(&before.reached);
                prop_assert_eq!(again.ledger.position(), before.ledger.position());
                (again.noted, again.reached) = (before.noted.clone(), before.reached.clone());
                again.missing.clone_from(&before.missing);
                (again.done, again.stored, again.promised) = (before.done, before.stored, before.promised);
                self.centres[at] = again;
            }
            Step::Look { at } => self.centres[at].look(),
            Step::Put { at } => self.put(at),
            Step::Read { at, messages } => self.read(at, messages),
            Step::Say { from, to } => self.say(from, to),
        }
        Ok(())
    }

    fn arrive(&mut self, flight: Flight) -> Result<(), TestCaseError> {
        match flight {
            Flight::Request { from, run, to, began, position } => {
                let version = match to {
                    Some(to) if self.reach(from, to) => {
                        // The receiver is behind: it catches up with the sender, or fails the
                        // request.
                        for _ in 0..ENOUGH {
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
                    let is_kept = version >= centre.promised || !self.is_promised;
                    prop_assert!(is_kept, "{to} stores {version}");
                    centre.stored = Some(version);
                }
            }
            Flight::Message { from, to, message } => {
                if self.reach(from, to) {
                    self.centres[to].take(from, &message);
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
        4 => (centre(), centre()).prop_map(|(from, to)| Step::Send { from, to }),
        1 => (centre(), centre()).prop_map(|(a, b)| Step::Cut { a, b }),
        1 => centre().prop_map(|at| Step::Restart { at }),
        1 => centre().prop_map(|at| Step::Resume { at }),
        2 => centre().prop_map(|at| Step::Look { at }),
    ]
}

fn steps_with_files() -> impl Strategy<Value = Step> {
    let file = (0..CENTRES, 0..CENTRES).prop_map(|(at, other)| Step::File { at, other });
    prop_oneof![15 => steps(), 1 => file]
}

proptest! {
    #![proptest_config(proptest_cases::or(2000))]

    #[test]
    fn no_visitor_sees_what_was_there_before_an_acknowledged_purge(
        steps in prop::collection::vec(steps(), 1..120)
    ) {
        let mut world = World::new(true);
        for step in steps {
            world.step(step)?;
        }
        world.come_together()?;
    }

    /// A data centre whose network file lacks another one treats that one's log as ended.
    #[test]
    fn all_hear_of_everything_though_files_of_the_network_differed(
        steps in prop::collection::vec(steps_with_files(), 1..120)
    ) {
        let mut world = World::new(false);
        for step in steps {
            world.step(step)?;
        }
        world.come_together()?;
    }
}
