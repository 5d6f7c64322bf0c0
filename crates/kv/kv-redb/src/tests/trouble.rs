//! Files that are locked, damaged, not a store, from a newer program, or full.

use std::{
    fs,
    io::{self, ErrorKind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use redb::{
    BackendError, Builder, Database, ReadableTableMetadata as _, StorageBackend, backends::FileBackend,
};

use super::*;
use crate::{
    blocks::Blocks,
    create::make,
    file::FORMAT,
    layout::{NUMBERS, VALUES},
};

pub(super) fn pieces(vault: &RedbStore) -> u64 {
    vault.view().open_table(VALUES).unwrap().len().unwrap()
}

fn tables_of(path: &std::path::Path) -> Database {
    let storage = opening(path)().unwrap();
    let blocks = Blocks::open(storage, Arc::default()).unwrap();
    Builder::new().create_with_backend(blocks).unwrap()
}

fn refused(directory: &TempDir) -> String {
    let refused = RedbStore::open(&config(directory), day).unwrap_err().to_string();
    refused.replace(&directory.path().display().to_string(), "DIR")
}

#[tokio::test]
async fn a_file_that_cannot_be_the_store_is_refused_in_a_sentence() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let vault = open(&directory, day);
    assert_eq!(
        refused(&directory),
        "the store DIR/kv.redb is in use by another process; stop that process, or configure another file"
    );
    put(&vault, "k", b"v").await;
    close(vault).await;
    let database = tables_of(&path);
    let work = database.begin_write().unwrap();
    work.open_table(NUMBERS).unwrap().insert(FORMAT, 2).unwrap();
    work.commit().unwrap();
    drop(database);
    assert_eq!(
        refused(&directory),
        "the store DIR/kv.redb has version 2 of the format, and this program supports only 1; use the program that wrote it"
    );
    fs::remove_file(&path).unwrap();
    make(&path).unwrap();
    let database = tables_of(&path);
    let work = database.begin_write().unwrap();
    work.open_table(redb::TableDefinition::<u64, u64>::new("other")).unwrap();
    work.commit().unwrap();
    drop(database);
    let foreign = "DIR/kv.redb is not a store; move it away, or name another file";
    assert_eq!(refused(&directory), foreign);
    fs::write(&path, "").unwrap();
    assert_eq!(
        refused(&directory),
        "the store DIR/kv.redb is empty, which is never valid: restore the file, or remove it to create a new store"
    );
    fs::write(&path, "[network]\nname = \"n\"\n".repeat(1000)).unwrap();
    assert_eq!(refused(&directory), foreign);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(refused(&directory), "cannot open the store DIR/kv.redb: Is a directory (os error 21)");
}

#[tokio::test]
async fn a_damaged_file_is_refused_or_what_was_acknowledged() {
    let directory = TempDir::new().unwrap();
    let path = config(&directory).path;
    let vault = open(&directory, day);
    put(&vault, "k", &vec![7; PIECE]).await;
    close(vault).await;
    let whole = fs::read(&path).unwrap();
    let (mut refusals, mut opened) = (0, 0);
    for at in (0..whole.len()).step_by(whole.len() / 97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        damaged[at / 2] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        match RedbStore::open(&config(&directory), day) {
            Err(Error::Damaged { .. } | Error::Foreign { .. }) => refusals += 1,
            Err(error) => panic!("{error}"),
            Ok(vault) => {
                opened += 1;
                close(vault).await;
            }
        }
    }
    assert!(refusals > 0 && opened > 0, "{refusals} refusals, {opened} opened");
}

#[derive(Debug)]
struct Small {
    file: FileBackend,
    room: Arc<AtomicU64>,
    reserve: PathBuf,
}

impl StorageBackend for Small {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        // Extending a file needs no space until it is written.
        let room = self.room.load(SeqCst).saturating_add(if self.reserve.exists() { 0 } else { 4 << 20 });
        if offset + data.len() as u64 > room {
            return Err(ErrorKind::StorageFull.into());
        }
        self.file.write(offset, data)
    }

    fn try_lock_range(
        &self,
        start: std::ops::Bound<u64>,
        end: std::ops::Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn unlock_range(
        &self,
        start: std::ops::Bound<u64>,
        end: std::ops::Bound<u64>,
    ) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_that_was_acknowledged_is_lost() {
    let directory = TempDir::new().unwrap();
    let Config { path, name, memory, .. } = config(&directory);
    let room = Arc::new(AtomicU64::new(2 << 20));
    let (at, left) = (path.clone(), Arc::clone(&room));
    let opening = move || -> io::Result<Storage> {
        let file = fs::OpenOptions::new().read(true).write(true).open(&at)?;
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(Small { file, room: Arc::clone(&left), reserve: at.with_extension("redb.reserve") }))
    };
    let vault = RedbStore::open_by(&path, (Box::new(opening), memory), (&name, Pairing::Alone), day).unwrap();
    let mut acknowledged = 0;
    let full = loop {
        let mut upload = vault.upload();
        let stored = async {
            upload.add(&vec![1; PIECE]).await?;
            upload.finish(("ns", &format!("{acknowledged}")), (None, None), None).await
        };
        match stored.await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Full { .. }), "{full}");
    assert!(acknowledged > 1);
    for number in 0..acknowledged {
        assert_eq!(value(&vault, &format!("{number}")).unwrap().0, vec![1; PIECE]);
    }
    assert_eq!(value(&vault, &format!("{acknowledged}")), None);
    let key = |number: u32| format!("{number}");
    for number in 0..acknowledged {
        vault.delete("ns", &[(&key(number), None)]).await.unwrap();
    }
    room.store(u64::MAX, SeqCst);
    for number in 0..acknowledged {
        assert_eq!(value(&vault, &key(number)), None);
        put(&vault, &key(number), &vec![1; PIECE]).await;
    }
    put(&vault, "later", &vec![2; 4 * PIECE]).await;
    close(vault).await;
    let vault = open(&directory, day);
    assert_eq!(value(&vault, "later").unwrap().0, vec![2; 4 * PIECE]);
    assert_eq!(value(&vault, "0").unwrap().0, vec![1; PIECE]);
    close(vault).await;
}
