//! Tests of the store's interface.

use std::fs;

use segment_store::{Config, Error, State, Store};

use crate::bodies::{body, config, find_one, put, read};

const MIB: u64 = 1 << 20;

fn open(config: &Config) -> Store {
    Store::open(config.clone()).unwrap().0
}

#[test]
fn an_object_is_found_whole_and_in_parts_before_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 * MIB);
    let lengths = [0, 1, 8_000, 65_536, 65_537, 200_000, 3 * 65_536];
    for round in 0..2 {
        let store = open(&config);
        for (key, length) in (0_u64..).zip(lengths) {
            if round == 0 {
                put(&store, key, length);
            }
            let found = find_one(&store, key).unwrap();
            assert_eq!((found.length, &found.head[..]), (length as u64, &b"head"[..]));
            let whole = body(key, length);
            assert_eq!(read(&store, &found, ..), whole);
            let middle = length as u64 / 3..length as u64 / 2;
            assert_eq!(read(&store, &found, middle.clone()), whole[length / 3..length / 2]);
            assert_eq!(read(&store, &found, middle.end..), whole[length / 2..]);
            assert_eq!(store.read(&found, length as u64 + 5..).count(), 0);
        }
        assert!(store.find(b"another").unwrap().is_empty() && !store.contains(b"another"));
        assert_eq!(store.usage().objects, lengths.len() as u64);
    }
}

#[test]
fn only_the_blocks_that_are_asked_for_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&config(&folder, 64 * MIB));
    put(&store, 1, 1_000_000);
    let found = find_one(&store, 1).unwrap();
    // Bytes 65 535 and 65 536 are in two blocks, 70 000 to 80 000 in one.
    assert_eq!(store.read(&found, 65_535..=65_536).count(), 2);
    assert_eq!(store.read(&found, 70_000..80_000).count(), 1);
}

#[test]
fn objects_that_come_at_once_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 * MIB);
    let store = open(&config);
    std::thread::scope(|scope| {
        for key in 0..8 {
            let store = &store;
            scope.spawn(move || put(store, key, 1_000_000 + usize::try_from(key).unwrap()));
        }
    });
    drop(store);
    let store = open(&config);
    for key in 0..8 {
        let found = find_one(&store, key).unwrap();
        assert_eq!(read(&store, &found, ..), body(key, 1_000_000 + usize::try_from(key).unwrap()));
    }
}

#[test]
fn an_object_that_is_not_finished_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 * MIB);
    let store = open(&config);
    let mut writer = store.begin(&0_u64.to_le_bytes(), b"head").unwrap();
    writer.write(&body(0, 300_000)).unwrap();
    assert!(find_one(&store, 0).is_none());
    drop(writer);
    assert!(find_one(&store, 0).is_none());
    drop(store);
    assert!(find_one(&open(&config), 0).is_none());
}

#[test]
fn variants_have_one_key_and_the_newest_is_first() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 * MIB);
    let store = open(&config);
    let mut ids = Vec::new();
    for head in [b"a", b"b", b"c"] {
        ids.push(store.begin(b"key", head).unwrap().finish().unwrap());
    }
    assert!(store.remove(ids[1]).unwrap());
    assert!(!store.remove(ids[1]).unwrap());
    drop(store);
    let store = open(&config);
    let heads: Vec<_> = store.find(b"key").unwrap().into_iter().map(|found| found.head).collect();
    assert_eq!(heads, [b"c", b"a"]);
}

#[test]
fn a_new_head_leaves_the_body_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 64 * MIB);
    let store = open(&config);
    let id = put(&store, 1, 1_000_000);
    let before = store.usage().bytes;
    assert!(store.replace(id, b"another head").unwrap());
    assert!(store.usage().bytes - before < 1_000);
    drop(store);
    let store = open(&config);
    let found = find_one(&store, 1).unwrap();
    assert_eq!((found.id, &found.head[..]), (id, &b"another head"[..]));
    assert_eq!(read(&store, &found, ..), body(1, 1_000_000));
    assert!(store.remove(id).unwrap());
    assert!(!store.replace(id, b"too late").unwrap());
}

#[test]
fn the_oldest_goes_first_and_what_was_read_stays() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 8 * MIB);
    let store = open(&config);
    // 2000 objects of 8 kB are twice the capacity.
    for key in 0..2_000 {
        put(&store, key, 8_000);
        let first = find_one(&store, 0).unwrap();
        assert_eq!(read(&store, &first, ..), body(0, 8_000));
        assert!(store.usage().bytes <= config.capacity);
    }
    let usage = store.usage();
    assert!(find_one(&store, 1).is_none());
    assert_eq!(usage.objects + usage.evicted, 2_000);
    assert!(usage.objects * 8_000 > config.capacity * 9 / 10, "{usage:?}");
    let there: Vec<_> = (2..2_000).filter(|key| find_one(&store, *key).is_some()).collect();
    assert!(there.iter().zip(&there[1..]).all(|(one, next)| one + 1 == *next));
    assert!(there.contains(&1_999) && usage.carried > 0);
}

#[test]
fn a_store_where_all_is_read_still_takes_new_objects() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&config(&folder, 2 * MIB));
    for key in 0..1_000 {
        put(&store, key, 8_000);
        assert_eq!(read(&store, &find_one(&store, key).unwrap(), ..), body(key, 8_000));
        assert!(store.usage().bytes <= 2 * MIB);
    }
    assert!(store.usage().carried > 0 && store.usage().evicted > 0);
}

