//! What keeps the keys of a run: a store in one data centre or in two, each a file on a small disk, which can be full, or on a server of NATS, which can be
//! killed.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use kv::audit::Stores;

use crate::judge::faults::{
    place::{CENTRES, Place},
    server::Server,
};

/// The stores of a run.
pub(super) struct Keep<'p> {
    stores: Vec<Store<'p>>,
    /// Which of them has a fault of its own now and then.
    troubled: usize,
}

/// One of them.
enum Store<'p> {
    /// A file on a disk of its own.
    Disk(Disk),
    /// A server of NATS.
    Server(Server<'p>),
}

/// What a store is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    File,
    Nats,
}

/// What the stores of a run are: of eight runs three have a file, two have two, and one each has NATS, two servers of it, and a file and a server.
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
    /// For a run. Where NATS is not installed, files take its place.
    pub(super) fn of(place: &'p Place, folder: &Path, seed: u64) -> anyhow::Result<Self> {
        let mut stores = Vec::new();
        for (number, sort) in sorts(seed).iter().enumerate() {
            stores.push(match sort {
                Sort::Nats if Server::is_installed() => Store::Server(Server::start(place, number, folder)?),
                Sort::Nats | Sort::File => Store::Disk(Disk::mount(folder, STORES[number])?),
            });
        }
        // The first one of two files, and either of two others.
        let is_alike = stores.iter().all(|store| matches!(store, Store::Disk(_)));
        let troubled = if is_alike { 0 } else { usize::from(seed / 8 % 2 == 1).min(stores.len() - 1) };
        Ok(Self { stores, troubled })
    }

    /// Whether its own fault is that a disk is full.
    pub(super) fn is_disk(&self) -> bool {
        matches!(self.stores[self.troubled], Store::Disk(_))
    }

    /// The data centres with a store. `well_until` is when the first fault began.
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

    /// `store`, as the network's file has it.
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

    /// Lets its own fault begin or end.
    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        match &self.stores[self.troubled] {
            Store::Disk(disk) => {
                let filler = disk.folder.join("filler");
                if !begins {
                    return Ok(fs::remove_file(filler)?);
                }
                // Until no byte is left.
                let mut file = File::create(filler)?;
                while file.write_all(&[0; 4096]).is_ok() {}
                Ok(())
            }
            Store::Server(server) => server.trouble(begins),
        }
    }
}

/// A small disk that is mounted, until this is dropped.
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
        // Also while something has a file there open.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

/// The data centre with the store, and that with the second one where there are two.
const STORES: [usize; 2] = [0, 2];

/// Room for a few of the large values that visitors write.
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
