//! What keeps the keys of a run: a file on a small disk, which can be full, or two of them in two data centres; or a server of NATS, which can
//! be killed.

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

/// What keeps them.
pub(super) enum Keep<'p> {
    /// A disk of its own for each data centre with a store.
    Disks(Vec<Disk>),
    /// A server of NATS.
    Server(Server<'p>),
}

impl<'p> Keep<'p> {
    /// For a run: every fourth is on NATS, where that is installed, and every fourth has two stores.
    pub(super) fn of(place: &'p Place, folder: &Path, seed: u64) -> anyhow::Result<Self> {
        if seed.is_multiple_of(4)
            && let Some(server) = Server::start_if_installed(place, folder)?
        {
            return Ok(Self::Server(server));
        }
        let stores = if seed % 4 == 2 { &STORES[..] } else { &STORES[..1] };
        let disks = stores.iter().map(|store| Disk::mount(folder, *store)).collect::<Result<_, _>>();
        Ok(Self::Disks(disks?))
    }

    pub(super) fn is_disk(&self) -> bool {
        matches!(self, Self::Disks(_))
    }

    /// The data centres with a store. `well_until` is when the first fault began.
    pub(super) fn stores(&self, well_until: u64) -> Stores {
        match self {
            Self::Disks(disks) if disks.len() > 1 => Stores::Two { at: STORES, well_until },
            Self::Disks(_) | Self::Server(_) => Stores::One(STORES[0]),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Disks(disks) if disks.len() > 1 => "runs with two files",
            Self::Disks(_) => "runs with a file",
            Self::Server(_) => "runs with NATS",
        }
    }

    /// `store`, as the network's file has it.
    pub(super) fn table(&self) -> String {
        let of = |store: usize, address: &str| format!("{} = \"{address}\"", CENTRES[store].name);
        let stores: Vec<_> = match self {
            Self::Disks(disks) => {
                let file = |disk: &Disk| disk.folder.join("kv.redb").display().to_string();
                disks.iter().map(|disk| of(disk.centre, &file(disk))).collect()
            }
            Self::Server(_) => vec![of(STORES[0], &Server::address())],
        };
        format!("{{ {} }}", stores.join(", "))
    }

    /// Lets its own fault begin or end.
    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        match self {
            Self::Disks(disks) => {
                let filler = disks[0].folder.join("filler");
                if !begins {
                    return Ok(fs::remove_file(filler)?);
                }
                // Until no byte is left.
                let mut file = File::create(filler)?;
                while file.write_all(&[0; 4096]).is_ok() {}
                Ok(())
            }
            Self::Server(server) => server.trouble(begins),
        }
    }
}

/// A small disk that is mounted, until this is dropped.
pub(super) struct Disk {
    /// Whose it is.
    centre: usize,
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
        Ok(Self { centre, folder })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Also while something has a file there open.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

/// The data centre with the store, and that with the second one where there are two; the first one's disk is the one that can be full.
const STORES: [usize; 2] = [0, 2];

/// Room for a few of the large values that visitors write.
const DISK: &str = "12m";
