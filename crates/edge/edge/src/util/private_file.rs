//! Atomic replacement of a file with restricted permissions.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use ring::rand::{SecureRandom as _, SystemRandom};

/// Writes a file next to `path` and renames it, so that readers see the old or the new contents.
/// Several processes may do this for one path, also on other machines that share the directory.
pub(crate) fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut random = [0; 8];
    SystemRandom::new().fill(&mut random).map_err(|_| io::Error::other("no random numbers are available"))?;
    let new = path.with_extension(format!("{:016x}.new", u64::from_ne_bytes(random)));
    let written = write_new(&new, text, mode).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
