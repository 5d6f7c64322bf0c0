//! A file of results: stored, found, expired, full, and invalid.

use std::{fs, path::Path, time::Duration};

use tempfile::TempDir;

use super::{store::Most, *};
use crate::{rubric::Measured, wire::Token};

const DAY: Duration = Duration::from_secs(86_400);
const SPRING: u64 = 1_777_852_800;

fn config(directory: &TempDir) -> Config {
    Config { path: directory.path().join("results.redb"), keep_for: 30 * DAY }
}

fn at(steady: Duration, wall_s: u64) -> Moment {
    Moment { steady, wall_s }
}

fn row(number: u8) -> Row {
    Row {
        id: Token([number; 16]),
        kept_s: SPRING,
        network: "192.0.2.0/24".to_owned(),
        plan: "quick".to_owned(),
        protocol: "h3".to_owned(),
        measured: Measured { idle_ms: Some(f64::from(number)), ..Measured::default() },
    }
}

fn ids(store: &Store, now: Moment) -> Vec<u8> {
    let mut ids = Vec::new();
    store.rows(now, |row| ids.push(row.id.0[0])).unwrap();
    ids
}

#[test]
fn a_result_is_found_again_until_its_time_is_over() {
    let directory = TempDir::new().unwrap();
    let start = at(Duration::ZERO, SPRING);
    let store = Store::open(&config(&directory), start).unwrap();
    store.keep(start, &row(1), b"one").unwrap();
    store.keep(at(10 * DAY, SPRING + 864_000), &row(2), b"two").unwrap();
    let found = |store: &Store, number: u8, now| store.outcome(now, Token([number; 16])).unwrap();
    let later = at(29 * DAY, SPRING);
    assert_eq!(found(&store, 1, later).as_deref(), Some(&b"one"[..]));
    assert_eq!(found(&store, 3, later), None);
    let mut rows = Vec::new();
    store.rows(later, |row| rows.push(row)).unwrap();
    assert_eq!(rows, [row(1), row(2)]);
    let over = at(30 * DAY, SPRING);
    assert_eq!((found(&store, 1, over), ids(&store, over), store.held()), (None, vec![2], 2));
    store.sweep(over).unwrap();
    assert_eq!((ids(&store, over), store.held()), (vec![2], 1));
}

#[test]
fn a_clock_that_is_set_makes_nothing_older_or_younger() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(&config(&directory), at(Duration::ZERO, SPRING)).unwrap();
    store.keep(at(DAY, SPRING), &row(1), b"one").unwrap();
    // The wall clock moves ten years ahead, and then back to 1970, while the monotonic clock
    // advances by a day each.
    for (days, wall_s) in [(2, SPRING + 315_360_000), (3, 0)] {
        let now = at(days * DAY, wall_s);
        store.keep(now, &row(u8::try_from(days).unwrap()), b"more").unwrap();
        store.sweep(now).unwrap();
        assert_eq!(ids(&store, now).len(), usize::try_from(days).unwrap());
    }
    drop(store);
    store_is_as_old_as_before(&directory, 0, &[1, 2, 3]);
    // The first result has an age of 2 + 27 = 29 days.
    store_is_as_old_as_before(&directory, 27 * 86_400, &[1, 2, 3]);
    store_is_as_old_as_before(&directory, 28 * 86_400, &[2, 3]);
}

#[test]
fn a_start_in_1970_and_a_crash_remove_nothing() {
    let directory = TempDir::new().unwrap();
    let right = at(Duration::ZERO, SPRING);
    Store::open(&config(&directory), right).unwrap().keep(right, &row(1), b"one").unwrap();
    let unset = at(Duration::ZERO, 30);
    Store::open(&config(&directory), unset).unwrap().sweep(unset).unwrap();
    for (days, expected) in [(29, vec![1]), (30, vec![])] {
        let now = at(Duration::ZERO, SPRING + days * 86_400);
        assert_eq!(ids(&Store::open(&config(&directory), now).unwrap(), now), expected, "{days} days on");
    }
}

#[test]
fn a_sweep_removes_all_that_is_over() {
    let directory = TempDir::new().unwrap();
    let start = at(Duration::ZERO, SPRING);
    let most = Most { results: 100, bytes: 1 << 20, at_once: 2 };
    let store = Store::with_most(&config(&directory), start, most).unwrap();
    for number in 1..=5 {
        store.keep(start, &row(number), b"one").unwrap();
    }
    store.sweep(at(30 * DAY, SPRING)).unwrap();
    assert_eq!(store.held(), 0);
}

