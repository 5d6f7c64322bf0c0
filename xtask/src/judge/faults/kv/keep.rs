//! What keeps the keys of a run: a file on a small disk, which can be full; or a server of NATS, which can be killed.

use std::{
    fs::{self, File},
    io::Write,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, bail, ensure};

use crate::judge::faults::{
    clock::pause,
    place::{Place, SERVER},
};

/// What keeps them.
pub(super) enum Keep<'p> {
    /// The folder where a disk of its own is mounted.
    Disk(PathBuf),
    /// A server of NATS, which keeps them in this folder.
    Server { place: &'p Place, folder: PathBuf, running: Mutex<Option<Child>> },
}

impl<'p> Keep<'p> {
    /// For a run: every fourth is on NATS, where that is installed.
    pub(super) fn of(place: &'p Place, folder: &Path, seed: u64) -> anyhow::Result<Self> {
        let is_installed = || Command::new("nats-server").arg("--version").output().is_ok();
        if !seed.is_multiple_of(4) || !is_installed() {
            return Self::mount(folder);
        }
        let server = Self::Server { place, folder: folder.join("nats"), running: Mutex::new(None) };
        server.trouble(false)?;
        Ok(server)
    }

    fn mount(folder: &Path) -> anyhow::Result<Self> {
        let disk = folder.join("disk");
        fs::create_dir(&disk)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={DISK}"), "tmpfs"]).arg(&disk);
        let status = mount.status().context("cannot run mount")?;
        ensure!(status.success(), "cannot mount a small disk, which takes root");
        Ok(Self::Disk(disk))
    }

    pub(super) fn is_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }

    /// `store`, as the network's file has it.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Disk(disk) => disk.join("kv.redb").display().to_string(),
            Self::Server { .. } => format!("nats://{}:4222", SERVER.1),
        }
    }

    /// Lets its own fault begin or end.
    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        match self {
            Self::Disk(disk) if begins => {
                // Until no byte is left.
                let mut file = File::create(disk.join("filler"))?;
                while file.write_all(&[0; 4096]).is_ok() {}
                Ok(())
            }
            Self::Disk(disk) => Ok(fs::remove_file(disk.join("filler"))?),
            Self::Server { running, .. } if begins => end(running),
            Self::Server { place, folder, running } => {
                let mut command = Command::new("nats-server");
                command.args(["-a", SERVER.1, "-p", "4222", "-js", "-sd"]).arg(folder);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let child = place.at_server(|| command.spawn())?;
                *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child?);
                place.at_server(wait_for_server)?
            }
        }
    }
}

impl Drop for Keep<'_> {
    fn drop(&mut self) {
        match self {
            // Also while something has a file there open.
            Self::Disk(disk) => drop(Command::new("umount").arg("--lazy").arg(disk).status()),
            Self::Server { running, .. } => drop(end(running)),
        }
    }
}

fn end(running: &Mutex<Option<Child>>) -> anyhow::Result<()> {
    if let Some(mut child) = running.lock().unwrap_or_else(PoisonError::into_inner).take() {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}

fn wait_for_server() -> anyhow::Result<()> {
    for _ in 0..200 {
        if TcpStream::connect((SERVER.1, 4222)).is_ok() {
            return Ok(());
        }
        pause(Duration::from_millis(50));
    }
    bail!("nats-server did not start")
}

/// Room for a few of the large values that visitors write.
const DISK: &str = "12m";
