//! Tests of truncated and damaged files: all returned data is correct.

use std::{
    fs,
    path::{Path, PathBuf},
};

use segment_store::{Config, Opened, Store};

use crate::bodies::{below, body, config, find_one, put, random, read};

struct Victim {
    config: Config,
    path: PathBuf,
    bytes: Vec<u8>,
    others: Vec<(PathBuf, Vec<u8>)>,
}

impl Victim {
    fn of(config: &Config, name: &str) -> Self {
        let path = config.directory.join(name);
        let files = fs::read_dir(&config.directory).unwrap().map(|entry| entry.unwrap().path());
        let others: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        Self { config: config.clone(), bytes: fs::read(&path).unwrap(), path, others }
    }

    fn open(&self, bytes: &[u8]) -> Result<(Store, Opened), segment_store::Error> {
        for entry in fs::read_dir(&self.config.directory).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (path, bytes) in &self.others {
            fs::write(path, bytes).unwrap();
        }
        fs::write(&self.path, bytes).unwrap();
        Store::open(self.config.clone())
    }

    fn flipped(&self, bit: usize) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    }
}

const SEGMENT: &str = "segment-00000001.log";

/// Objects 0 to 3. Object 2 has two blocks and a new head, and object 3 is removed.
fn fill(config: &Config) -> Store {
    let store = Store::open(config.clone()).unwrap().0;
    put(&store, 0, 100);
    put(&store, 1, 0);
    let id = put(&store, 2, 70_000);
    store.replace(id, b"new").unwrap();
    let removed = put(&store, 3, 50);
    store.remove(removed).unwrap();
    store
}

fn look(store: &Store, key: u64, length: usize) -> Option<Vec<u8>> {
    let found = find_one(store, key)?;
    assert_eq!(read(store, &found, ..), body(key, length), "{key}");
    Some(found.head)
}

fn has_what_was_there(store: &Store) {
    assert_eq!(look(store, 0, 100).unwrap(), b"head");
    assert_eq!(look(store, 1, 0).unwrap(), b"head");
    assert_eq!(look(store, 2, 70_000).unwrap(), b"new");
    assert!(find_one(store, 3).is_none());
}

#[test]
fn a_record_that_broke_off_anywhere_is_as_if_it_had_not_begun() {
    type Step = (fn(&Store), fn(&Store) -> bool);
    let steps: [Step; 3] = [
        (|store| _ = put(store, 9, 200), |store| look(store, 9, 200).is_some()),
        (
            |store| assert!(store.replace(find_one(store, 0).unwrap().id, b"newer").unwrap()),
            |store| look(store, 0, 100).unwrap() == b"newer",
        ),
        (
            |store| assert!(store.remove(find_one(store, 0).unwrap().id).unwrap()),
            |store| look(store, 0, 100).is_none(),
        ),
    ];
    for (step, is_done) in steps {
        let folder = tempfile::tempdir().unwrap();
        let config = config(&folder, 64 << 20);
        let store = fill(&config);
        let path = config.directory.join(SEGMENT);
        let before = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
        step(&store);
        drop(store);
        let victim = Victim::of(&config, SEGMENT);
        assert!(victim.bytes.len() > before);
        for length in before..=victim.bytes.len() {
            let (store, _) = victim.open(&victim.bytes[..length]).unwrap();
            assert_eq!(is_done(&store), length == victim.bytes.len(), "{length}");
            if length < victim.bytes.len() {
                has_what_was_there(&store);
            }
            put(&store, 10, 300);
            drop(store);
            let store = Store::open(config.clone()).unwrap().0;
            assert!(look(&store, 10, 300).is_some());
            assert_eq!(is_done(&store), length == victim.bytes.len(), "{length}");
        }
    }
}

/// With segments of 32 KiB: the first one is full after five objects.
fn full_segment(config: &Config) {
    let store = Store::open(config.clone()).unwrap().0;
    for key in 0..8 {
        put(&store, key, 8_000);
    }
}

#[test]
fn a_footer_that_broke_off_is_not_needed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 1 << 20);
    full_segment(&config);
    let victim = Victim::of(&config, SEGMENT);
    let whole = victim.open(&victim.bytes).unwrap();
    assert_eq!((whole.0.usage().objects, whole.1.scanned), (8, 1));
    drop(whole);
    // Header, five entries and trailer.
    let footer = 48 + 5 * 36 + 16;
    for length in victim.bytes.len() - footer..victim.bytes.len() {
        let (store, opened) = victim.open(&victim.bytes[..length]).unwrap();
        assert_eq!(opened.scanned, 2, "{length}");
        for key in 0..8 {
            assert!(look(&store, key, 8_000).is_some(), "{key} {length}");
        }
        drop(store);
        assert_eq!(Store::open(config.clone()).unwrap().1.scanned, 1);
    }
}

