//! A store on a real file, on a full disk, or on a failing disk.

mod damage;
mod paired;
mod torn;
mod trouble;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use bytes::Bytes;
use kv::{Content, Expiration, Listed, Metadata, Millis, Page, StoreName, ValueMeta, Version};
use tempfile::TempDir;

use super::*;
use crate::{
    layout::{PIECE, full_key},
    mutation::Mutation,
};

const DAY: u64 = 1_760_000_000;

fn day() -> Millis {
    Millis(DAY * 1000)
}

fn config(directory: &TempDir) -> Config {
    let name = StoreName::new("lhr").unwrap();
    Config { path: directory.path().join("kv.redb"), name, memory: 1 << 20, company: Pairing::Alone }
}

fn open(directory: &TempDir, now: fn() -> Millis) -> RedbStore {
    RedbStore::open(&config(directory), now).unwrap()
}

/// On a blocking thread, because a runtime thread must not block.
async fn close(vault: RedbStore) {
    tokio::task::spawn_blocking(move || vault.close()).await.unwrap();
}

async fn put(vault: &RedbStore, key: &str, value: &[u8]) -> Version {
    let mut upload = vault.upload();
    upload.add(value).await.unwrap();
    upload.finish(("ns", key), (None, None), None).await.unwrap()
}

#[tokio::test]
async fn only_its_owner_may_read_a_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    close(open(&directory, day)).await;
    let mode = std::fs::metadata(config(&directory).path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn value(vault: &RedbStore, key: &str) -> Option<(Vec<u8>, Version)> {
    let Found { record, value: mut reading } = vault.look("ns", key).unwrap()?;
    let Content::Value(about) = &record.content else { return None };
    let mut bytes = Vec::new();
    while let Some(piece) = reading.piece().unwrap() {
        bytes.extend_from_slice(&piece);
    }
    assert_eq!(about.bytes, bytes.len() as u64);
    Some((bytes, record.version))
}

fn page(prefix: &str, after: Option<&str>, limit: usize) -> Page {
    Page { prefix: prefix.into(), after: after.map(Into::into), limit }
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.keys.iter().map(|key| key.name.as_str()).collect()
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_restart() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    let long: Vec<u8> = (0..2 * PIECE + 7).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let versions =
        [put(&vault, "a", b"1").await, put(&vault, "empty", b"").await, put(&vault, "long", &long).await];
    assert!(versions.is_sorted());
    vault.delete("ns", &[("a", None)]).await.unwrap();
    close(vault).await;
    let vault = open(&directory, || Millis(0));
    assert_eq!(value(&vault, "a"), None);
    assert_eq!(value(&vault, "empty"), Some((vec![], versions[1].clone())));
    assert_eq!(value(&vault, "long"), Some((long, versions[2].clone())));
    assert!(put(&vault, "a", b"2").await > versions[2]);
    close(vault).await;
}

#[tokio::test]
async fn a_value_is_read_as_it_was_when_that_began() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    let long = vec![1; 3 * PIECE];
    put(&vault, "k", &long).await;
    let mut reading = vault.look("ns", "k").unwrap().unwrap().value;
    let mut read = reading.piece().unwrap().unwrap().to_vec();
    put(&vault, "k", b"another").await;
    while let Some(piece) = reading.piece().unwrap() {
        read.extend_from_slice(&piece);
    }
    assert!(read == long);
    assert_eq!(value(&vault, "k").unwrap().0, b"another");
    close(vault).await;
}

#[tokio::test]
async fn a_value_that_broke_off_never_was_and_leaves_nothing() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    put(&vault, "k", b"before").await;
    let mut upload = vault.upload();
    upload.add(&vec![1; 2 * PIECE]).await.unwrap();
    std::mem::forget(upload);
    assert_eq!(trouble::pieces(&vault), 2);
    close(vault).await;
    let vault = open(&directory, day);
    assert_eq!(value(&vault, "k").unwrap().0, b"before");
    assert_eq!(trouble::pieces(&vault), 1);
    let mut upload = vault.upload();
    upload.add(&vec![1; 2 * PIECE]).await.unwrap();
    drop(upload);
    put(&vault, "other", b"1").await;
    assert_eq!(trouble::pieces(&vault), 2);
    close(vault).await;
}

#[tokio::test]
async fn a_value_that_is_written_twice_or_thrown_away_too_late_stays() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    put(&vault, "k", b"before").await;
    let whole = Bytes::from(vec![1; PIECE + 7]);
    let put = || Mutation::Put {
        key: full_key("ns", "k"),
        value: 1000,
        rest: whole.slice(PIECE..),
        about: ValueMeta { bytes: whole.len() as u64, expiration: None, metadata: None },
        version: None,
    };
    let piece = Mutation::Piece { value: 1000, number: 0, bytes: whole.slice(..PIECE) };
    vault.write(vec![piece]).await.unwrap();
    vault.write(vec![put()]).await.unwrap();
    vault.write(vec![put()]).await.unwrap();
    vault.discard(1000);
    vault.delete("ns", &[("other", None)]).await.unwrap();
    assert_eq!(value(&vault, "k").unwrap().0, whole);
    assert_eq!((trouble::pieces(&vault), vault.usage().keys), (2, 1));
    close(vault).await;
}

