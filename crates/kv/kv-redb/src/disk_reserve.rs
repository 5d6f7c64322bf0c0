//! Reserved disk space for deletes on a full disk.
//!
//! A delete does not shrink the file. So once the reserve is spent, writes may use as much space as
//! deletes have freed, until the disk has space for the reserve again.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::{layout::PIECE, mutation::Mutation};

pub(crate) struct Reserve {
    path: PathBuf,
    is_held: bool,
    /// Bytes that deletes have freed since the reserve was spent and that writes have not used.
    freed: u64,
}

impl Reserve {
    /// If the disk has no space for it, the store is full from the start.
    pub(crate) fn of(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".reserve");
        let mut reserve = Self { path: path.with_file_name(name), is_held: false, freed: 0 };
        reserve.hold();
        reserve
    }

    fn hold(&mut self) {
        if fs::metadata(&self.path).is_ok_and(|file| file.len() == BYTES as u64) {
            self.is_held = true;
            return;
        }
        let mut options = OpenOptions::new();
        let made = options.write(true).create(true).truncate(true).mode(0o600).open(&self.path);
        self.is_held = made.and_then(|mut file| file.write_all(&vec![0; BYTES])).is_ok();
        if self.is_held {
            self.freed = 0;
        } else {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Returns whether that freed space.
    pub(crate) fn spend(&mut self) -> bool {
        let made_room = self.is_held && fs::remove_file(&self.path).is_ok();
        self.is_held = false;
        made_room
    }

    /// Their space is deducted from the freed bytes.
    pub(crate) fn has_room_for(&mut self, changes: &[Mutation]) -> bool {
        let needed = needed(changes);
        if needed > 0 && !self.is_held {
            self.hold();
        }
        if self.is_held {
            return true;
        }
        let left = self.freed.checked_sub(needed);
        self.freed = left.unwrap_or(self.freed);
        left.is_some()
    }

    pub(crate) fn written(&mut self, before: u64, after: u64) {
        if !self.is_held {
            self.freed += before.saturating_sub(after);
        }
    }
}

/// 0 if they add no value. The size of a page is a power of two.
fn needed(changes: &[Mutation]) -> u64 {
    let one = |change: &Mutation| match change {
        Mutation::Put { .. } | Mutation::Piece { .. } | Mutation::Take { .. } => {
            let (whole, rest) = (change.bytes() / PIECE, change.bytes() % PIECE);
            let page = |bytes: usize| (bytes + ROW).next_power_of_two();
            (whole * page(PIECE) + page(rest) + PAGES) as u64
        }
        _ => 0,
    };
    changes.iter().map(one).sum()
}

/// The space that many consecutive deletes need before the database reuses the pages that they
/// free.
const BYTES: usize = 4 << 20;
/// In addition to the value.
const PAGES: usize = 16 << 10;
const ROW: usize = 64;

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kv::ValueMeta;
    use tempfile::TempDir;

    use super::*;

    fn put(bytes: usize) -> [Mutation; 1] {
        let about = ValueMeta { bytes: bytes as u64, expiration: None, metadata: None };
        [Mutation::Put {
            key: b"k".to_vec(),
            value: 1,
            rest: Bytes::from(vec![0; bytes]),
            about,
            version: None,
        }]
    }

    #[test]
    fn a_spent_reserve_leaves_room_for_as_much_as_was_freed() {
        let directory = TempDir::new().unwrap();
        let store = directory.path().join("kv.redb");
        let mut reserve = Reserve::of(&store);
        let file = directory.path().join("kv.redb.reserve");
        assert_eq!(fs::metadata(&file).unwrap().len(), BYTES as u64);
        assert!(reserve.has_room_for(&put(1 << 20)));
        assert!(reserve.spend() && !file.exists());
        assert!(!reserve.spend(), "it is spent");
        // The disk has no space for it: a directory occupies its name.
        fs::create_dir(&file).unwrap();
        let delete = [Mutation::Delete { key: b"k".to_vec(), version: None }];
        assert!(reserve.has_room_for(&delete) && !reserve.has_room_for(&put(10)));
        reserve.written(200_000, 100_000);
        // 64 KiB plus 16 KiB, of 100 000 bytes.
        assert!(reserve.has_room_for(&put(50_000)));
        reserve.written(100_000, 150_000);
        assert!(!reserve.has_room_for(&put(3_000)) && reserve.has_room_for(&put(10)));
        fs::remove_dir(&file).unwrap();
        assert!(reserve.has_room_for(&put(1 << 20)) && file.exists());
    }
}
