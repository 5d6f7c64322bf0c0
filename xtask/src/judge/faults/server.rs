//! A NATS server in a separate host, which can be killed and restarted with its data.

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
    cluster::{Place, SERVERS},
};

pub(super) struct Server<'p> {
    place: &'p Place,
    number: usize,
    folder: PathBuf,
    running: Mutex<Option<Child>>,
}

impl<'p> Server<'p> {
    pub(super) fn is_installed() -> bool {
        Command::new("nats-server").arg("--version").output().is_ok()
    }

    pub(super) fn start(place: &'p Place, number: usize, below: &Path) -> anyhow::Result<Self> {
        let folder = below.join(SERVERS[number].name);
        let server = Self { place, number, folder, running: Mutex::new(None) };
        server.begin()?;
        Ok(server)
    }

    pub(super) fn address(&self) -> String {
        format!("nats://{}:{PORT}", SERVERS[self.number].address)
    }

    pub(super) fn trouble(&self, begins: bool) -> anyhow::Result<()> {
        if begins { self.kill() } else { self.begin() }
    }

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