#[tokio::test]
async fn a_list_is_in_the_order_of_bytes_and_its_own_namespaces() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    for key in ["b", "a", "ä", "aa", "Z", "a/b", "c"] {
        put(&vault, key, b"").await;
    }
    vault.delete("ns", &[("c", None)]).await.unwrap();
    for namespace in ["n", "ns2"] {
        let put =
            Put { key: "a".into(), value: Bytes::new(), expiration: None, metadata: None, version: None };
        vault.put(namespace, vec![put]).await.unwrap();
    }
    let all = vault.list("ns", &page("", None, 1000)).unwrap();
    assert_eq!((names(&all), &all.next), (vec!["Z", "a", "a/b", "aa", "b", "ä"], &None));
    let first = vault.list("ns", &page("a", None, 2)).unwrap();
    assert_eq!(names(&first), ["a", "a/b"]);
    let last = first.next.unwrap().last;
    let second = vault.list("ns", &page("a", Some(&last), 2)).unwrap();
    assert_eq!((names(&second), &second.next), (vec!["aa"], &None));
    assert_eq!(names(&vault.list("ns2", &page("", None, 9)).unwrap()), ["a"]);
    close(vault).await;
}

#[tokio::test]
async fn what_is_over_is_removed_and_then_forgotten() {
    static NOW: AtomicU64 = AtomicU64::new(DAY);
    let now = || Millis(NOW.load(SeqCst) * 1000);
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, now);
    let metadata = Metadata::new(b"{\"a\":1}").ok();
    let ends = |seconds| Put {
        key: format!("in {seconds}"),
        value: Bytes::from_static(b"v"),
        expiration: Some(Expiration(DAY + seconds)),
        metadata: metadata.clone(),
        version: None,
    };
    vault.put("ns", vec![ends(60), ends(70), ends(80)]).await.unwrap();
    put(&vault, "in 70", b"w").await;
    assert_eq!(vault.sweep().await.unwrap(), (vec![], false));
    NOW.store(DAY + 75, SeqCst);
    let listed = vault.list("ns", &page("", None, 9)).unwrap();
    assert_eq!(names(&listed), ["in 70", "in 80"]);
    assert_eq!(
        (listed.keys[1].expiration, &listed.keys[1].metadata),
        (Some(Expiration(DAY + 80)), &metadata)
    );
    assert_eq!(vault.sweep().await.unwrap(), (vec![("ns".into(), "in 60".into())], false));
    assert_eq!(trouble::pieces(&vault), 2);
    assert!(vault.look("ns", "in 60").unwrap().is_some());
    NOW.store(DAY + 60 + 24 * 3600, SeqCst);
    assert_eq!(vault.sweep().await.unwrap(), (vec![("ns".into(), "in 80".into())], false));
    assert!(vault.look("ns", "in 60").unwrap().is_none());
    assert_eq!(value(&vault, "in 70").unwrap().0, b"w");
    close(vault).await;
}

#[tokio::test]
async fn writes_that_wait_become_durable_at_once() {
    let directory = TempDir::new().unwrap();
    let vault = std::sync::Arc::new(open(&directory, day));
    let before = vault.usage();
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..200 {
        let vault = std::sync::Arc::clone(&vault);
        writers.spawn(async move { put(&vault, &format!("{number}"), b"v").await });
    }
    let mut versions = writers.join_all().await;
    let usage = vault.usage();
    assert_eq!(usage.writes - before.writes, 200);
    assert!(usage.commits - before.commits < 100, "{usage:?}");
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), 200);
    let vault = std::sync::Arc::into_inner(vault).unwrap();
    close(vault).await;
}

#[tokio::test]
async fn keys_and_bytes_are_counted_and_found_again() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    let held = |vault: &RedbStore| (vault.usage().keys, vault.usage().bytes);
    put(&vault, "a", b"123").await;
    put(&vault, "a", b"12345").await;
    put(&vault, "b", &vec![0; PIECE + 1]).await;
    put(&vault, "c", b"").await;
    vault.delete("ns", &[("b", None), ("never", None)]).await.unwrap();
    assert_eq!(held(&vault), (2, 5));
    close(vault).await;
    let vault = open(&directory, day);
    assert_eq!(held(&vault), (2, 5));
    close(vault).await;
}