#[test]
fn what_is_being_read_can_be_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&config(&folder, 2 * MIB));
    put(&store, 0, 500_000);
    let found = find_one(&store, 0).unwrap();
    let mut body_of_it = store.read(&found, ..);
    let first = body_of_it.next().unwrap().unwrap();
    for key in 1..500 {
        put(&store, key, 8_000);
    }
    assert!(find_one(&store, 0).is_none());
    let rest: Vec<_> = body_of_it.flat_map(|piece| piece.unwrap().to_vec()).collect();
    assert_eq!([&first[..], &rest].concat(), body(0, 500_000));
}

#[test]
fn segments_that_nobody_needs_are_deleted_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 32 * MIB);
    let store = open(&config);
    // Segments of 1 MiB: the large object fills ten of them.
    put(&store, 0, 1_000);
    let large = put(&store, 1, 10_000_000);
    put(&store, 2, 1_000);
    assert!(store.usage().bytes > 10_000_000);
    assert!(store.remove(large).unwrap());
    assert!(store.usage().bytes < 3_000_000, "{:?}", store.usage());
    drop(store);
    let store = open(&config);
    assert!(find_one(&store, 1).is_none());
    assert!(find_one(&store, 0).is_some() && find_one(&store, 2).is_some());
}

#[test]
fn a_writer_that_is_overtaken_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&config(&folder, MIB));
    let mut slow = store.begin(b"slow", b"").unwrap();
    slow.write(&body(0, 100_000)).unwrap();
    for key in 0..200 {
        put(&store, key, 8_000);
    }
    assert!(matches!(slow.finish(), Err(Error::Overtaken)));
    assert!(store.find(b"slow").unwrap().is_empty());
    assert_eq!(store.state(), State::Working);
}

#[test]
fn what_is_too_large_is_refused_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&config(&folder, 4 * MIB));
    let mut writer = store.begin(b"key", b"").unwrap();
    writer.write(&vec![0; 2 << 20]).unwrap();
    let error = writer.write(b"x").unwrap_err();
    assert_eq!(error.to_string(), "a body of 2097153 bytes exceeds the limit of 2097152");
    assert!(matches!(writer.finish(), Err(Error::Incomplete)));
    assert!(store.begin(&vec![0; (64 << 10) + 1], b"").is_err());
    assert!(store.begin(b"", &vec![0; (1 << 20) + 1]).is_err());
    assert!(store.note(&vec![0; (1 << 20) + 1]).is_err());
    assert!(matches!(Store::open(config(&folder, MIB - 1)), Err(Error::TooSmall { .. })));
}

#[test]
fn all_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 8 * MIB);
    let store = open(&config);
    for key in 0..500 {
        put(&store, key, 8_000);
    }
    let removed = put(&store, 500, 10);
    store.remove(removed).unwrap();
    store.clear().unwrap();
    assert_eq!((store.usage().objects, store.usage().segments), (0, 1));
    put(&store, 7, 10);
    drop(store);
    let store = open(&config);
    assert_eq!(store.usage().objects, 1);
    assert!(find_one(&store, 7).is_some());
}

#[test]
fn notes_come_back_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, MIB);
    let notes = |config: &Config| Store::open(config.clone()).unwrap().1.notes;
    {
        let store = open(&config);
        for note in ["one", "", "three"] {
            store.note(note.as_bytes()).unwrap();
        }
    }
    assert_eq!(notes(&config), [&b"one"[..], b"", b"three"]);
    {
        let store = open(&config);
        store.rewrite_notes(["two"]).unwrap();
        store.note(b"four").unwrap();
    }
    assert_eq!(notes(&config), [&b"two"[..], b"four"]);
}

#[test]
fn a_directory_has_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, MIB);
    let store = open(&config);
    let error = Store::open(config.clone()).unwrap_err();
    assert!(error.to_string().contains("is in use by another process; stop that process"), "{error}");
    drop(store);
    open(&config);
}

#[test]
fn another_version_is_refused_and_left_alone() {
    for name in ["store", "segment-00000001.log", "journal"] {
        let folder = tempfile::tempdir().unwrap();
        let config = config(&folder, MIB);
        put(&open(&config), 1, 10);
        let path = folder.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 9;
        fs::write(&path, &bytes).unwrap();
        let error = Store::open(config).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("has version 9 of the format"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn one_process_leaves_the_directory_to_another_and_reads_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 8 << 20);
    let before = open(&config);
    put(&before, 1, 100_000);
    before.note(b"one").unwrap();
    let mut begun = before.begin(b"broken off", b"").unwrap();
    begun.write(&[0; 100_000]).unwrap();
    before.release();
    assert_eq!(before.state(), State::Released);

    let (after, opened) = Store::open(config.clone()).unwrap();
    assert_eq!((opened.notes, opened.scanned), (vec![b"one".to_vec()], 0));
    put(&after, 2, 1000);
    after.note(b"two").unwrap();
    let refused = [
        begun.finish().map(drop),
        before.begin(b"key", b"").map(drop),
        before.note(b"three"),
        before.rewrite_notes([b"three"]),
        before.remove(find_one(&after, 1).unwrap().id).map(drop),
        before.clear(),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(Error::Released)), "{refused:?}");
    }
    drop(after);
    let (again, opened) = Store::open(config.clone()).unwrap();
    assert_eq!(opened.notes, [b"one", b"two"]);
    for (key, length) in [(1, 100_000), (2, 1000)] {
        let found = find_one(&again, key).unwrap();
        assert!(read(&again, &found, ..) == body(key, length));
    }
}

#[test]
fn what_was_found_is_read_to_its_end_after_another_process_gave_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, 8 << 20);
    let before = open(&config);
    put(&before, 1, 300_000);
    before.release();
    let after = open(&config);
    for key in 2..60 {
        put(&after, key, 300_000);
    }
    assert!(find_one(&after, 1).is_none(), "it was given up");
    let found = find_one(&before, 1).unwrap();
    assert!(read(&before, &found, ..) == body(1, 300_000));
}
