//! Histories of a correct store, which contain no violation, and each kind of violation injected
//! into them.

use proptest::prelude::*;

use super::*;
use crate::version::tests::version;

const SECOND: u64 = 1_000_000_000;
const STORE: usize = 0;

/// The stamp and the value of the last write; 0 before the first.
type Known = (u64, Option<u64>);

struct Model {
    now: u64,
    known: Known,
    copies: [Option<(Known, u64)>; 3],
    lives: [u32; 3],
    kills: Vec<(usize, u64)>,
    history: Vec<Operation>,
}

type Draw = (u8, u8, u16, u16, u16);

impl Model {
    fn run(draws: &[Draw]) -> Self {
        let mut model = Self {
            now: 100 * SECOND,
            known: (0, None),
            copies: [None; 3],
            lives: [0; 3],
            kills: Vec::new(),
            history: Vec::new(),
        };
        draws.iter().for_each(|draw| model.step(*draw));
        model.forget_lives();
        model
    }

    fn step(&mut self, (what, which, gap, before, after): Draw) {
        self.now += 1 + u64::from(gap) * 60_000;
        let centre = usize::from(which) % 3;
        let sent = self.now - u64::from(before) * 10_000;
        let mut answered = self.now + u64::from(after) * 10_000;
        let did = match what % 20 {
            0 => {
                self.lives[centre] += 1;
                self.kills.push((centre, self.now));
                self.copies[centre] = None;
                return;
            }
            1 => Did::Put(self.number(), Outcome::Refused),
            2 => {
                // Applied after the client's timeout, or never.
                answered = self.now - u64::from(before) * 5_000;
                let number = self.number();
                if after % 2 == 0 {
                    self.write(Some(number));
                }
                Did::Put(number, Outcome::Unknown)
            }
            3 | 4 => Did::Delete(self.acknowledged(None, centre)),
            5..8 => {
                let number = self.number();
                Did::Put(number, self.acknowledged(Some(number), centre))
            }
            _ => Did::Read(self.read(centre, after)),
        };
        let life = Some(self.lives[centre]);
        self.history.push(Operation { key: 7, centre, life, sent, answered, did });
    }

    fn number(&self) -> u64 {
        self.history.len() as u64 + 1
    }

    fn write(&mut self, value: Option<u64>) {
        self.known = (self.known.0 + 1, value);
    }

    fn acknowledged(&mut self, value: Option<u64>, centre: usize) -> Outcome {
        self.write(value);
        self.copies[centre] = None;
        Outcome::Acknowledged(version(self.known.0, "lhr"))
    }

    fn read(&mut self, centre: usize, draw: u16) -> Seen {
        let is_young = |&(_, asked): &(_, u64)| self.now - asked < 20 * SECOND && !draw.is_multiple_of(3);
        let copy = self.copies[centre].filter(|copy| centre != STORE && is_young(copy));
        let (known, asked) = copy.unwrap_or((self.known, self.now));
        self.copies[centre] = Some((known, asked));
        Seen {
            value: known.1,
            version: (known.0 > 0).then(|| version(known.0, "lhr")),
            age: Duration::from_secs((self.now - asked) / SECOND),
            cache_ttl: None,
        }
    }

    fn forget_lives(&mut self) {
        for operation in &mut self.history {
            let has_ended = self.kills.iter().any(|(centre, at)| {
                *centre == operation.centre && (operation.sent..=operation.answered).contains(at)
            });
            if has_ended {
                operation.life = None;
            }
        }
    }
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec(any::<Draw>(), 20..200)
}

/// A history of key 7: each operation takes 1 s and starts 2 s after the start of the previous one.
fn history(did: impl IntoIterator<Item = (usize, Did)>) -> Vec<Operation> {
    let at = (1..).step_by(2).map(|second| second * SECOND);
    let operation = |((centre, did), sent)| Operation {
        key: 7,
        centre,
        life: Some(0),
        sent,
        answered: sent + SECOND,
        did,
    };
    did.into_iter().zip(at).map(operation).collect()
}

fn put(value: u64) -> Did {
    Did::Put(value, Outcome::Acknowledged(version(value, "lhr")))
}

fn delete(stamp: u64) -> Did {
    Did::Delete(Outcome::Acknowledged(version(stamp, "lhr")))
}

fn read(value: u64, age: u64) -> Did {
    seen(Some(value), Some(value), age)
}

