//! A file that appears under its name only when it is whole; packed if its name says so.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::Error;

/// Where a recording is written to.
pub(super) struct Output {
    packer: Packer,
    /// The name while it is written and the name in the end; `None` for what is no file, such as a pipe.
    names: Option<(PathBuf, PathBuf)>,
}

enum Packer {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Zstd(Frames<BufWriter<File>>),
    /// Finished.
    Done,
}

impl Output {
    /// A file beside `path`; or what `path` is, if that is no file and cannot be replaced by one.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_owned(), source };
        let is_special = |present: fs::Metadata| !present.is_file() && !present.is_dir();
        // /dev/stdout may be a file, but one that somebody else has opened.
        let is_device = path.starts_with("/dev") || path.starts_with("/proc");
        let (file, names) = if is_device || fs::metadata(path).is_ok_and(is_special) {
            (File::options().write(true).open(path).map_err(failed)?, None)
        } else {
            // The file that a link leads to is replaced, not the link.
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let part = beside(&path, "part").map_err(failed)?;
            (File::create(&part).map_err(failed)?, Some((part, path)))
        };
        let file = BufWriter::with_capacity(BUFFER, file);
        let packer = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Packer::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
            Some("zst") => Packer::Zstd(Frames { output: file, plain: Vec::new() }),
            _ => Packer::Plain(file),
        };
        Ok(Self { packer, names })
    }

    /// Completes the file and gives it its name. `line` is how many lines it has, for messages.
    pub(super) fn finish(mut self, line: u64) -> Result<(), Error> {
        let failed = |source| Error::Write { line, source };
        let mut file = match std::mem::replace(&mut self.packer, Packer::Done) {
            Packer::Plain(file) => file,
            Packer::Gzip(packer) => packer.finish().map_err(failed)?,
            Packer::Zstd(frames) => frames.finish().map_err(failed)?,
            Packer::Done => return Ok(()),
        };
        file.flush().map_err(failed)?;
        if let Some((part, path)) = &self.names {
            fs::rename(part, path).map_err(failed)?;
            self.names = None;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packer {
            Packer::Plain(file) => file.write(bytes),
            Packer::Gzip(packer) => packer.write(bytes),
            Packer::Zstd(frames) => frames.write(bytes),
            Packer::Done => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.packer {
            Packer::Plain(file) => file.flush(),
            Packer::Gzip(packer) => packer.flush(),
            // A frame that ends early packs badly; the end of the file ends the last.
            Packer::Zstd(_) | Packer::Done => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.names {
            // Nobody can be told, and what remains is named as what it is.
            let _ = fs::remove_file(part);
        }
    }
}

/// A name in the same folder that no other process writes to.
pub(super) fn beside(path: &Path, extension: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.{extension}", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Packs with zstd, one frame for so much text: the packer takes only whole inputs.
struct Frames<W> {
    output: W,
    plain: Vec<u8>,
}

impl<W: Write> Frames<W> {
    fn pack(&mut self) -> io::Result<()> {
        if !self.plain.is_empty() {
            self.output.write_all(&compress_to_vec(self.plain.as_slice(), CompressionLevel::Fastest))?;
            self.plain.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.pack()?;
        Ok(self.output)
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.plain.len());
        self.plain.extend_from_slice(&bytes[..taken]);
        if self.plain.len() == FRAME {
            self.pack()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pack()?;
        self.output.flush()
    }
}

/// System calls do not count from here on.
const BUFFER: usize = 256 << 10;

/// Frames begin without memory of the last, which costs a few kilobytes each.
const FRAME: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_name_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "before").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"after").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("before", 2));
        output.finish(1).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("after", 1));
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::create(&folder.path().join("a.csv.gz")).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(names(folder.path()), [""; 0]);
        let missing = folder.path().join("no/such/a.csv");
        assert!(matches!(Output::create(&missing), Err(Error::Open { path, .. }) if path == missing));
        assert!(Output::create(Path::new("/")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"after").unwrap();
        output.finish(1).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        output.write_all(b"gone").unwrap();
        output.finish(1).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn long_files_are_several_frames() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zst");
        let text: Vec<u8> =
            (0..1_500_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        assert!(text.len() > 2 * FRAME);
        let mut output = Output::create(&path).unwrap();
        output.write_all(&text).unwrap();
        output.finish(1).unwrap();
        let packed = fs::read(&path).unwrap();
        assert!(packed.len() < text.len() / 2);
        let (mut rest, mut unpacked, mut frames) = (packed.as_slice(), Vec::new(), 0);
        while !rest.is_empty() {
            let mut frame = ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap();
            io::Read::read_to_end(&mut frame, &mut unpacked).unwrap();
            frames += 1;
        }
        assert_eq!((unpacked == text, frames), (true, text.len().div_ceil(FRAME)));
    }
}
