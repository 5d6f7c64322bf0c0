//! The system's hosts file, reloaded after a change.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::Arc,
    time::SystemTime,
};

use hickory_resolver::Hosts;

pub(super) struct HostsFile {
    path: PathBuf,
    stamp: Option<Stamp>,
    hosts: Arc<Hosts>,
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl HostsFile {
    pub(super) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), stamp: None, hosts: Arc::default() }
    }

    pub(super) fn now(&mut self) -> Arc<Hosts> {
        let stamp = fs::metadata(&self.path).ok().map(|file| Stamp {
            inode: file.ino(),
            length: file.len(),
            modified: file.modified().ok(),
        });
        if stamp != self.stamp {
            let mut hosts = Hosts::default();
            if let Ok(file) = File::open(&self.path)
                && let Err(error) = hosts.read_hosts_conf(file)
            {
                tracing::warn!(file = %self.path.display(), %error, "cannot read the hosts file");
            }
            (self.stamp, self.hosts) = (stamp, Arc::new(hosts));
        }
        Arc::clone(&self.hosts)
    }
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::{op::Query, rr::RecordType};

    use super::*;

    fn address(file: &mut HostsFile) -> Option<String> {
        let query = Query::query("shop.example.".parse().unwrap(), RecordType::A);
        let found = file.now().lookup_static_host(&query)?;
        found.answers().first()?.data.ip_addr().map(|address| address.to_string())
    }

    #[test]
    fn a_change_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        let mut file = HostsFile::at(&path);
        assert_eq!(address(&mut file), None);
        fs::write(&path, "192.0.2.1 shop.example\n").unwrap();
        assert_eq!(address(&mut file).as_deref(), Some("192.0.2.1"));
        let other = folder.path().join("other");
        fs::write(&other, "192.0.2.2 shop.example\n").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(address(&mut file).as_deref(), Some("192.0.2.2"));
        fs::remove_file(&path).unwrap();
        assert_eq!(address(&mut file), None);
    }
}
