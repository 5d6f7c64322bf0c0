//! Access from the machine to a host's folder `/srv/HOST`, and to folders of the machine.
//!
//! The kernel resolves every path below the folder (openat2(2), `RESOLVE_BENEATH`), because a link
//! of a program on a planet could lead to the machine's files.

use std::{
    ffi::OsString,
    fs::{File, Permissions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use nix::{
    fcntl::{OFlag, OpenHow, ResolveFlag, openat2, readlinkat},
    sys::stat::{Mode, mkdirat},
    unistd::{UnlinkatFlags, symlinkat, unlinkat},
};

use crate::{
    control::Planet,
    error::{Doing, Error},
    host_files::FOLDERS,
};

/// An open folder. Paths are relative to it and cannot leave it.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
}

/// A directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File {
        /// Its length.
        bytes: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link, with its target.
    Link(PathBuf),
    /// A device, pipe or socket.
    Other,
}

/// Treatment of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Use the target of the link.
    Follow,
    /// Use the link itself.
    Keep,
}

impl Planet {
    /// The folder of a host, `/srv/HOST` on the planet.
    pub fn folder(&self, host: &str) -> Result<Folder, Error> {
        self.locate(host)?;
        let path = self.path(FOLDERS).join(host);
        Folder::open(&path).doing(|| {
            format!(
                "open {FOLDERS}/{host} on planet \"{}\" (the machine must have a folder {FOLDERS})",
                self.name()
            )
        })
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.pid()))
    }
}

impl Folder {
    /// Opens a folder of the machine.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        Ok(Self { root: nix::fcntl::open(path, flags, Mode::empty())? })
    }

    /// An error of kind `NotFound` if the entry does not exist.
    pub fn entry(&self, path: &Path, links: Links) -> io::Result<Entry> {
        let keep = if links == Links::Keep { OFlag::O_NOFOLLOW } else { OFlag::empty() };
        let file = File::from(self.resolve(path, OFlag::O_PATH | keep, 0)?);
        let found = file.metadata()?;
        let mode = found.mode() & PERMISSIONS;
        Ok(match found.file_type() {
            kind if kind.is_file() => Entry::File { bytes: found.len(), mode },
            kind if kind.is_dir() => Entry::Folder { mode },
            kind if kind.is_symlink() => Entry::Link(readlinkat(&file, "")?.into()),
            _ => Entry::Other,
        })
    }

    /// Opens a file for reading. Does not block on a pipe.
    pub fn read(&self, path: &Path) -> io::Result<File> {
        self.resolve(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK, 0).map(File::from)
    }

    /// Creates or truncates a file for writing.
    pub fn write(&self, path: &Path) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC | OFlag::O_NONBLOCK;
        self.resolve(path, flags, 0o600).map(File::from)
    }

    /// Creates a folder.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(mkdirat(&parent, name.as_os_str(), Mode::S_IRWXU)?)
    }

    /// Creates a symbolic link, or replaces an existing one.
    pub fn make_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        if matches!(self.entry(path, Links::Keep), Ok(Entry::Link(_))) {
            self.remove(path)?;
        }
        let (parent, name) = self.parent(path)?;
        Ok(symlinkat(target, &parent, name.as_os_str())?)
    }

    /// Removes a file or a link.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(unlinkat(&parent, name.as_os_str(), UnlinkatFlags::NoRemoveDir)?)
    }

    /// Sets the permission bits of a file or folder.
    pub fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.read(path)?.set_permissions(Permissions::from_mode(mode & PERMISSIONS))
    }

    /// The names in a folder, sorted.
    pub fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let folder = self.resolve(path, OFlag::O_PATH | OFlag::O_DIRECTORY, 0)?;
        let entries = std::fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
        let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn parent(&self, path: &Path) -> io::Result<(OwnedFd, OsString)> {
        let name = path.file_name().ok_or(io::ErrorKind::AlreadyExists)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok((self.resolve(parent, OFlag::O_PATH | OFlag::O_DIRECTORY, 0)?, name.to_owned()))
    }

    fn resolve(&self, path: &Path, flags: OFlag, mode: u32) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let how = OpenHow::new()
            .flags(flags | OFlag::O_CLOEXEC)
            .mode(Mode::from_bits_truncate(mode))
            .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        Ok(openat2(&self.root, path, how)?)
    }
}

const PERMISSIONS: u32 = 0o777;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out_of_a_folder() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(outside.path().join("inside")).unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let folder = Folder::open(&outside.path().join("inside")).unwrap();
        folder.make_link(Path::new("up"), Path::new("../secret")).unwrap();
        folder.make_link(Path::new("away"), &outside.path().join("secret")).unwrap();
        for path in ["../secret", "/etc/passwd", "up", "away"] {
            let path = Path::new(path);
            for refused in [folder.read(path), folder.write(path)] {
                assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EXDEV), "{}", path.display());
            }
        }
        assert_eq!(
            folder.entry(Path::new("up"), Links::Keep).unwrap(),
            Entry::Link(PathBuf::from("../secret"))
        );
        assert_eq!(folder.list(Path::new("")).unwrap(), ["away", "up"]);
    }

    #[test]
    fn what_is_made_can_be_read_back() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let (sub, file) = (Path::new("sub"), Path::new("sub/file"));
        folder.make_folder(sub).unwrap();
        io::Write::write_all(&mut folder.write(file).unwrap(), b"four").unwrap();
        folder.set_mode(file, 0o4751).unwrap();
        assert_eq!(folder.entry(file, Links::Keep).unwrap(), Entry::File { bytes: 4, mode: 0o751 });
        assert_eq!(folder.entry(sub, Links::Keep).unwrap(), Entry::Folder { mode: 0o700 });
        assert_eq!(folder.make_folder(sub).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let missing = folder.entry(Path::new("sub/other"), Links::Follow).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
