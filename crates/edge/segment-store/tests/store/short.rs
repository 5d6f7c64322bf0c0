//! Tests of one-block bodies that are read without a lookup.

use std::{
    fs::{self, File},
    os::{fd::AsFd, unix::fs::FileExt},
};

use segment_store::{BlockRef, Id, Store, Wait, format::BLOCK};

use crate::bodies::{body, config, find_one, put};

const LENGTH: usize = 8000;

fn stored(capacity: u64) -> (tempfile::TempDir, Store, Id, BlockRef) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(config(&folder, capacity)).unwrap().0;
    let id = put(&store, 1, LENGTH);
    let short = find_one(&store, 1).unwrap().short().unwrap();
    (folder, store, id, short)
}

#[test]
fn it_is_read_as_it_was_written() {
    let (_folder, store, _, short) = stored(64 << 20);
    for _ in 0..2 {
        assert!(short.stands());
        assert_eq!(short.read(Wait::ForDisk).unwrap()[..], body(1, LENGTH));
        let (file, at) = short.place().unwrap();
        let mut bytes = vec![0; usize::try_from(short.bytes()).unwrap()];
        File::from(file.as_fd().try_clone_to_owned().unwrap()).read_exact_at(&mut bytes, at).unwrap();
        assert_eq!(bytes, body(1, LENGTH));
    }
    for (length, is_short) in [(0, false), (1, true), (BLOCK, true), (BLOCK + 1, false)] {
        put(&store, 2, length);
        let short = find_one(&store, 2).unwrap().short();
        let read = short.as_ref().map(|short| short.read(Wait::ForDisk).unwrap().to_vec());
        assert_eq!(read, is_short.then(|| body(2, length)), "{length}");
    }
}

#[test]
fn it_stands_until_something_happens_under_its_key() {
    let happenings: [fn(&Store, Id); 6] = [
        |store, _| {
            put(store, 1, LENGTH);
        },
        |store, id| assert!(store.replace(id, b"another head").unwrap()),
        |store, id| assert!(store.remove(id).unwrap()),
        |store, _| store.clear().unwrap(),
        |store, _| store.outdate(&1_u64.to_le_bytes()),
        |store, _| find_one(store, 1).unwrap().body.kept().give_up(),
    ];
    for (number, happening) in happenings.into_iter().enumerate() {
        let (_folder, store, id, short) = stored(64 << 20);
        assert!(short.stands());
        happening(&store, id);
        assert!(!short.stands(), "{number}");
    }
}

#[test]
fn it_ends_with_its_segment_wherever_its_object_goes() {
    for is_used in [false, true] {
        let (_folder, store, _, short) = stored(2 << 20);
        if is_used {
            short.mark();
        }
        let mut key = 2;
        while short.stands() {
            put(&store, key, BLOCK);
            key += 1;
            assert!(key < 100, "the first segment is not given up");
        }
        let again = find_one(&store, 1);
        assert_eq!(again.is_some(), is_used);
        if let Some(again) = again {
            assert_eq!(again.short().unwrap().read(Wait::ForDisk).unwrap()[..], body(1, LENGTH));
        }
    }
}

#[test]
fn damage_is_not_given_out() {
    let (folder, store, _, short) = stored(64 << 20);
    store.sync().unwrap();
    let segment = folder.path().join("segment-00000001.log");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[1000] ^= 1;
    fs::write(&segment, bytes).unwrap();
    assert!(short.read(Wait::ForDisk).is_err());
}
