//! A file that is read to its end, with an error if it is truncated meanwhile; and whether two
//! names are one file.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use crate::{
    Error,
    standard_streams::{self, is_standard},
};

/// Reading fails if the file ends before its length at opening: the data would be only the
/// beginning of a recording. A file that grows is read to its current end.
pub(crate) struct Whole {
    file: File,
    /// 0 for a pipe.
    length: u64,
    read: u64,
}

impl Whole {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let open = || {
            if is_standard(path) {
                return Ok((standard_streams::input()?, 0));
            }
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            Ok((file, if metadata.is_file() { metadata.len() } else { 0 }))
        };
        let (file, length) = open().map_err(|source| Error::Open { path: path.to_owned(), source })?;
        Ok(Self { file, length, read: 0 })
    }

    /// A pipe or a device cannot be read twice.
    pub(crate) fn is_file(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.is_file())
    }
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        if read == 0 && !buffer.is_empty() && self.read < self.length {
            let (length, read) = (self.length, self.read);
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "the file had {length} bytes when it was opened and now ends after {read}: it was truncated \
                     meanwhile; read a copy of it"
                ),
            ));
        }
        Ok(read)
    }
}

/// Whether two names refer to one file, also through hard links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    if !first.is_file() || !second.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (first.dev(), first.ino()) == (second.dev(), second.ino())
    }
    #[cfg(not(unix))]
    {
        fs::canonicalize(one).ok() == fs::canonicalize(other).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counts, Event, Metric, Options, Sink, read};

    struct Shortening<'p> {
        path: &'p Path,
        length: u64,
        events: u64,
    }

    impl Sink for Shortening<'_> {
        fn event(&mut self, _: &Event<'_>) -> Result<(), Error> {
            if self.events == 0 {
                File::options().write(true).open(self.path).unwrap().set_len(self.length).unwrap();
            }
            self.events += 1;
            Ok(())
        }

        fn values(&mut self, number: u64, metric: Metric, values_ms: &[f64]) -> Result<(), Error> {
            crate::sink::one_by_one(self, number, metric, values_ms)
        }

        fn counts(&mut self, _: &Counts) -> Result<(), Error> {
            Ok(())
        }
    }

    fn shortened_to(rows: &str, length: u64) -> Result<u64, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, rows).unwrap();
        let mut sink = Shortening { path: &path, length, events: 0 };
        let read = read(&path, &Options::default(), &mut sink);
        let said = |error: Error| format!("{error}: {}", std::error::Error::source(&error).unwrap());
        read.map(|_| sink.events).map_err(said)
    }

    #[test]
    fn a_file_that_is_shortened_is_no_shorter_recording() {
        let rows = "latency_ms\n".to_owned() + &"12.5\n".repeat(400_000);
        let length = rows.len();
        for kept in [0, 11, 5 * 100_000 + 11] {
            let said = shortened_to(&rows, kept).unwrap_err();
            assert!(said.contains(&format!("had {length} bytes when it was opened")), "{said}");
            assert!(said.contains("a.csv:") && said.contains("read a copy"), "{said}");
        }
        assert_eq!(shortened_to(&rows, length as u64), Ok(400_000));
    }

    #[test]
    fn what_is_no_file_has_no_length() {
        let mut null = Whole::open(Path::new("/dev/null")).unwrap();
        assert!(!null.is_file());
        assert_eq!(null.read(&mut [0; 8]).unwrap(), 0);
    }
}
