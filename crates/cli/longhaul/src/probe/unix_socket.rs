//! `--unix-socket`: checks that run before the first request.

use std::{fs, io, os::unix::fs::FileTypeExt};

use anyhow::{Context, bail};
use probe::client::Protocol;

use super::Probe;

impl Probe {
    /// With --watch the server may start later: an absent socket is a failed request.
    pub(super) fn check_unix_socket(&self) -> anyhow::Result<()> {
        let Some(path) = &self.unix_socket else { return Ok(()) };
        let name = path.display();
        if self.protocol == Protocol::Http3 {
            bail!("--unix-socket {name}: HTTP/3 needs UDP; choose another --protocol");
        }
        std::os::unix::net::SocketAddr::from_pathname(path).with_context(|| {
            format!(
                "--unix-socket {name}: this cannot be the name of a socket; give a path of up to 107 bytes"
            )
        })?;
        match fs::metadata(path) {
            Ok(found) if found.file_type().is_socket() => Ok(()),
            Ok(_) => {
                bail!(
                    "--unix-socket {name}: this is not a socket; give the socket that the server listens at"
                )
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.watch => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!(
                    "--unix-socket {name}: there is no such socket; start the server that listens at it, or give another path"
                )
            }
            Err(error) => Err(error).with_context(|| format!("--unix-socket {name}: cannot be reached")),
        }
    }
}
