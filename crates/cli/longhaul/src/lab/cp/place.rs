//! A source or destination of a copy: a path on the machine, or a path below a host's folder.

use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use nix::errno::Errno;
use planet::{Entry, Folder, Links, Planet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spot {
    Machine(PathBuf),
    Host { host: String, path: PathBuf },
}

impl From<OsString> for Spot {
    /// `HOST:PATH`, unless a `/` precedes the colon.
    fn from(text: OsString) -> Self {
        let bytes = text.as_bytes();
        let split = bytes.iter().position(|byte| matches!(byte, b':' | b'/')).filter(|at| bytes[*at] == b':');
        match split.map(|at| (std::str::from_utf8(&bytes[..at]), &bytes[at + 1..])) {
            Some((Ok(host), path)) if !host.is_empty() => {
                Self::Host { host: host.to_owned(), path: OsStr::from_bytes(path).into() }
            }
            _ => Self::Machine(text.into()),
        }
    }
}

impl Spot {
    pub(super) fn is_on_planet(&self) -> bool {
        matches!(self, Self::Host { .. })
    }

    /// The user marked the path as a folder.
    fn ends_in_slash(&self) -> bool {
        let (Self::Machine(path) | Self::Host { path, .. }) = self;
        path.as_os_str().as_bytes().ends_with(b"/")
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(path) => write!(f, "{}", path.display()),
            Self::Host { host, path } => write!(f, "{host}:{}", path.display()),
        }
    }
}

pub(super) struct Place {
    pub folder: Folder,
    pub path: PathBuf,
    pub name: OsString,
    pub is_folder: bool,
    base: Spot,
}

impl Place {
    /// The source must exist.
    pub(super) fn source(planet: &Planet, spot: &Spot) -> anyhow::Result<Self> {
        let path = match spot {
            Spot::Host { .. } => return Self::on_planet(planet, spot),
            // Keep the given name, except for names such as "..", and follow a symbolic link.
            Spot::Machine(path) => path,
        };
        let found = path.canonicalize().with_context(|| format!("{spot}: cannot be read"))?;
        let real_name = found.file_name().with_context(|| format!("{spot}: cannot be copied as a whole"))?;
        let name = path.file_name().unwrap_or(real_name).to_owned();
        let mut place = Self::on_machine(&found)?;
        place.name = name;
        Ok(place)
    }

    /// The destination may be missing, but its parent folder must exist.
    pub(super) fn destination(planet: &Planet, spot: &Spot) -> anyhow::Result<Self> {
        let mut place = match spot {
            Spot::Host { .. } => Self::on_planet(planet, spot)?,
            Spot::Machine(path) => Self::on_machine(path)?,
        };
        let found = match place.folder.entry(&place.path, Links::Follow) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && spot.ends_in_slash() => {
                place.check(&place.path, place.folder.make_folder(&place.path))?;
                Some(Entry::Folder { mode: 0 })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(place.check(&place.path, other)?),
        };
        place.is_folder = matches!(found, Some(Entry::Folder { .. }));
        if spot.ends_in_slash() && !place.is_folder {
            bail!("{spot}: not a folder");
        }
        Ok(place)
    }

    fn on_planet(planet: &Planet, spot: &Spot) -> anyhow::Result<Self> {
        let Spot::Host { host, path } = spot else { bail!("{spot}: not on a planet") };
        let path = below(host, path).with_context(|| spot.to_string())?;
        Ok(Self {
            folder: planet.folder(host)?,
            name: path.file_name().unwrap_or(OsStr::new(host)).to_owned(),
            path,
            is_folder: false,
            base: Spot::Host { host: host.clone(), path: PathBuf::new() },
        })
    }

    fn on_machine(path: &Path) -> anyhow::Result<Self> {
        let (base, name) = match path.file_name() {
            Some(name) if !path.is_dir() => (path.parent().unwrap_or(Path::new("")), name),
            _ => (path, OsStr::new("")),
        };
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        let folder = Folder::open(base).with_context(|| format!("{}: cannot be opened", base.display()))?;
        Ok(Self {
            folder,
            path: name.into(),
            name: name.to_owned(),
            is_folder: false,
            base: Spot::Machine(base.to_owned()),
        })
    }

    pub(super) fn show(&self, path: &Path) -> String {
        match &self.base {
            // Without a "./" or a "/" that the user did not write.
            Spot::Machine(base) if base == Path::new(".") => path.display().to_string(),
            Spot::Machine(base) if path.as_os_str().is_empty() => base.display().to_string(),
            Spot::Machine(base) => base.join(path).display().to_string(),
            Spot::Host { host, .. } => format!("{host}:{}", path.display()),
        }
    }

    /// Adds the path and a remedy to an error.
    pub(super) fn check<T>(&self, path: &Path, result: io::Result<T>) -> anyhow::Result<T> {
        result.map_err(|error| {
            let shown = self.show(path);
            match &self.base {
                _ if error.raw_os_error() == Some(Errno::EXDEV as i32) => {
                    anyhow!("{shown}: it leads out of the folder, and is not followed")
                }
                Spot::Host { .. } if error.kind() == io::ErrorKind::StorageFull => anyhow!(
                    "{shown}: no room left; the folders of all hosts share a quarter of the machine's memory, \
                     so remove what is not needed there"
                ),
                _ => anyhow!("{shown}: {error}"),
            }
        })
    }
}

fn below(host: &str, path: &Path) -> anyhow::Result<PathBuf> {
    let own = Path::new("/srv").join(host);
    let relative = match path.strip_prefix(&own) {
        Ok(relative) => relative,
        Err(_) if path.is_absolute() => bail!(
            "paths of a host are below its folder {}; the rest of the file system is this machine's",
            own.display()
        ),
        Err(_) => path,
    };
    let mut plain = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            _ => bail!("\"..\" may lead out of the host's folder {}", own.display()),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(text: &str) -> Spot {
        OsString::from(text).into()
    }

    #[test]
    fn a_colon_before_any_slash_makes_a_host() {
        let on_host = |host: &str, path: &str| Spot::Host { host: host.to_owned(), path: path.into() };
        assert_eq!(spot("origin:"), on_host("origin", ""));
        assert_eq!(spot("origin:a:b/c"), on_host("origin", "a:b/c"));
        for path in ["./a:b", "/tmp/a:b", ":a", "file"] {
            assert_eq!(spot(path), Spot::Machine(path.into()));
        }
    }

    #[test]
    fn paths_stay_below_the_folder_of_the_host() {
        for (path, expected) in
            [("", ""), ("a/./b/", "a/b"), ("/srv/origin", ""), ("/srv/origin/www", "www"), ("srv", "srv")]
        {
            assert_eq!(below("origin", Path::new(path)).unwrap(), Path::new(expected), "{path}");
        }
        for path in ["..", "a/../b", "/etc/passwd", "/srv/visitor/a", "/srv/origin/../visitor"] {
            below("origin", Path::new(path)).unwrap_err();
        }
    }
}
