//! A server of NATS in a host of its own, which can be killed and started again with all that it has stored.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::bail;

use super::{
    clock::pause,
    place::{Place, SERVERS},
};

/// Runs until it is killed or this is dropped.
pub(super) struct Server<'p> {
    place: &'p Place,
    /// Which one it is.
    number: usize,
    /// Where it stores what it is given.
    folder: PathBuf,
    running: Mutex<Option<Child>>,
}

impl<'p> Server<'p> {
    /// Whether NATS is installed.
    pub(super) fn is_installed() -> bool {
        Command::new("nats-server").arg("--version").output().is_ok()
    }

    /// The one with this number, which runs.
    pub(super) fn start(place: &'p Place, number: usize, below: &Path) -> anyhow::Result<Self> {
        let folder = below.join(SERVERS[number].name);
        let server = Self { place, number, folder, running: Mutex::new(None) };
        server.begin()?;
        Ok(server)
    }

    /// Where data centres find it.
    pub(super) fn address(&self) -> String {
        format!("nats://{}:{PORT}", SERVERS[self.number].address)
    }

    /// Lets it be away from now on, or be there again.
    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        if begins { self.kill() } else { self.begin() }
    }

    /// Starts it, and waits until it can be connected to.
    fn begin(&self) -> anyhow::Result<()> {
        let mut command = Command::new("nats-server");
        let address = SERVERS[self.number].address;
        command.args(["-a", address, "-p", &PORT.to_string(), "-js", "-sd"]).arg(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = self.place.at_server(self.number, || command.spawn())?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child?);
        self.place.at_server(self.number, || wait(address))?
    }

    fn kill(&self) -> anyhow::Result<()> {
        if let Some(mut child) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        // Nothing more can be done about one that cannot be killed.
        let _ = self.kill();
    }
}

fn wait(address: &str) -> anyhow::Result<()> {
    for _ in 0..200 {
        if TcpStream::connect((address, PORT)).is_ok() {
            return Ok(());
        }
        pause(Duration::from_millis(50));
    }
    bail!("nats-server did not start")
}

const PORT: u16 = 4222;
