//! nginx on loopback: one worker, no log, a kilobyte for every request.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    process::Command,
};

use anyhow::{Context, ensure};
use tempfile::TempDir;

use crate::bench::program::{Running, is_installed};

pub(super) struct Nginx {
    pub(super) address: SocketAddr,
    _server: Running,
    _folder: TempDir,
}

impl Nginx {
    pub(super) fn start() -> anyhow::Result<Self> {
        ensure!(is_installed("nginx"), "nginx is not installed; on Debian: apt-get install nginx-light");
        let folder = tempfile::tempdir()?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let place = folder.path().display();
        let config = format!(
            "daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log;\n\
             events {{ worker_connections 1024; }}\n\
             http {{ access_log off; keepalive_requests 1000000000; server {{ listen {address}; \
             location / {{ return 200 \"{body}\"; }} }} }}\n",
            body = "x".repeat(1024)
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, config)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&file);
        let log = || fs::read_to_string(folder.path().join("error.log")).unwrap_or_default();
        let server = Running::listening(&mut command, address).with_context(log)?;
        Ok(Self { address, _server: server, _folder: folder })
    }
}