fn seen(value: Option<u64>, stamp: Option<u64>, age: u64) -> Did {
    let version = stamp.map(|stamp| version(stamp, "lhr"));
    Did::Read(Seen { value, version, age: Duration::from_secs(age), cache_ttl: None })
}

fn kinds(history: &[Operation]) -> Vec<(Kind, usize, Option<usize>)> {
    audit(history, &Stores::One(STORE))
        .into_iter()
        .map(|found| (found.kind, found.at, found.against))
        .collect()
}

proptest! {
    #[test]
    fn nothing_is_found_where_all_is_kept(draws in draws()) {
        prop_assert_eq!(kinds(&Model::run(&draws).history), []);
    }

    #[test]
    fn a_write_that_is_lost_is_found_in_any_history(draws in draws(), is_deletion in any::<bool>()) {
        let mut model = Model::run(&draws);
        model.step((5, 0, 0, 0, 0));
        let before = model.known;
        model.now += 10 * SECOND;
        model.step((if is_deletion { 3 } else { 5 }, 1, 0, 0, 0));
        let write = model.history.len() - 1;
        model.now += 10 * SECOND;
        model.known = before;
        model.step((10, 0, 0, 0, 0));
        let kind = if is_deletion { Kind::Resurrected } else { Kind::Lost };
        prop_assert_eq!(kinds(&model.history), [(kind, write + 1, Some(write))]);
    }

    #[test]
    fn a_stale_read_is_found_in_any_history(draws in draws()) {
        let mut model = Model::run(&draws);
        model.step((5, 0, 0, 0, 0));
        let first = model.known;
        model.now += 10 * SECOND;
        model.step((5, 0, 0, 0, 0));
        let write = model.history.len() - 1;
        model.now += 10 * SECOND;
        // The value was read before the second write, but the copy claims a later time.
        model.lives[1] += 1;
        model.copies[1] = Some((first, model.now));
        model.step((10, 1, 0, 0, 1));
        prop_assert_eq!(kinds(&model.history), [(Kind::Stale, write + 1, Some(write))]);
    }
}

#[test]
fn what_was_current_at_any_time_that_the_age_allows_is_right() {
    // The newer write is acknowledged at 4 s, the read is sent at 5 s: a reported age of 1 s, less than 2 s,
    // is correct.
    assert_eq!(kinds(&history([(0, put(1)), (0, put(2)), (1, read(1, 1))])), []);
    // Sent at 9 s, the value must be 5 s old.
    let later =
        |age| history([(0, put(1)), (0, put(2)), (0, read(2, 0)), (0, read(2, 0)), (1, read(1, age))]);
    assert_eq!(kinds(&later(3)), [(Kind::Stale, 4, Some(1))]);
    assert_eq!(kinds(&later(4)), []);
    assert_eq!(kinds(&later(61)), [(Kind::TooOld, 4, None)]);
}

#[test]
fn where_the_store_is_a_read_sees_what_was_acknowledged() {
    let lost = history([(1, put(1)), (2, put(2)), (0, read(1, 5))]);
    assert_eq!(kinds(&lost), [(Kind::Lost, 2, Some(1))]);
    let stale = history([(1, put(1)), (2, put(2)), (0, read(1, 5)), (0, read(2, 0))]);
    assert_eq!(kinds(&stale), [(Kind::Stale, 2, Some(1))]);
    let none = history([(1, put(1)), (0, seen(None, None, 0))]);
    assert_eq!(kinds(&none), [(Kind::Lost, 1, Some(0))]);
    let mut beside = stale;
    beside[2].sent = beside[1].answered;
    assert_eq!(kinds(&beside), []);
}

#[test]
fn a_deleted_value_is_not_there_again() {
    let back = |last| history([(0, put(1)), (0, delete(2)), (0, last)]);
    assert_eq!(kinds(&back(read(1, 0))), [(Kind::Resurrected, 2, Some(1))]);
    assert_eq!(kinds(&back(seen(None, Some(2), 0))), []);
    assert_eq!(kinds(&back(seen(None, None, 0))), []);
    let unsure = history([(0, put(1)), (0, Did::Delete(Outcome::Unknown)), (0, seen(None, None, 0))]);
    assert_eq!(kinds(&unsure), []);
    let refused = history([(0, put(1)), (0, Did::Delete(Outcome::Refused)), (0, seen(None, None, 0))]);
    assert_eq!(kinds(&refused), [(Kind::Lost, 2, Some(0))]);
}

