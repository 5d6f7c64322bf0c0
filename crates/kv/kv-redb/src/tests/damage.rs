//! Files with modified bytes: no wrong byte is read, and nothing is missing without an error.

use std::{collections::BTreeMap, fs, path::Path};

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

type Known = BTreeMap<String, Vec<u8>>;

async fn fill(vault: &RedbStore) -> Known {
    let mut known = Known::new();
    for number in 0..200 {
        let key = format!("k{number:03}");
        let value = format!("VAL{number:04}-").repeat(number % 61).into_bytes();
        put(vault, &key, &value).await;
        known.insert(key, value);
    }
    for number in 0..4_u8 {
        let (key, value) = (format!("large{number}"), vec![number; 3 * PIECE / 2]);
        put(vault, &key, &value).await;
        known.insert(key, value);
    }
    for number in (0..200).step_by(9) {
        let key = format!("k{number:03}");
        vault.delete("ns", &[(&key, None)]).await.unwrap();
        known.remove(&key);
    }
    known
}

fn damaged_keys(vault: &RedbStore, known: &Known) -> Vec<String> {
    let read = |key: &str| -> Result<Option<Vec<u8>>, Error> {
        let Some(Found { record, value: mut reading }) = vault.look("ns", key)? else { return Ok(None) };
        let Content::Value(_) = &record.content else { return Ok(None) };
        let mut bytes = Vec::new();
        while let Some(piece) = reading.piece()? {
            bytes.extend_from_slice(&piece);
        }
        Ok(Some(bytes))
    };
    let mut damaged = Vec::new();
    let names = known.keys().cloned().chain((0..200).map(|number| format!("k{number:03}")));
    for key in names.collect::<std::collections::BTreeSet<_>>() {
        match read(&key) {
            Ok(found) => assert!(found.as_ref() == known.get(&key), "{key} has another value"),
            Err(Error::Damaged { .. }) => damaged.push(key),
            Err(error) => panic!("{key}: {error}"),
        }
    }
    match vault.list("ns", &page("", None, 1000)) {
        Ok(listed) => assert_eq!(names_of(&listed), known.keys().collect::<Vec<_>>()),
        Err(Error::Damaged { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    damaged
}

fn names_of(listed: &Listed) -> Vec<&String> {
    listed.keys.iter().map(|key| &key.name).collect()
}

/// Returns the number of failed keys, or `None` if the file is refused.
async fn use_damaged(directory: &TempDir, bytes: &[u8], at: usize, known: &Known) -> Option<usize> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << (at % 8);
    fs::write(&config(directory).path, &bytes).unwrap();
    let vault = match RedbStore::open(&config(directory), day) {
        Ok(vault) => vault,
        Err(Error::Damaged { .. } | Error::Foreign { .. } | Error::Newer { .. }) => return None,
        Err(error) => panic!("byte {at}: {error}"),
    };
    let before = damaged_keys(&vault, known);
    let mut known = known.clone();
    for key in ["new", "k050", "k111"] {
        match vault.delete("ns", &[(key, None)]).await {
            Ok(_) => drop(known.remove(key)),
            Err(Error::Damaged { .. }) => {}
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
    damaged_keys(&vault, &known);
    close(vault).await;
    Some(before.len())
}

fn salvage_damaged(directory: &TempDir, bytes: &[u8], at: usize, known: &Known) {
    let path = config(directory).path;
    let to = path.with_extension("new");
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << (at % 8);
    fs::write(&path, &bytes).unwrap();
    let inspection = match salvage(&path, &to) {
        Ok(inspection) => inspection,
        Err(Error::Damaged { .. } | Error::Foreign { .. } | Error::Newer { .. }) => return,
        Err(error) => panic!("byte {at}: {error}"),
    };
    assert_eq!(fs::read(&path).unwrap(), bytes, "the damaged file is as it was");
    if inspection.keys > 0 {
        let salvaged = Config { path: to.clone(), ..config(directory) };
        let vault = RedbStore::open(&salvaged, day).unwrap();
        let listed = vault.list("ns", &page("", None, 1000)).unwrap();
        assert_eq!(listed.keys.len() as u64, inspection.keys);
        for key in &listed.keys {
            assert_eq!(value(&vault, &key.name).unwrap().0, known[&key.name], "byte {at}");
        }
        vault.close();
        fs::remove_file(to).unwrap();
    }
    let is_whole = inspection.keys == known.len() as u64;
    assert!(is_whole || !inspection.is_intact(), "byte {at}: {inspection:?}");
}

#[tokio::test]
async fn what_a_changed_byte_leaves_is_salvaged() {
    for is_closed in [true, false] {
        let directory = TempDir::new().unwrap();
        let vault = open(&directory, day);
        let known = fill(&vault).await;
        let crashed = fs::read(config(&directory).path).unwrap();
        close(vault).await;
        let bytes = if is_closed { fs::read(config(&directory).path).unwrap() } else { crashed };
        let known = std::sync::Arc::new(known);
        let salvaged = tokio::task::spawn_blocking(move || {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
            for _ in 0..flips() / 3 {
                let at = usize::try_from(random.next_u64() % bytes.len() as u64).unwrap();
                salvage_damaged(&directory, &bytes, at, &known);
            }
        });
        salvaged.await.unwrap();
    }
}

#[tokio::test]
async fn a_repaired_store_has_all_but_the_damaged_key() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let vault = open(&directory, day);
    let mut known = fill(&vault).await;
    let newest = put(&vault, "last", b"1").await;
    known.insert("last".into(), b"1".to_vec());
    assert!(matches!(inspect(&path, |_, _| {}), Err(Error::Locked { .. })), "it is in use");
    close(vault).await;
    let intact = inspect(&path, |_, _| {}).unwrap();
    assert!(intact.is_intact() && intact.keys == known.len() as u64, "{intact:?}");
    assert_eq!((intact.damaged_blocks, intact.deleted), (0, 23));
    assert_eq!(repair(&path).unwrap(), (Inspection { blocks: intact.blocks, ..intact }, None));
    replace(&path, b"VAL0050-VAL", b"XXXX");
    let damaged = inspect(&path, |_, _| {}).unwrap();
    assert_eq!((&damaged.damaged[..], damaged.keys), (&["ns/k050".to_owned()][..], known.len() as u64 - 1));
    assert!(damaged.damaged_blocks > 0);
    let (_, kept) = repair(&path).unwrap();
    assert_eq!(kept.unwrap().file_name().unwrap(), "kv.redb.damaged");
    known.remove("k050");
    let vault = open(&directory, day);
    assert_eq!(damaged_keys(&vault, &known), [""; 0]);
    assert_eq!(vault.name().as_str(), "lhr");
    assert!(put(&vault, "later", b"2").await > newest, "its clock goes on");
    close(vault).await;
}

async fn flip(directory: &TempDir, bytes: &[u8], known: &Known, flips: usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut refused, mut lost) = (0, Vec::new());
    for _ in 0..flips {
        let at = usize::try_from(random.next_u64() % bytes.len() as u64).unwrap();
        match use_damaged(directory, bytes, at, known).await {
            None => refused += 1,
            Some(keys) => lost.push(keys),
        }
    }
    lost.sort_unstable();
    let opened = lost.len();
    println!(
        "{flips} flips: refused {refused}; keys lost: none {}, one {}, at most {}",
        lost.iter().filter(|keys| **keys == 0).count(),
        lost.iter().filter(|keys| **keys == 1).count(),
        lost.last().unwrap_or(&0)
    );
    assert!(opened > refused, "{opened} opened, {refused} refused");
}

fn flips() -> usize {
    std::env::var("LONGHAUL_KV_FLIPS").map_or(150, |flips| flips.parse().unwrap())
}

#[tokio::test]
async fn a_changed_byte_is_never_read() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    let known = fill(&vault).await;
    close(vault).await;
    let bytes = fs::read(config(&directory).path).unwrap();
    flip(&directory, &bytes, &known, flips()).await;
}

#[tokio::test]
async fn a_byte_that_changed_after_a_crash_is_never_read() {
    let directory = TempDir::new().unwrap();
    let vault = open(&directory, day);
    let known = fill(&vault).await;
    let bytes = fs::read(config(&directory).path).unwrap();
    close(vault).await;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    for _ in 0..flips() / 3 {
        let at = usize::try_from(random.next_u64() % bytes.len() as u64).unwrap();
        use_damaged(&directory, &bytes, at, &known).await;
    }
}

fn replace(path: &Path, pattern: &[u8], with: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let found: Vec<_> =
        (0..bytes.len() - pattern.len()).filter(|at| bytes[*at..].starts_with(pattern)).collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at..at + with.len()].copy_from_slice(with);
    }
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn damage_to_a_key_costs_that_key() {
    for (pattern, with) in [(&b"VAL0050-VAL"[..], &b"XXXX"[..]), (b"ns\0k050", b"ns\0z")] {
        let directory = TempDir::new().unwrap();
        let vault = open(&directory, day);
        let known = fill(&vault).await;
        close(vault).await;
        replace(&config(&directory).path, pattern, with);
        let vault = open(&directory, day);
        assert_eq!(damaged_keys(&vault, &known), ["k050"]);
        let refused = vault.look("ns", "k050").unwrap_err().to_string();
        assert!(refused.contains("is damaged: key \"k050\" of namespace ns: "), "{refused}");
        assert!(vault.usage().damaged_blocks > 0);
        let (mut scrub, mut read) = (vault.scrub(), 0);
        loop {
            let step = scrub.step().unwrap();
            read += step.bytes;
            if !step.is_more {
                break;
            }
        }
        let all: usize = known.values().map(Vec::len).sum();
        assert_eq!((scrub.damaged(), read), ((1, 0), (all - known["k050"].len()) as u64));
        close(vault).await;
    }
}

