//! Preflight checks: the files, directories and addresses that `run` opens, checked without side
//! effects.
//!
//! Addresses are bound briefly without listening. A running data centre holds its addresses and
//! locks, so these are notes, not errors.

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::net,
    path::{Path, PathBuf},
    process,
};

use config_file::Document;
use http_stack::server::{Identity, ServerCertificate};
use kv_nats::{Address, Journal};
use kv_server::Place;
use rustix::{
    fs::{Access, access},
    io::Errno,
    net::{AddressFamily, SocketType, bind, socket, sockopt},
};

use crate::{
    Error, Network,
    config::{CertificateFiles, DataCentre, LogFormat, SourcePositions},
    peers::Peers,
    telemetry::access_log::STDOUT,
};

/// A reason why a data centre cannot start.
#[derive(Debug)]
pub struct Obstacle {
    /// File, line and column of the setting; absent if it is not in the network's file.
    pub place: Option<String>,
    /// Whether the data centre can start regardless.
    pub severity: Severity,
    /// The error of `run`.
    pub error: Error,
}

/// How severe an obstacle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The data centre cannot start.
    Fatal,
    /// The data centre cannot start now: the address is in use, or belongs to another machine.
    Note,
}

/// Checks a data centre. The file is read again for the positions of its settings.
///
/// # Errors
///
/// When the file cannot be read.
pub fn obstacles(path: &Path, network: &Network, centre: &DataCentre) -> Result<Vec<Obstacle>, Error> {
    let document =
        Document::open(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let mut found = Found { places: SourcePositions::read(&document)?, centre, obstacles: Vec::new() };
    found.links(network);
    found.bus(network);
    found.handover();
    found.identity();
    found.listeners();
    found.access_log();
    found.disk();
    found.kv(network);
    found.secrets(network);
    Ok(found.obstacles)
}

struct Found<'n> {
    places: SourcePositions<'n>,
    centre: &'n DataCentre,
    obstacles: Vec<Obstacle>,
}

