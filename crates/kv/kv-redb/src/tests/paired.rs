//! Replication between two stores.

use kv::{ApplyOutcome, Record, Span, TOMBSTONE};

use super::*;

fn paired(directory: &TempDir, now: fn() -> Millis) -> RedbStore {
    RedbStore::open(&Config { company: Pairing::Paired, ..config(directory) }, now).unwrap()
}

fn version(stamp: u64) -> Version {
    Version::from_parts(stamp, StoreName::new("syd").unwrap())
}

fn value_of(bytes: u64, stamp: u64) -> Record {
    let content = Content::Value(ValueMeta { bytes, expiration: None, metadata: None });
    Record { version: version(stamp), content }
}

fn all() -> Span {
    Span { after: String::new(), upto: None }
}

/// Newer than versions made at the test's time.
const FAR: u64 = 32_000_000_000_000 << 16;

#[tokio::test]
async fn what_is_written_is_noted_as_durably_as_it_is_until_the_other_one_has_it() {
    let directory = TempDir::new().unwrap();
    let vault = paired(&directory, day);
    let first = put(&vault, "a", b"1").await;
    put(&vault, "b", b"1").await;
    vault.delete("ns", &[("c", None)]).await.unwrap();
    drop(vault);
    let vault = loop {
        match RedbStore::open(&Config { company: Pairing::Paired, ..config(&directory) }, day) {
            Err(Error::Locked { .. }) => tokio::task::yield_now().await,
            opened => break opened.unwrap(),
        }
    };
    assert_eq!((vault.usage().noted, vault.usage().is_filling), (3, true));
    assert_eq!(vault.notes("", 2).unwrap(), ["ns\0a", "ns\0b"]);
    assert_eq!(vault.notes("ns\0b", 2).unwrap(), ["ns\0c"]);
    let second = put(&vault, "a", b"2").await;
    vault.unnote(vec![("ns\0a".into(), first)]).await.unwrap();
    assert_eq!(vault.usage().noted, 3);
    vault.unnote(vec![("ns\0a".into(), second)]).await.unwrap();
    assert_eq!(vault.notes("", 9).unwrap(), ["ns\0b", "ns\0c"]);
    vault.note(vec!["ns\0a".into(), "ns\0never".into()]).await.unwrap();
    assert_eq!(vault.notes("", 1).unwrap(), ["ns\0a"]);
    vault.filled().await.unwrap();
    assert!(!vault.usage().is_filling);
    close(vault).await;
    let alone = open(&directory, day);
    put(&alone, "d", b"1").await;
    assert_eq!(alone.usage().noted, 3);
    close(alone).await;
}

#[tokio::test]
async fn a_write_with_an_older_version_is_refused_and_the_same_one_is_done_once() {
    let directory = TempDir::new().unwrap();
    let vault = paired(&directory, day);
    let write = async |stamp, value: &[u8]| {
        let mut upload = vault.upload();
        upload.add(value).await.unwrap();
        upload.finish(("ns", "a"), (None, None), Some(version(stamp))).await
    };
    let large = vec![7; PIECE + 1];
    assert_eq!(write(FAR, &large).await.unwrap(), version(FAR));
    assert_eq!(write(FAR, &large).await.unwrap(), version(FAR));
    assert_eq!(trouble::pieces(&vault), 2);
    for stale in [
        write(FAR - 1, b"old").await.unwrap_err(),
        vault.delete("ns", &[("b", Some(version(1))), ("a", Some(version(2)))]).await.unwrap_err(),
    ] {
        let Error::Older { known } = stale else { panic!("{stale}") };
        assert_eq!(known, version(FAR));
    }
    assert!(vault.look("ns", "b").unwrap().is_none(), "all or none");
    assert_eq!(value(&vault, "a").unwrap().0, large);
    assert!(put(&vault, "c", b"1").await > version(FAR));
    close(vault).await;
}

#[tokio::test]
async fn the_newer_one_of_two_stores_counts() {
    let directory = TempDir::new().unwrap();
    let vault = paired(&directory, day);
    let ours = put(&vault, "a", b"ours").await;
    let given = |key: &str, stamp| (format!("ns\0{key}"), value_of(6, stamp), Bytes::from_static(b"theirs"));
    let taken = vault.take(vec![given("a", 1), given("b", FAR)]).await.unwrap();
    assert_eq!(taken, [ApplyOutcome::Older(ours), ApplyOutcome::New]);
    assert_eq!(vault.take(vec![given("b", FAR)]).await.unwrap(), [ApplyOutcome::Same]);
    assert_eq!(
        (value(&vault, "a").unwrap().0, value(&vault, "b").unwrap()),
        (b"ours".to_vec(), (b"theirs".to_vec(), version(FAR)))
    );
    assert_eq!(vault.notes("", 9).unwrap(), ["ns\0a"]);
    let mut upload = vault.upload();
    let large = vec![7; PIECE + 1];
    upload.add(&large).await.unwrap();
    let record = value_of(large.len() as u64, FAR);
    assert_eq!(upload.take("ns\0a", record).await.unwrap(), ApplyOutcome::New);
    assert_eq!((value(&vault, "a").unwrap().0, vault.usage().noted), (large, 0));
    let (known, end) = vault.known(&all(), (1, 1000)).unwrap();
    assert_eq!((known, end.as_deref()), (vec![("ns\0a".to_owned(), version(FAR))], Some("ns\0a")));
    let rest = Span { after: "ns\0a".into(), upto: None };
    assert_eq!(vault.known(&rest, (9, 1000)).unwrap(), (vec![("ns\0b".to_owned(), version(FAR))], None));
    close(vault).await;
}

static NOW: AtomicU64 = AtomicU64::new(DAY);

#[tokio::test]
async fn a_deletion_is_not_forgotten_before_the_other_one_knows_of_it() {
    let directory = TempDir::new().unwrap();
    let vault = paired(&directory, || Millis(NOW.load(SeqCst) * 1000));
    put(&vault, "a", b"1").await;
    let deleted = vault.delete("ns", &[("a", None)]).await.unwrap().remove(0);
    assert_eq!(vault.known(&all(), (9, 1000)).unwrap().0.len(), 1);
    NOW.store(DAY + 2 * TOMBSTONE.as_secs(), SeqCst);
    vault.sweep().await.unwrap();
    assert_eq!(vault.look("ns", "a").unwrap().unwrap().record.version, deleted);
    // There is no periodic work for the tombstone, and both stores may drop it at different times.
    assert_eq!(vault.sweep().await.unwrap(), (Vec::new(), false));
    assert_eq!(vault.known(&all(), (9, 1000)).unwrap(), (Vec::new(), None));
    vault.unnote(vec![("ns\0a".into(), deleted)]).await.unwrap();
    vault.sweep().await.unwrap();
    assert!(vault.look("ns", "a").unwrap().is_none());
    close(vault).await;
}
