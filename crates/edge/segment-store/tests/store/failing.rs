//! Tests of full and missing disks: existing objects can be read, and writes resume later.

use std::{env, fs, path::Path, process::Command, time::Duration};

use segment_store::{Config, Error, State, Store};

use crate::bodies::{body, config, find_one, put, read};

const DIRECTORY: &str = "LONGHAUL_DISK_DIRECTORY";

fn try_put(store: &Store, key: u64, length: usize) -> Result<(), Error> {
    let mut writer = store.begin(&key.to_le_bytes(), b"head")?;
    writer.write(&body(key, length))?;
    writer.finish().map(drop)
}

fn right(store: &Store, key: u64, length: usize) -> bool {
    find_one(store, key).is_some_and(|found| read(store, &found, ..) == body(key, length))
}

#[test]
fn a_directory_that_is_gone_is_said_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("cache");
    let config = Config { directory: directory.clone(), ..config(&folder, 8 << 20) };
    let store = Store::open(config).unwrap().0;
    put(&store, 0, 8_000);
    let removed = put(&store, 1, 8_000);
    fs::remove_dir_all(&directory).unwrap();
    let error = try_put(&store, 2, 8_000).unwrap_err();
    assert!(error.to_string().contains("was deleted while the store was open"), "{error}");
    assert!(matches!(try_put(&store, 2, 8_000), Err(Error::Io { operation: "create", .. })));
    let State::Failing { failures, last, .. } = store.state() else { panic!("it fails") };
    assert_eq!(failures, 2);
    assert!(last.contains("cannot create") && last.contains("No such file"), "{last}");
    assert!(matches!(store.note(b"lost"), Err(Error::Deleted { .. })));
    assert!(store.remove(removed).is_err());
    assert!(find_one(&store, 1).is_none() && find_one(&store, 2).is_none());
    assert!(right(&store, 0, 8_000));

    fs::create_dir(&directory).unwrap();
    put(&store, 2, 8_000);
    assert_eq!(store.state(), State::Working);
    assert!(right(&store, 0, 8_000) && right(&store, 2, 8_000));
    store.rewrite_notes(["kept"]).unwrap();
    store.note(b"too").unwrap();
}

#[test]
fn after_a_failure_nothing_is_tried_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("cache");
    let config = Config { directory: directory.clone(), pause: Duration::from_secs(30), capacity: 8 << 20 };
    let store = Store::open(config).unwrap().0;
    let id = put(&store, 0, 8_000);
    fs::remove_dir_all(&directory).unwrap();
    try_put(&store, 1, 8_000).unwrap_err();
    fs::create_dir(&directory).unwrap();
    let error = store.begin(b"key", b"").unwrap_err().to_string();
    assert!(error.starts_with("not written: after 1 failures the next attempt is in"), "{error}");
    assert!(error.contains("was deleted while the store was open"), "{error}");
    assert!(matches!(store.replace(id, b""), Err(Error::Paused { .. })));
    assert!(matches!(store.remove(id), Err(Error::Paused { .. })));
    assert!(find_one(&store, 0).is_none());
}

#[test]
fn a_directory_that_cannot_be_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(Config::new(file.join("below"), 8 << 20)).unwrap_err();
    assert!(error.to_string().starts_with("cannot make "), "{error}");
    fs::write(folder.path().join("segment-00000007.log"), [b'x'; 100]).unwrap();
    let error = Store::open(Config::new(folder.path(), 8 << 20)).unwrap_err();
    assert!(error.to_string().ends_with("is not a file of this store; move it away"), "{error}");
}

#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = "mount -t tmpfs -o size=8m none \"$0\" && exec \"$@\"";
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mounted])
        .arg(folder.path())
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "failing::on_a_full_disk", "--nocapture"])
        .env(DIRECTORY, folder.path())
        .status();
    assert!(status.unwrap().success(), "needs unshare(1) and a kernel that lets it make user namespaces");
}

/// The file system has 8 MiB.
#[test]
#[ignore = "the process that `a_full_disk` starts with a file system of its own"]
fn on_a_full_disk() {
    let directory = env::var_os(DIRECTORY).expect("the directory of a store");
    let directory = Path::new(&directory).join("cache");
    // The capacity exceeds the file system; a segment has 1 MiB.
    let config = Config { directory, pause: Duration::ZERO, capacity: 32 << 20 };
    let store = Store::open(config.clone()).unwrap().0;
    let mut refused = 0;
    for key in 0..2_000 {
        if let Err(error) = try_put(&store, key, 8_000) {
            refused += 1;
            assert!(error.to_string().starts_with("cannot "), "{error}");
            let State::Failing { last, .. } = store.state() else { panic!("it fails") };
            assert!(last.contains("No space left on device"), "{last}");
            assert!(find_one(&store, key).is_none());
        } else {
            assert_eq!(store.state(), State::Working);
            assert!(right(&store, key, 8_000));
        }
    }
    // Each failure evicts a segment of 1 MiB, so 16 MB in 8 MiB cause about ten failures.
    assert!((1..30).contains(&refused), "{refused}");
    let objects = |store: &Store| (0..2_000).filter(|key| right(store, *key, 8_000)).count();
    let there = objects(&store);
    assert!(there * 8_000 > 5 << 20, "{there}");
    assert_eq!(store.usage().objects, there as u64);

    // A removal is effective, and is written when there is room.
    let (last, other) = ((0..2_000).rev().find(|key| right(&store, *key, 8_000)).unwrap(), "other");
    let other = config.directory.join(other);
    drop(fs::write(&other, vec![0; 8 << 20]));
    let id = find_one(&store, last).unwrap().id;
    let removed = store.remove(id);
    assert!(find_one(&store, last).is_none());
    fs::remove_file(&other).unwrap();
    put(&store, 5_000, 8_000);
    assert_eq!(store.state(), State::Working);
    println!("{refused} refused, {there} there, removal on a full disk: {removed:?}");
    drop(store);
    let store = Store::open(config).unwrap().0;
    assert!(right(&store, 5_000, 8_000) && find_one(&store, last).is_none());
    assert_eq!(store.usage().objects, objects(&store) as u64 + 1);
}