#[test]
fn a_flipped_bit_costs_objects_and_makes_none_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 << 20);
    drop(fill(&config));
    let mut random = random(1);
    for name in [SEGMENT, "store"] {
        let victim = Victim::of(&config, name);
        // Some bytes of the large block, and all others.
        let is_chosen = |at: &usize| {
            victim.bytes.len() < 1_000 || !(1_000..68_000).contains(at) || at.is_multiple_of(997)
        };
        let (mut refused, mut lost) = (0, 0);
        for at in (0..victim.bytes.len()).filter(is_chosen) {
            let bit = 8 * at + usize::try_from(below(&mut random, 8)).unwrap();
            let Ok((store, _)) = victim.open(&victim.flipped(bit)) else {
                refused += 1;
                continue;
            };
            let mut there = 0;
            for (key, length) in [(0, 100), (1, 0), (2, 70_000), (3, 50)] {
                let Some(found) = find_one(&store, key) else { continue };
                let pieces: Result<Vec<_>, _> = store.read(&found, ..).collect();
                let Ok(pieces) = pieces else { continue };
                let bytes: Vec<_> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
                assert_eq!(bytes, body(key, length), "{key} {bit}");
                // The older head, if the newer record is damaged.
                assert!(found.head == b"head" || (key == 2 && found.head == b"new"), "{key} {bit}");
                there += usize::from(key != 3);
            }
            lost += usize::from(there < 3);
        }
        println!("{name}: {refused} refused, {lost} with less in it");
        assert!(refused > 0 && (name == "store" || lost > 500));
    }
}

#[test]
fn a_flipped_bit_in_a_full_segment_makes_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 1 << 20);
    full_segment(&config);
    let victim = Victim::of(&config, SEGMENT);
    let mut random = random(2);
    let beginning_of_footer = victim.bytes.len() - 300;
    let chosen = (0..victim.bytes.len()).filter(|at| at % 97 == 0 || *at > beginning_of_footer);
    for at in chosen {
        let bit = 8 * at + usize::try_from(below(&mut random, 8)).unwrap();
        let Ok((store, _)) = victim.open(&victim.flipped(bit)) else { continue };
        for key in 0..8 {
            let Some(found) = find_one(&store, key) else { continue };
            let pieces: Result<Vec<_>, _> = store.read(&found, ..).collect();
            let bytes = pieces.map(|pieces| pieces.iter().flat_map(|piece| piece.to_vec()).collect());
            let is_right = bytes.as_ref().map_or(true, |bytes: &Vec<u8>| *bytes == body(key, 8_000));
            assert!(is_right, "{key} {bit}");
            if bytes.is_err() {
                assert!(store.remove(found.id).unwrap());
                assert!(find_one(&store, key).is_none());
            }
        }
    }
}

fn noted(config: &Config) {
    let store = fill(config);
    for note in ["one", "two", "three"] {
        store.note(note.as_bytes()).unwrap();
    }
}

#[test]
fn a_note_that_broke_off_was_never_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 << 20);
    noted(&config);
    let victim = Victim::of(&config, "journal");
    let whole = victim.bytes.len();
    for length in whole - 48 - 5..whole {
        // The end of the file is missing, or contains zeros.
        let zeros = vec![0; if length == whole - 48 - 5 { 30 } else { 0 }];
        let (store, opened) = victim.open(&[&victim.bytes[..length], &zeros].concat()).unwrap();
        assert_eq!(
            (&opened.notes[..], opened.has_lost_notes),
            (&[b"one".to_vec(), b"two".to_vec()][..], false)
        );
        has_what_was_there(&store);
        store.note(b"four").unwrap();
        drop(store);
        let notes = Store::open(config.clone()).unwrap().1.notes;
        assert_eq!(notes, [&b"one"[..], b"two", b"four"]);
    }
}

#[test]
fn lost_notes_leave_no_objects_that_they_could_be_about() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 << 20);
    noted(&config);
    let victim = Victim::of(&config, "journal");
    let mut refused = 0;
    for bit in 0..8 * victim.bytes.len() {
        let Ok((store, opened)) = victim.open(&victim.flipped(bit)) else {
            refused += 1;
            continue;
        };
        assert!(opened.has_lost_notes, "{bit}");
        assert!([&b"one"[..], b"two", b"three"].iter().zip(&opened.notes).all(|(note, found)| note == found));
        assert!(opened.notes.len() < 3 && store.usage().objects == 0);
        drop(store);
        let (store, again) = Store::open(config.clone()).unwrap();
        assert_eq!((again.notes, again.has_lost_notes), (opened.notes, false));
        assert_eq!(store.usage().objects, 0);
    }
    // The file header: the kind of the file is unknown.
    assert_eq!(refused, 8 * 40);
}

#[test]
fn a_segment_that_was_hardly_begun_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 << 20);
    drop(fill(&config));
    let path: &Path = &config.directory.join("segment-00000002.log");
    for length in 0..40 {
        fs::write(path, vec![0; length]).unwrap();
        has_what_was_there(&Store::open(config.clone()).unwrap().0);
    }
}
