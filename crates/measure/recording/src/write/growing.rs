//! A recording that grows during a measurement: if it cannot continue, the measured part is kept.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::standard_streams::{self, is_standard};

/// A file of lines. If writing fails, it is truncated to its last complete line.
#[derive(Debug)]
pub struct Growing {
    file: File,
    path: PathBuf,
    written: u64,
    end: u64,
    has_failed: bool,
}

impl Growing {
    /// Creates the file, or truncates an existing one.
    ///
    /// # Errors
    /// The file system's; the caller adds the path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = if is_standard(path) { standard_streams::output()? } else { File::create(path)? };
        Ok(Self { file, path: path.to_owned(), written: 0, end: 0, has_failed: false })
    }

    fn failed(&mut self, error: &io::Error) -> io::Error {
        self.has_failed = true;
        // A pipe or a device cannot be truncated, and standard output may contain earlier data.
        let is_cut = !is_standard(&self.path) && self.file.set_len(self.end).is_ok();
        let kept = if is_cut { "; its content until then is kept, without an end line" } else { "" };
        io::Error::new(error.kind(), format!("{}: {error}{kept}", self.path.display()))
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                format!("{}: no more is written", self.path.display()),
            ));
        }
        match self.file.write(bytes) {
            Ok(length) => {
                if let Some(at) = memchr::memrchr(b'\n', &bytes[..length]) {
                    self.end = self.written + at as u64 + 1;
                }
                self.written += length as u64;
                Ok(length)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_cannot_go_on_ends_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut growing = Growing::create(&path).unwrap();
        growing.write_all(b"one\ntwo\nthr").unwrap();
        let said = growing.failed(&io::ErrorKind::StorageFull.into()).to_string();
        assert!(said.contains("a.jsonl: no storage space; its content until then is kept"), "{said}");
        assert!(growing.write_all(b"ee\n").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