fn store_is_as_old_as_before(directory: &TempDir, between_s: u64, expected: &[u8]) {
    // The last stored time is ten years ahead, and 0 counts as no time: store the current time
    // first.
    let copy = TempDir::new().unwrap();
    fs::copy(config(directory).path, config(&copy).path).unwrap();
    let now = at(Duration::ZERO, SPRING);
    Store::open(&config(&copy), now).unwrap().sweep(now).unwrap();
    let then = at(Duration::ZERO, SPRING + between_s);
    let store = Store::open(&config(&copy), then).unwrap();
    assert_eq!(ids(&store, then), expected, "{between_s}");
    drop(store);
    let back = at(Duration::ZERO, SPRING - 1000);
    assert_eq!(ids(&Store::open(&config(&copy), back).unwrap(), back), [1, 2, 3]);
}

#[test]
fn the_oldest_give_way() {
    let directory = TempDir::new().unwrap();
    let start = at(Duration::ZERO, SPRING);
    let length = row(1).encode().len() as u64 + 100;
    let few =
        Store::with_most(&config(&directory), start, Most { results: 3, bytes: 10 * length, at_once: 9 })
            .unwrap();
    for number in 1..=5 {
        few.keep(start, &row(number), &[b'x'; 100]).unwrap();
    }
    assert_eq!(ids(&few, start), [3, 4, 5]);
    assert_eq!(few.outcome(start, Token([1; 16])).unwrap(), None);
    drop(few);
    let small =
        Store::with_most(&config(&directory), start, Most { results: 9, bytes: 2 * length, at_once: 9 })
            .unwrap();
    small.keep(start, &row(6), &[b'x'; 100]).unwrap();
    assert_eq!((ids(&small, start), small.held()), (vec![5, 6], 2));
}

#[test]
fn a_file_that_is_closed_is_left_to_the_next() {
    let directory = TempDir::new().unwrap();
    let start = at(Duration::ZERO, SPRING);
    let store = Store::open(&config(&directory), start).unwrap();
    store.keep(start, &row(1), b"one").unwrap();
    store.close(start);
    let next = Store::open(&config(&directory), start).unwrap();
    assert_eq!(next.outcome(start, Token([1; 16])).unwrap().as_deref(), Some(&b"one"[..]));
    assert!(matches!(store.sweep(start), Err(kv_redb::Error::Released)));
    assert!(store.keep(start, &row(2), b"two").is_err() && store.outcome(start, Token([1; 16])).is_err());
    assert_eq!(next.held(), 1);
}

fn refused(path: &Path) -> String {
    let config = Config { path: path.to_owned(), keep_for: DAY };
    let refused = Store::open(&config, at(Duration::ZERO, SPRING)).err().expect("it cannot be opened");
    refused.to_string().replace(&path.parent().unwrap().display().to_string(), "DIR")
}

#[test]
fn a_file_that_is_none_is_refused_in_words() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let store = Store::open(&config(&directory), at(Duration::ZERO, SPRING)).unwrap();
    assert!(refused(&path).starts_with("the store DIR/results.redb is in use by another process"));
    drop(store);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..whole.len() / 2], &vec![0x55; whole.len() / 2][..]].concat()).unwrap();
    assert!(refused(&path).contains("DIR/results.redb"), "{}", refused(&path));
    let text = directory.path().join("text");
    fs::write(&text, "what somebody wrote").unwrap();
    assert_eq!(refused(&text), "DIR/text is not a store; move it away, or name another file");
    let elsewhere = directory.path().join("none/results");
    assert!(refused(&elsewhere).starts_with("cannot open the store DIR/results"), "{}", refused(&elsewhere));
}

#[test]
fn the_store_of_something_else_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("kv.redb");
    let name = kv::StoreName::new("lhr").unwrap();
    let config =
        kv_redb::Config { path: path.clone(), name, memory: 1 << 20, company: kv_redb::Pairing::Alone };
    kv_redb::RedbStore::open(&config, || kv::Millis(0)).unwrap().close();
    assert_eq!(refused(&path), "DIR/kv.redb is not a store; move it away, or name another file");
    assert!(kv_redb::RedbStore::open(&config, || kv::Millis(0)).is_ok(), "it is as it was");
}
