//! The stores of a run: one or two, each a file on a small disk, which can be full, or a NATS server, which
//! can be killed.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use kv::consistency_checker::Stores;

use crate::judge::faults::{
    cluster::{CENTRES, Place},
    server::Server,
};

pub(super) struct Keep<'p> {
    stores: Vec<Store<'p>>,
    /// Index of the store that has a fault of its kind (disk full, or server killed).
    troubled: usize,
}

enum Store<'p> {
    Disk(Disk),
    Server(Server<'p>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    File,
    Nats,
}

fn sorts(seed: u64) -> &'static [Sort] {
    use Sort::{File, Nats};
    match seed % 8 {
        0 => &[Nats],
        2 | 6 => &[File, File],
        4 => &[Nats, Nats],
        7 => &[File, Nats],
        _ => &[File],
    }
}

impl<'p> Keep<'p> {
    /// If NATS is not installed, files are used.
    pub(super) fn of(place: &'p Place, folder: &Path, seed: u64) -> anyhow::Result<Self> {
        let mut stores = Vec::new();
        for (number, sort) in sorts(seed).iter().enumerate() {
            stores.push(match sort {
                Sort::Nats if Server::is_installed() => Store::Server(Server::start(place, number, folder)?),
                Sort::Nats | Sort::File => Store::Disk(Disk::mount(folder, STORES[number])?),
            });
        }
        let is_alike = stores.iter().all(|store| matches!(store, Store::Disk(_)));
        let troubled = if is_alike { 0 } else { usize::from(seed / 8 % 2 == 1).min(stores.len() - 1) };
        Ok(Self { stores, troubled })
    }

    pub(super) fn is_disk(&self) -> bool {
        matches!(self.stores[self.troubled], Store::Disk(_))
    }

    pub(super) fn stores(&self, well_until: u64) -> Stores {
        match self.stores.len() {
            1 => Stores::One(STORES[0]),
            _ => Stores::Two { at: STORES, well_until },
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match &self.stores[..] {
            [Store::Disk(_)] => "runs with a file",
            [Store::Server(_)] => "runs with NATS",
            [Store::Server(_), Store::Server(_)] => "runs with two servers of NATS",
            [Store::Disk(_), Store::Disk(_)] => "runs with two files",
            _ => "runs with a file and NATS",
        }
    }

    pub(super) fn table(&self) -> String {
        let of = |(store, centre): (&Store<'_>, usize)| {
            let place = match store {
                Store::Disk(disk) => disk.folder.join("kv.redb").display().to_string(),
                Store::Server(server) => server.address(),
            };
            format!("{} = \"{place}\"", CENTRES[centre].name)
        };
        let stores: Vec<_> = self.stores.iter().zip(STORES).map(of).collect();
        format!("{{ {} }}", stores.join(", "))
    }

    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        match &self.stores[self.troubled] {
            Store::Disk(disk) => {
                let filler = disk.folder.join("filler");
                if !begins {
                    return Ok(fs::remove_file(filler)?);
                }
                let mut file = File::create(filler)?;
                while file.write_all(&[0; 4096]).is_ok() {}
                Ok(())
            }
            Store::Server(server) => server.trouble(begins),
        }
    }
}

struct Disk {
    folder: PathBuf,
}

impl Disk {
    fn mount(below: &Path, centre: usize) -> anyhow::Result<Self> {
        let folder = below.join(format!("disk-{}", CENTRES[centre].name));
        fs::create_dir(&folder)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={DISK}"), "tmpfs"]).arg(&folder);
        let status = mount.status().context("cannot run mount")?;
        ensure!(status.success(), "cannot mount a small disk, which takes root");
        Ok(Self { folder })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, because a process may still have a file open.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

const STORES: [usize; 2] = [0, 2];

const DISK: &str = "12m";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_stores_has_its_share_of_the_runs() {
        let runs = |wanted: &[Sort]| (0..80).filter(|seed| sorts(*seed) == wanted).count();
        use Sort::{File, Nats};
        let shares = [&[File][..], &[File, File], &[Nats], &[Nats, Nats], &[File, Nats]].map(runs);
        assert_eq!(shares, [30, 20, 10, 10, 10]);
    }
}
