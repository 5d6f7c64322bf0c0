//! The directory of an ACME account: the account's key, the certificates with their keys, and responses
//! to challenges.
//!
//! Data centres that share the directory share all of these. A lock file per host ensures that a single
//! data centre orders its certificate.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use http_stack::server::ServerCertificate;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{config::Acme, util::private_file};

/// Consecutive failures of orders for a host, in all data centres and before a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failures {
    pub(super) count: u32,
    /// When the order is repeated, in seconds since the Unix epoch.
    pub(super) retry_s: u64,
    /// Whether the server sent a Retry-After.
    pub(super) is_limited: bool,
    pub(super) why: String,
}

pub(super) struct Storage {
    place: PathBuf,
    challenges: PathBuf,
}

/// Released when dropped, or when the process ends.
pub(super) struct Lock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

/// A response to a challenge. It is removed when dropped.
pub(super) struct Published(PathBuf);

impl Drop for Published {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Storage {
    pub(super) fn open(acme: &Acme) -> Result<Self, String> {
        let (place, challenges) = (acme.place(), acme.challenges());
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&challenges);
        made.map_err(|error| format!("cannot create {}: {error}", challenges.display()))?;
        Ok(Self { place, challenges })
    }

    /// `None` if another data centre has the lock.
    pub(super) fn lock(&self, name: &str) -> Result<Option<Lock>, String> {
        let path = self.place.join(format!("{name}.lock"));
        let failed = |error: io::Error| format!("cannot lock {}: {error}", path.display());
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(failed(error.into())),
        }
    }

    pub(super) fn account(&self) -> Option<String> {
        fs::read_to_string(self.account_file()).ok()
    }

    pub(super) fn store_account(&self, text: &str) -> Result<(), String> {
        write(&self.account_file(), text)
    }

    /// Keeps the key of an account that the server does not have.
    pub(super) fn discard_account(&self) {
        let _ = fs::rename(self.account_file(), self.place.join("account.unknown.json"));
    }

    fn account_file(&self) -> PathBuf {
        self.place.join("account.json")
    }

    pub(super) fn failures(&self, host: &str) -> Option<Failures> {
        serde_json::from_str(&fs::read_to_string(self.failures_file(host)).ok()?).ok()
    }

    /// Without the file, the order is repeated at the next start or by another data centre.
    pub(super) fn note_failures(&self, host: &str, failures: &Failures) {
        if let Ok(text) = serde_json::to_string(failures) {
            let _ = write(&self.failures_file(host), &text);
        }
    }

    pub(super) fn clear_failures(&self, host: &str) {
        let _ = fs::remove_file(self.failures_file(host));
    }

    fn failures_file(&self, host: &str) -> PathBuf {
        self.place.join(format!("{host}.failed.json"))
    }

    /// Stores a certificate chain and its key in one file, so that both change together.
    pub(super) fn store_certificate(&self, host: &str, chain: &str, key: &str) -> Result<(), String> {
        let received = self.place.join(format!("{host}.received"));
        write(&received, &format!("{key}{chain}"))?;
        let read = ServerCertificate::read(&received, &received).map_err(|error| error.to_string());
        let checked = read.and_then(|one| {
            let why = || format!("the server issued a certificate for {} instead", one.names().join(", "));
            if one.is_for(host) { Ok(()) } else { Err(why()) }
        });
        let path = self.place.join(format!("{host}.pem"));
        let stored =
            checked.and_then(|()| fs::rename(&received, &path).map_err(|error| unwritten(&path, &error)));
        if stored.is_err() {
            let _ = fs::remove_file(&received);
        }
        stored
    }

    pub(super) fn publish(&self, name: &str, text: &str) -> Result<Published, String> {
        let path = self.challenges.join(name);
        write(&path, text)?;
        Ok(Published(path))
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    private_file::replace(path, text, 0o600).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use http_stack::server::Authority;

    use super::*;
    use crate::config::Challenge;

    fn acme(folder: &Path) -> Acme {
        Acme {
            email: None,
            directory: "https://ca.example:14000/dir".parse().unwrap(),
            challenge: Challenge::Http01,
            storage: folder.to_owned(),
            ca: None,
        }
    }

    #[test]
    fn files_are_private_and_replaced_together() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&acme(folder.path())).unwrap();
        assert_eq!(storage.place, folder.path().join("ca.example-14000-dir"));
        let authority = Authority::make().unwrap();
        let issue = |host: &str| authority.issue("x", &[host.to_owned()], Some(1)).unwrap();
        let good = issue("a.example");
        storage.store_certificate("a.example", &good.certificate_pem, &good.key_pem).unwrap();
        let file = storage.place.join("a.example.pem");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let before = fs::read(&file).unwrap();
        let other = issue("b.example");
        let wrong_name = storage.store_certificate("a.example", &other.certificate_pem, &other.key_pem);
        assert!(wrong_name.unwrap_err().contains("for b.example instead"));
        let wrong_key = storage.store_certificate("a.example", &good.certificate_pem, &other.key_pem);
        assert!(wrong_key.is_err());
        assert_eq!(fs::read(&file).unwrap(), before);
        storage.store_account("{}").unwrap();
        assert_eq!(storage.account().as_deref(), Some("{}"));
        storage.discard_account();
        assert_eq!(storage.account(), None);
        let names: Vec<_> =
            fs::read_dir(&storage.place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }

    #[test]
    fn failures_are_kept_until_they_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let failures = Failures { count: 2, retry_s: 7, is_limited: true, why: "refused".to_owned() };
        let storage = Storage::open(&acme(folder.path())).unwrap();
        assert_eq!(storage.failures("a.example"), None);
        storage.note_failures("a.example", &failures);
        assert_eq!(Storage::open(&acme(folder.path())).unwrap().failures("a.example"), Some(failures));
        storage.clear_failures("a.example");
        assert_eq!(storage.failures("a.example"), None);
    }

    #[test]
    fn lock_is_held_by_one_and_released() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(&acme(folder.path())).unwrap();
        let lock = storage.lock("a.example").unwrap();
        assert!(lock.is_some() && storage.lock("a.example").unwrap().is_none());
        assert!(storage.lock("b.example").unwrap().is_some());
        drop(lock);
        assert!(storage.lock("a.example").unwrap().is_some());
    }
}
