//! Errors of planets, with remedies.

use std::{io, path::PathBuf};

use serde::{Deserialize, Serialize};
use world::Diagnostic;

/// An error of a planet.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller: the world is invalid.
    #[error(transparent)]
    World(#[from] Diagnostic),
    /// The caller: a file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The path, as given.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The caller: a planet with this name is already running.
    #[error("a planet named \"{name}\" is up already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The caller: the name of a planet is invalid.
    #[error(
        "\"{name}\" cannot be a planet's name; expected up to {longest} of a-z, A-Z, 0-9, \".\", \"_\" and \"-\""
    )]
    Name {
        /// The requested name.
        name: String,
        /// The limit.
        longest: usize,
    },
    /// The caller: no planet is running, or not the requested one.
    #[error("{}", no_planet(.wanted.as_deref(), .running))]
    NoPlanet {
        /// The requested name, if any.
        wanted: Option<String>,
        /// The running planets.
        running: Vec<String>,
    },
    /// The caller: the planet has no such host.
    #[error("no host \"{name}\" on planet \"{planet}\"; its hosts are {known}")]
    NoHost {
        /// The requested name.
        name: String,
        /// The planet.
        planet: String,
        /// Names of existing hosts.
        known: String,
    },
    /// The caller: the planet cannot execute the request.
    #[error("planet \"{planet}\": {reason}")]
    Refused {
        /// The planet.
        planet: String,
        /// The reason, as a sentence.
        reason: String,
    },
    /// The environment: an operation of the system failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// The operation and its object.
        operation: String,
        /// The capability that the operation needs and that may be missing.
        needs: Option<Needs>,
        /// The error of the system.
        source: io::Error,
    },
    /// The environment: a capture cannot be continued. Its beginning is readable.
    #[error("{path}: the capture stopped after {written} bytes: {source}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// Bytes written.
        written: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// The planet, or a process in its place, sends data that is not a capture.
    #[error("this is not a capture: {what}")]
    NoCapture {
        /// The reason, as a sentence.
        what: &'static str,
    },
    /// The environment: the program that started this process has ended.
    #[error("the program that started this process went away")]
    Abandoned,
    /// The environment: the planet's process has ended.
    #[error("planet \"{name}\" ended unexpectedly{detail}")]
    Gone {
        /// The name.
        name: String,
        /// The last error of the planet, if available.
        detail: String,
    },
}

impl Error {
    /// The remedy, if known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NameTaken { name } => Some(format!(
                "end it with: longhaul lab down --planet {name}, or give this world another name"
            )),
            Self::NoPlanet { running, .. } if running.is_empty() => {
                Some("start one with: longhaul lab up WORLD.toml --detach".to_owned())
            }
            Self::Capture { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("make room there, or keep less of each packet with a snap length".to_owned())
            }
            Self::System { needs, source, .. } => remedy(*needs, source.raw_os_error()).map(str::to_owned),
            _ => None,
        }
    }
}

/// A capability of the system that some machines do not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Creating or entering namespaces.
    Namespaces,
    /// Opening `/dev/net/tun`.
    Tun,
}

fn remedy(needs: Option<Needs>, errno: Option<i32>) -> Option<&'static str> {
    match (errno?, needs) {
        (libc::EMFILE | libc::ENFILE, _) => {
            Some("raise the limit of open files: ulimit -n 20000 (a host takes three)")
        }
        (_, Some(Needs::Tun)) => Some(TUN_REMEDY),
        (libc::ENOSPC, Some(Needs::Namespaces)) => {
            Some("raise the limits of namespaces: sysctl user.max_net_namespaces=10000")
        }
        (libc::EPERM, Some(Needs::Namespaces)) => Some(USER_NAMESPACE_REMEDY),
        _ => None,
    }
}

pub(crate) trait Doing<T> {
    /// `operation` completes the sentence "cannot ...".
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error>;

    fn doing_with(self, needs: Needs, operation: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, operation: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::System { operation: operation(), needs: None, source: source.into() })
    }

    fn doing_with(self, needs: Needs, operation: impl FnOnce() -> String) -> Result<T, Error> {
        let needs = Some(needs);
        self.map_err(|source| Error::System { operation: operation(), needs, source: source.into() })
    }
}

fn no_planet(wanted: Option<&str>, running: &[String]) -> String {
    match (wanted, running) {
        (Some(name), []) => format!("no planet named \"{name}\" is up, nor any other"),
        (Some(name), running) => format!("no planet named \"{name}\" is up; running: {}", running.join(", ")),
        (None, []) => "no planet is up".to_owned(),
        (None, running) => format!("several planets are up, pick one with --planet: {}", running.join(", ")),
    }
}

pub(crate) const TUN_REMEDY: &str = "as root: modprobe tun; chmod 0666 /dev/net/tun (the usual mode), \
     or in a container: --device /dev/net/tun";

pub(crate) const USER_NAMESPACE_REMEDY: &str = "run as root, or allow user namespaces: \
     sysctl user.max_user_namespaces=10000, on Ubuntu also sysctl kernel.apparmor_restrict_unprivileged_userns=0; \
     in a container: --cap-add SYS_ADMIN,NET_ADMIN";

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(needs: Option<Needs>, errno: i32, operation: &str) -> Error {
        Error::System { operation: operation.to_owned(), needs, source: io::Error::from_raw_os_error(errno) }
    }

    #[test]
    fn the_remedy_follows_from_what_was_needed_and_not_from_the_words() {
        let file = failed(None, libc::ENOSPC, "write the log of the program \"namespace\"");
        assert_eq!(file.hint(), None, "a full disk is not short of namespaces");
        let named_so = failed(None, libc::EPERM, "open namespace.log");
        assert_eq!(named_so.hint(), None);
        let full = failed(Some(Needs::Namespaces), libc::ENOSPC, "make a network namespace for a");
        assert!(full.hint().unwrap().contains("max_net_namespaces"));
        let refused = failed(Some(Needs::Namespaces), libc::EPERM, "make a user namespace");
        assert_eq!(refused.hint().as_deref(), Some(USER_NAMESPACE_REMEDY));
        let tun = failed(Some(Needs::Tun), libc::EACCES, "open /dev/net/tun for a");
        assert_eq!(tun.hint().as_deref(), Some(TUN_REMEDY));
        let files = failed(Some(Needs::Tun), libc::EMFILE, "open /dev/net/tun for a");
        assert!(files.hint().unwrap().contains("ulimit -n"));
    }
}