#[tokio::test]
async fn a_file_that_is_cut_off_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let vault = open(&directory, day);
    fill(&vault).await;
    close(vault).await;
    let whole = fs::read(&path).unwrap();
    for length in [1, 8, 100, 4096, 4097, 8192, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let refused = RedbStore::open(&config(&directory), day).unwrap_err();
        assert!(matches!(refused, Error::Damaged { .. } | Error::Foreign { .. }), "{length}: {refused}");
        assert_eq!(fs::metadata(&path).unwrap().len(), length as u64, "it is as it was");
    }
}

#[tokio::test]
async fn a_file_without_checksums_is_upgraded() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let vault = open(&directory, day);
    let known = fill(&vault).await;
    close(vault).await;
    let blocks = blocks::Blocks::open(opening(&path)().unwrap(), std::sync::Arc::default()).unwrap();
    let mut plain = vec![0; usize::try_from(redb::StorageBackend::len(&blocks).unwrap()).unwrap()];
    redb::StorageBackend::read(&blocks, 0, &mut plain).unwrap();
    fs::write(&path, plain).unwrap();
    let vault = open(&directory, day);
    assert_eq!(vault.origin(), Origin::Upgraded);
    assert_eq!(damaged_keys(&vault, &known), [""; 0]);
    close(vault).await;
    let vault = open(&directory, day);
    assert_eq!(vault.origin(), Origin::Known);
    close(vault).await;
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "the store and its reserve");
}
