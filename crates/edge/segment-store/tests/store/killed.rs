//! Tests that repeatedly kill a process that stores objects: acknowledged operations are preserved.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use segment_store::{Config, Store};

use crate::bodies::{below, body, find_one, put, random, read};

/// Only set for the child.
const DIRECTORY: &str = "LONGHAUL_DISK_DIRECTORY";
const KILLS: &str = "LONGHAUL_DISK_KILLS";

fn open(directory: &Path) -> (Store, segment_store::Opened) {
    Store::open(Config::new(directory, 64 << 20)).unwrap()
}

/// Derived from the key, so that objects can be verified. One in ten has several blocks.
fn length(key: u64) -> usize {
    let mut random = random(key);
    let most = if below(&mut random, 10) == 0 { 300_000 } else { 15_000 };
    usize::try_from(below(&mut random, most)).unwrap()
}

/// Removes one of four keys after storing it, and replaces the head of another one.
#[test]
#[ignore = "the process that `killed` starts and kills"]
fn child() {
    let directory = env::var_os(DIRECTORY).expect("the directory of a store");
    let (store, opened) = open(Path::new(&directory));
    let next = AtomicU64::new(env::var("LONGHAUL_DISK_FIRST").unwrap().parse().unwrap());
    let say = |what: &str, number: u64| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{what} {number}").unwrap();
        out.flush().unwrap();
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let key = next.fetch_add(1, Ordering::Relaxed);
                    let id = put(&store, key, length(key));
                    say("stored", key);
                    if key.is_multiple_of(4) {
                        store.remove(id).unwrap();
                        say("removed", key);
                    } else if key % 4 == 1 {
                        store.replace(id, b"another").unwrap();
                        say("replaced", key);
                    }
                }
            });
        }
        for note in opened.notes.len() as u64.. {
            store.note(&note.to_le_bytes()).unwrap();
            say("noted", note);
        }
    });
}

#[test]
fn killed() {
    let kills = env::var(KILLS).map_or(20_u64, |kills| kills.parse().expect("a number of kills"));
    let mut random = random(7);
    let mut folder = tempfile::tempdir().unwrap();
    let mut said: BTreeMap<(String, u64), ()> = BTreeMap::new();
    for round in 0..kills {
        // At most 30 MB in five rounds, so nothing is evicted.
        if round % 5 == 0 {
            folder = tempfile::tempdir().unwrap();
            said.clear();
        }
        let first = round << 32;
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "killed::child", "--nocapture"])
            .env(DIRECTORY, folder.path())
            .env("LONGHAUL_DISK_FIRST", first.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = 1 + usize::try_from(below(&mut random, 400)).unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let heard = |line: String| {
            let (what, number) = line.split_once(' ')?;
            let is_ours = ["stored", "removed", "replaced", "noted"].contains(&what);
            is_ours.then(|| Some(((what.to_owned(), number.parse().ok()?), ())))?
        };
        said.extend(output.by_ref().filter_map(heard).take(lines));
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(output.filter_map(heard));
        check(folder.path(), &said);
    }
}

fn check(directory: &Path, said: &BTreeMap<(String, u64), ()>) {
    let (store, opened) = open(directory);
    assert_eq!((store.usage().evicted, opened.has_lost_notes), (0, false));
    let noted = said.keys().filter(|(what, _)| what == "noted").count();
    let notes = opened.notes.iter().map(|note| u64::from_le_bytes(note[..].try_into().unwrap()));
    assert!(notes.eq(0..opened.notes.len() as u64) && opened.notes.len() >= noted, "{noted} notes");
    let was = |what: &str, key| said.contains_key(&(what.to_owned(), key));
    let keys = said.keys().filter(|(what, _)| what == "stored").map(|(_, key)| *key);
    let keys: Vec<_> = keys.collect();
    let last = keys.last().map_or(0, |last| *last);
    for key in keys.iter().copied().chain(last + 1..last + 10) {
        let Some(found) = find_one(&store, key) else {
            assert!(!was("stored", key) || key % 4 == 0, "{key} is lost");
            continue;
        };
        assert!(!was("removed", key), "{key} came back");
        assert!(!was("replaced", key) || found.head == b"another", "{key} has its old head");
        assert_eq!(read(&store, &found, ..), body(key, length(key)), "{key}");
    }
    println!("{} objects, {noted} notes, {} segments scanned", keys.len(), opened.scanned);
}
