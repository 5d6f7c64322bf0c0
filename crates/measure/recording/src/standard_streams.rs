//! The path `-`: standard input when reading, standard output when writing.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd},
    path::Path,
};

/// Whether a path is `-`, standard input or output. A file with that name is `./-`.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(crate) fn shown(path: &Path) -> &Path {
    if is_standard(path) { Path::new("stdin") } else { path }
}

pub(crate) fn input() -> io::Result<File> {
    duplicate(io::stdin().as_fd())
}

pub(crate) fn output() -> io::Result<File> {
    duplicate(io::stdout().as_fd())
}

fn duplicate(descriptor: BorrowedFd<'_>) -> io::Result<File> {
    Ok(File::from(descriptor.try_clone_to_owned()?))
}
