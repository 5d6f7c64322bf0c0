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
    place::{Place, SERVER},
};

/// Runs until it is killed or this is dropped.
pub(super) struct Server<'p> {
    place: &'p Place,
    /// Where it stores what it is given.
    folder: PathBuf,
    running: Mutex<Option<Child>>,
}

impl<'p> Server<'p> {
    /// One that runs, if NATS is installed.
    pub(super) fn start_if_installed(place: &'p Place, below: &Path) -> anyhow::Result<Option<Self>> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            return Ok(None);
        }
        let server = Self { place, folder: below.join("nats"), running: Mutex::new(None) };
        server.begin()?;
        Ok(Some(server))
    }

    /// Where data centres find it.
    pub(super) fn address() -> String {
        format!("nats://{}:{PORT}", SERVER.1)
    }

    /// Lets it be away from now on, or be there again.
    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        if begins { self.kill() } else { self.begin() }
    }

    /// Starts it, and waits until it can be connected to.
    fn begin(&self) -> anyhow::Result<()> {
        let mut command = Command::new("nats-server");
        command.args(["-a", SERVER.1, "-p", &PORT.to_string(), "-js", "-sd"]).arg(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = self.place.at_server(|| command.spawn())?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child?);
        self.place.at_server(wait)?
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

fn wait() -> anyhow::Result<()> {
    for _ in 0..200 {
        if TcpStream::connect((SERVER.1, PORT)).is_ok() {
            return Ok(());
        }
        pause(Duration::from_millis(50));
    }
    bail!("nats-server did not start")
}

const PORT: u16 = 4222;
