//! Tests of bodies that are read while they are written or after their eviction.

use std::fs;

use segment_store::{Store, StoredBody, Wait, format::BLOCK};

use crate::bodies::{body, config, find_one, put};

const WHOLE: usize = 10 * BLOCK + 100;

fn read(written: &StoredBody, first: u64) -> Vec<u8> {
    written.read(first..u64::MAX, Wait::ForDisk).flat_map(|piece| piece.unwrap().to_vec()).collect()
}

#[test]
fn what_is_written_is_read_before_the_rest_comes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(config(&folder, 64 << 20)).unwrap().0;
    let body = body(1, WHOLE);
    let mut writer = store.begin(b"key", b"old").unwrap();
    let written = writer.written();
    let mut rest = &body[..];
    while let Some((now, later)) =
        rest.split_at_checked(50_000.min(rest.len())).filter(|(now, _)| !now.is_empty())
    {
        writer.write(now).unwrap();
        rest = later;
        // The last block waits for more bytes.
        let there = written.bytes();
        assert_eq!(there, ((writer.length() - 1) / BLOCK as u64) * BLOCK as u64);
        assert_eq!(
            read(&written, there / 2),
            body[usize::try_from(there / 2).unwrap()..usize::try_from(there).unwrap()]
        );
    }
    assert!(store.find(b"key").unwrap().is_empty());
    writer.replace_head(b"new").unwrap();
    writer.finish().unwrap();
    assert_eq!(read(&written, 0), body);
    let found = store.find(b"key").unwrap().pop().unwrap();
    assert_eq!((found.head, read(&found.body, 0)), (b"new".to_vec(), body));
}

#[test]
fn what_is_kept_is_there_until_the_store_gives_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(config(&folder, 2 << 20)).unwrap().0;
    put(&store, 1, WHOLE);
    let kept = find_one(&store, 1).unwrap().body.kept();
    let written = kept.written().unwrap();
    assert_eq!((kept.bytes(), kept.cost()), (WHOLE as u64, 11 * 8));
    for key in 2..8 {
        put(&store, key, WHOLE);
    }
    assert!(find_one(&store, 1).is_none());
    assert_eq!(read(&written, 0), body(1, WHOLE));
    drop(written);
    assert!(!kept.is_there() && kept.written().is_none());
}

#[test]
fn what_cannot_be_read_is_not_found_until_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(config(&folder, 64 << 20)).unwrap().0;
    put(&store, 1, WHOLE);
    find_one(&store, 1).unwrap().body.kept().give_up();
    assert!(find_one(&store, 1).is_none());
    assert_eq!(store.usage().damaged, 1);
    drop(store);
    let store = Store::open(config(&folder, 64 << 20)).unwrap().0;
    assert_eq!(read(&find_one(&store, 1).unwrap().body, 0), body(1, WHOLE));
}

#[test]
fn who_never_waits_reads_what_the_kernel_has_in_memory_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(config(&folder, 64 << 20)).unwrap().0;
    put(&store, 1, WHOLE);
    match store.look(&1_u64.to_le_bytes(), Wait::Never) {
        Ok(found) => {
            let pieces = found[0].body.read(0..u64::MAX, Wait::Never);
            let came: Result<Vec<_>, _> = pieces.map(|piece| piece.map(|piece| piece.to_vec())).collect();
            assert!(came.map_or_else(|error| error.would_wait(), |came| came.concat() == body(1, WHOLE)));
        }
        // Some file systems do not support reads without waiting.
        Err(error) => assert!(error.would_wait(), "{error}"),
    }
    for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        if file.file_name().to_str().unwrap().starts_with("segment") {
            fs::OpenOptions::new().write(true).open(file.path()).unwrap().set_len(BLOCK as u64).unwrap();
        }
    }
    assert!(store.look(&1_u64.to_le_bytes(), Wait::Never).is_err_and(|error| error.would_wait()));
}