impl Found<'_> {
    fn add(&mut self, key: &str, error: Error) {
        let place = self.places.of_centre(&self.centre.name, key);
        self.obstacles.push(Obstacle { place, severity: Severity::Fatal, error });
    }

    fn links(&mut self, network: &Network) {
        let Err(error) = Peers::new(network, &self.centre.name, 1, None) else { return };
        let file = file_of(&error);
        let link = self.centre.link.as_ref();
        if file.is_some() && file == network.authority.as_deref() {
            let place = self.places.of_network("authority");
            self.obstacles.push(Obstacle { place, severity: Severity::Fatal, error });
        } else if link.is_some_and(|link| file == Some(link.key.as_path())) {
            self.add("link_key", error);
        } else {
            self.add("link_certificate", error);
        }
    }

    fn bus(&mut self, network: &Network) {
        let read = |address: &Address| Journal::new(address.clone(), &network.name, None);
        if let Some(Err(error)) = network.bus.as_ref().map(read) {
            let place = self.places.of_network("bus");
            self.obstacles.push(Obstacle { place, severity: Severity::Fatal, error: error.into() });
        }
    }

    fn handover(&mut self) {
        let Some(path) = &self.centre.handover else { return };
        let mut before = path.as_os_str().to_owned();
        before.push(format!(".{}", process::id()));
        let usable = net::SocketAddr::from_pathname(PathBuf::from(before)).and_then(|_| may_make(path));
        if let Err(source) = usable {
            self.add("handover", Error::Handover { path: path.clone(), source });
        }
    }

    fn identity(&mut self) {
        let centre = self.centre;
        if !centre.has_tls() {
            return;
        }
        if let Err(error) = Identity::new(&centre.tls) {
            self.add("client_ca", error.into());
        }
        let read = |files: &CertificateFiles| {
            ServerCertificate::read(&files.certificate, &files.key).map_err(Error::from)
        };
        if let Some(files) = &centre.identity
            && let Err(error) = read(files)
        {
            self.add(if file_of(&error) == Some(files.key.as_path()) { "key" } else { "certificate" }, error);
        }
        for error in centre.certificates.iter().map(read).filter_map(Result::err) {
            self.add("certificates", error);
        }
    }

    fn listeners(&mut self) {
        let centre = self.centre;
        let link: Vec<_> = centre.link.iter().map(|link| link.address).collect();
        let admin: Vec<_> = centre.admin.into_iter().collect();
        let all = [
            ("listen", &centre.listen),
            ("listen_tls", &centre.listen_tls),
            ("address", &link),
            ("kv_listen", &centre.kv_listen),
            ("kv_listen_tls", &centre.kv_listen_tls),
            ("admin", &admin),
        ];
        let mut taken = Vec::new();
        for (key, addresses) in all {
            for &address in addresses {
                let place = self.places.of_centre(&centre.name, key);
                let place = place.or_else(|| self.places.of_kv(key.strip_prefix("kv_")?));
                let is_twice = address.port() != 0 && taken.contains(&address);
                let refused = if is_twice {
                    Some((Severity::Fatal, Errno::ADDRINUSE.into()))
                } else {
                    let udp =
                        || if key == "listen_tls" { may_bind(address, SocketType::DGRAM) } else { Ok(()) };
                    may_bind(address, SocketType::STREAM)
                        .and_then(|()| udp())
                        .err()
                        .map(|error| (Severity::Note, error))
                };
                taken.push(address);
                if let Some((severity, source)) = refused {
                    self.obstacles.push(Obstacle { place, severity, error: not_listening(address, source) });
                }
            }
        }
    }

    fn access_log(&mut self) {
        let Some(path) = self.centre.access_log.as_ref().filter(|path| path.as_os_str() != STDOUT) else {
            return;
        };
        let is_kept = self.centre.access_log_format == LogFormat::Recording
            && fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() > 0);
        let usable = if is_kept { may_make(path) } else { may_open(path) };
        if let Err(source) = usable {
            self.add("access_log", Error::Log { path: path.clone(), source });
        }
    }

    fn disk(&mut self) {
        let examined =
            self.centre.disk.as_ref().map_or(Ok(()), |disk| segment_store::Store::examine(&disk.path));
        if let Err(error) = examined {
            self.add("disk", error.into());
        }
    }

    fn secrets(&mut self, network: &Network) {
        for (place, why) in network.missing_secrets() {
            let error = Error::Secret(why.to_owned());
            self.obstacles.push(Obstacle { place: Some(place.to_owned()), severity: Severity::Fatal, error });
        }
    }

    fn kv(&mut self, network: &Network) {
        let error = match network.kv.as_ref().and_then(|kv| kv.place_of(&self.centre.name)) {
            Some(Place::File(path)) => {
                may_open(path).err().map(|source| Error::Store { path: path.clone(), source })
            }
            Some(Place::Nats(address)) => {
                let read = Journal::new(address.clone(), &network.name, None);
                read.err().map(|error| kv_server::Error::from(error).into())
            }
            None => None,
        };
        if let Some(error) = error {
            let place = self.places.of_kv("store");
            self.obstacles.push(Obstacle { place, severity: Severity::Fatal, error });
        }
    }
}

fn file_of(error: &Error) -> Option<&Path> {
    match error {
        Error::Http(http_stack::Error::Identity { path, .. } | http_stack::Error::Trust { path, .. })
        | Error::Authority { path, .. } => Some(path),
        _ => None,
    }
}

fn may_open(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(Errno::ISDIR.into()),
        Ok(_) => Ok(access(path, Access::WRITE_OK)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => may_make(path),
        Err(error) => Err(error),
    }
}

fn may_make(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !fs::metadata(directory)?.is_dir() {
        return Err(Errno::NOTDIR.into());
    }
    Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

fn may_bind(address: SocketAddr, kind: SocketType) -> io::Result<()> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family, kind, None)?;
    if kind == SocketType::STREAM {
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    Ok(bind(&socket, &address)?)
}

fn not_listening(address: SocketAddr, source: io::Error) -> Error {
    Error::Http(match source.kind() {
        io::ErrorKind::AddrInUse => http_stack::Error::AddressInUse { address },
        io::ErrorKind::PermissionDenied => http_stack::Error::PortForbidden { address },
        _ => http_stack::Error::Listen { address, source },
    })
}

#[cfg(test)]
mod tests;
