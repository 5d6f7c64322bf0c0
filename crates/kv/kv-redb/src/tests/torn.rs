//! A power failure: of the sectors written since the last sync, any subset may be on the disk.

use std::{
    io,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use redb::StorageBackend;

use super::*;
use crate::blocks::Storage;

#[derive(Debug)]
struct Disk {
    synced: Vec<u8>,
    seen: Vec<u8>,
    waiting: Vec<(usize, Vec<u8>)>,
    random: Xoshiro256PlusPlus,
    acknowledged: usize,
    /// The possible contents after a failure before each sync, and the number of writes
    /// acknowledged by then.
    images: Vec<(usize, Vec<u8>)>,
}

#[derive(Debug, Clone)]
struct Volatile(Arc<Mutex<Disk>>);

const SECTOR: usize = 512;

impl StorageBackend for Volatile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        out.copy_from_slice(&self.0.lock().unwrap().seen[start..start + out.len()]);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        let length = usize::try_from(length).unwrap();
        disk.seen.resize(length, 0);
        disk.synced.resize(length, 0);
        disk.waiting.retain(|(sector, _)| (sector + 1) * SECTOR <= length);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        let mut left = disk.synced.clone();
        for (sector, bytes) in std::mem::take(&mut disk.waiting) {
            if disk.random.next_u64().is_multiple_of(2) {
                left[sector * SECTOR..(sector + 1) * SECTOR].copy_from_slice(&bytes);
            }
        }
        let acknowledged = disk.acknowledged;
        disk.images.push((acknowledged, left));
        disk.synced = disk.seen.clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        disk.seen[start..start + data.len()].copy_from_slice(data);
        for sector in start / SECTOR..(start + data.len()).div_ceil(SECTOR) {
            let bytes = disk.seen[sector * SECTOR..(sector + 1) * SECTOR].to_vec();
            disk.waiting.push((sector, bytes));
        }
        Ok(())
    }
}

impl Volatile {
    fn new(bytes: Vec<u8>, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let disk = Disk {
            synced: bytes.clone(),
            seen: bytes,
            waiting: Vec::new(),
            random,
            acknowledged: 0,
            images: Vec::new(),
        };
        Self(Arc::new(Mutex::new(disk)))
    }
}

fn open_on(disk: &Volatile, directory: &TempDir) -> RedbStore {
    let disk = disk.clone();
    let opening = move || -> io::Result<Storage> { Ok(Box::new(disk.clone())) };
    let name = StoreName::new("lhr").unwrap();
    let at = config(directory).path;
    RedbStore::open_by(&at, (Box::new(opening), 1 << 20), (&name, Pairing::Alone), day).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_power_failure_loses_nothing_that_was_acknowledged(seed in any::<u64>(), writes in 1..12_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let directory = TempDir::new().unwrap();
        create::make(&config(&directory).path).unwrap();
        let disk = Volatile::new(std::fs::read(config(&directory).path).unwrap(), seed);
        let vault = open_on(&disk, &directory);
        let written = |number: usize| {
            (format!("k{}", number % 7), vec![u8::try_from(number).unwrap(); (number * 7919) % 40_000])
        };
        for number in 0..writes {
            let (key, bytes) = written(number);
            runtime.block_on(put(&vault, &key, &bytes));
            disk.0.lock().unwrap().acknowledged += 1;
        }
        runtime.block_on(close(vault));
        let images = std::mem::take(&mut disk.0.lock().unwrap().images);
        prop_assert!(images.len() > writes);
        for (acknowledged, image) in images {
            let disk = Volatile::new(image, seed);
            for _ in 0..2 {
                let vault = open_on(&disk, &directory);
                for key in 0..7 {
                    let of_key = |number: &usize| number % 7 == key;
                    let last = (0..acknowledged).rev().find(of_key).map(|number| written(number).1);
                    let next = (acknowledged..writes).take(1).find(of_key).map(|number| written(number).1);
                    let found = value(&vault, &format!("k{key}")).map(|(bytes, _)| bytes);
                    prop_assert!(found == last || (next.is_some() && found == next), "{}", key);
                }
                prop_assert_eq!(vault.usage().damaged_blocks, 0);
                runtime.block_on(close(vault));
            }
        }
    }
}
