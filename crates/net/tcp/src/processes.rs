//! Finds the process that has a socket open.
//!
//! The kernel reports a socket's inode; the descriptors of all accessible processes show the owner.

use std::{collections::HashMap, fs, os::fd::RawFd, path::Path};

use crate::Error;

/// A process that has a socket open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    pub(crate) descriptor: RawFd,
}

/// A shared socket belongs to the last process found.
#[derive(Debug, Default)]
pub(crate) struct Processes(HashMap<u64, Process>);

impl Processes {
    pub(crate) fn all() -> Self {
        let mut sockets = HashMap::new();
        for folder in fs::read_dir("/proc").into_iter().flatten().flatten() {
            if let Some(pid) = folder.file_name().to_str().and_then(|name| name.parse().ok()) {
                let _ = add(&mut sockets, pid);
            }
        }
        Self(sockets)
    }

    pub(crate) fn one(pid: u32) -> Result<Self, Error> {
        let mut sockets = HashMap::new();
        add(&mut sockets, pid).map_err(|source| Error::Process { pid, source })?;
        Ok(Self(sockets))
    }

    pub(crate) fn of(&self, inode: u64) -> Option<&Process> {
        self.0.get(&inode)
    }
}

fn add(sockets: &mut HashMap<u64, Process>, pid: u32) -> std::io::Result<()> {
    let folder = format!("/proc/{pid}");
    let descriptors = fs::read_dir(Path::new(&folder).join("fd"))?;
    let mut name = None;
    for file in descriptors.flatten() {
        let Some(inode) = fs::read_link(file.path()).ok().and_then(|target| inode(target.to_str()?)) else {
            continue;
        };
        let Some(descriptor) = file.file_name().to_str().and_then(|number| number.parse().ok()) else {
            continue;
        };
        let name = name.get_or_insert_with(|| {
            fs::read_to_string(format!("{folder}/comm")).unwrap_or_default().trim().to_owned()
        });
        sockets.insert(inode, Process { pid, name: name.clone(), descriptor });
    }
    Ok(())
}

fn inode(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}