#[test]
fn a_value_that_was_read_was_written() {
    let of = |write, last| kinds(&history([(0, put(1)), (0, write), (1, last)]));
    assert_eq!(of(put(2), read(3, 0)), [(Kind::Unwritten, 2, None)]);
    assert_eq!(of(Did::Put(2, Outcome::Refused), read(2, 0)), [(Kind::Refused, 2, Some(1))]);
    assert_eq!(of(Did::Put(2, Outcome::Unknown), read(2, 0)), []);
    assert_eq!(of(put(2), seen(Some(2), Some(3), 0)), [(Kind::Mixed, 2, Some(1))]);
    assert_eq!(of(put(2), seen(None, Some(2), 0)), [(Kind::Mixed, 2, Some(1))]);
    assert_eq!(of(Did::Put(2, Outcome::Unknown), seen(Some(2), Some(1), 0)), [(Kind::Mixed, 2, Some(0))]);
    let early = history([(1, read(1, 0)), (0, put(1))]);
    assert_eq!(kinds(&early), [(Kind::Unwritten, 0, Some(1))]);
    let mut other_key = history([(0, put(1)), (0, read(1, 0))]);
    other_key[1].key = 8;
    assert_eq!(kinds(&other_key), [(Kind::Unwritten, 1, None)]);
}

#[test]
fn in_one_data_centre_versions_do_not_go_back_in_one_life() {
    let mut back = history([(0, put(1)), (0, put(2)), (1, read(2, 0)), (1, read(1, 20))]);
    assert_eq!(kinds(&back), [(Kind::WentBack, 3, Some(2))]);
    back[3].centre = 2;
    assert_eq!(kinds(&back), []);
    back[3] = Operation { centre: 1, life: Some(1), ..back[3].clone() };
    assert_eq!(kinds(&back), []);
    back[3].life = None;
    assert_eq!(kinds(&back), []);
    let own = history([(0, put(1)), (1, put(2)), (1, read(1, 20))]);
    assert_eq!(kinds(&own), [(Kind::WentBack, 2, Some(1))]);
    // The store is persistent across processes, also for writes without a response.
    let unsure = Did::Put(2, Outcome::Unknown);
    let mut file = history([(0, put(1)), (1, unsure), (0, read(2, 0)), (0, read(1, 0))]);
    file[3].life = Some(1);
    assert_eq!(kinds(&file), [(Kind::WentBack, 3, Some(2))]);
}

#[test]
fn of_two_writes_the_later_one_is_the_newer_one() {
    let late = history([(0, put(2)), (1, put(1))]);
    assert_eq!(kinds(&late), [(Kind::Disordered, 1, Some(0))]);
    let mut beside = late;
    beside[1].sent = beside[0].sent;
    assert_eq!(kinds(&beside), []);
}

#[test]
fn of_two_stores_both_know_the_newest_version_in_the_end() {
    let found = |history: &[Operation]| -> Vec<_> {
        let stores = Stores::Two { at: [0, 2], well_until: 10 * SECOND };
        audit(history, &stores).into_iter().map(|found| (found.kind, found.at, found.against)).collect()
    };
    let apart = [(0, put(2)), (2, put(1)), (2, read(1, 0)), (1, read(1, 0))];
    let after = |ends: [Did; 2]| {
        let [here, there] = ends;
        history(apart.iter().cloned().chain([(0, here), (2, there)]))
    };
    assert_eq!(found(&after([read(2, 0), read(2, 0)])), []);
    assert_eq!(found(&after([read(2, 0), read(1, 0)])), [(Kind::Lost, 5, Some(0))]);
    assert_eq!(found(&after([seen(None, None, 0), read(2, 0)])), [(Kind::Lost, 4, Some(0))]);
    let deleted = history([(0, put(1)), (0, delete(2)), (2, read(1, 0)), (2, read(1, 0))]);
    assert_eq!(found(&deleted), [(Kind::Resurrected, 3, Some(1))]);
    let mut back = history([(0, put(1)), (0, put(2)), (1, read(2, 0)), (1, read(1, 0))]);
    assert_eq!(found(&back), [(Kind::WentBack, 3, Some(2))]);
    back[3].answered = 10 * SECOND;
    assert_eq!(found(&back), []);
    // The write was repeated, because the other store had a newer record. The first store never
    // accepts an older version.
    let again = |version| {
        history([(1, put(5)), (0, seen(Some(5), Some(version), 0)), (0, read(5, 0)), (2, read(5, 0))])
    };
    assert_eq!(found(&again(3)), []);
    assert_eq!(found(&again(7)), [(Kind::Mixed, 1, Some(0)), (Kind::WentBack, 2, Some(1))]);
}
