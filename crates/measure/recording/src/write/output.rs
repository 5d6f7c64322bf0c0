//! A file that appears under its name only when it is complete; packed if its name requires that.

use std::{
    ffi::OsString,
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::{
    Error,
    standard_streams::{self, is_standard},
};

pub(super) struct Output {
    packer: Packer,
    /// `None` if the destination is not a file, such as a pipe.
    part: Option<Part>,
}

/// Removed if it is dropped before it is complete.
struct Part {
    part: PathBuf,
    path: PathBuf,
}

impl Part {
    /// `None` if `path` is not a file and cannot be replaced by one.
    fn create(path: &Path) -> io::Result<Option<(Self, File)>> {
        let Some((part, path)) = names(path)? else { return Ok(None) };
        let present = fs::metadata(&path).ok();
        let file = if present.is_some() { create_private(&part)? } else { File::create(&part)? };
        // From here on it is removed where something fails.
        let created = Self { part, path };
        if let Some(present) = present {
            file.set_permissions(present.permissions())?;
        }
        Ok(Some((created, file)))
    }

    fn complete(self) -> io::Result<()> {
        fs::rename(&self.part, &self.path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // The error cannot be reported, and the remaining file has a temporary name.
        let _ = fs::remove_file(&self.part);
    }
}

enum Packer {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Zstd(Frames<BufWriter<File>>),
    Done,
}

impl Output {
    /// In the folder of `path`; or `path` itself, if it is not a file and cannot be replaced by
    /// one.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_owned(), source };
        let (part, file) = match Part::create(path).map_err(failed)? {
            None if is_standard(path) => (None, standard_streams::output().map_err(failed)?),
            None => (None, File::options().write(true).open(path).map_err(failed)?),
            Some((part, file)) => (Some(part), file),
        };
        let file = BufWriter::with_capacity(BUFFER, file);
        let packer = match packing(path).1 {
            Packing::Gzip => Packer::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
            Packing::Zstd => Packer::Zstd(Frames { output: file, plain: Vec::new() }),
            Packing::None => Packer::Plain(file),
        };
        Ok(Self { packer, part })
    }

    /// `line` is how many lines the file has, for messages.
    pub(super) fn finish(mut self, line: u64) -> Result<(), Error> {
        let failed = |source| Error::Write { path: None, line, source };
        let mut file = match std::mem::replace(&mut self.packer, Packer::Done) {
            Packer::Plain(file) => file,
            Packer::Gzip(packer) => packer.finish().map_err(failed)?,
            Packer::Zstd(frames) => frames.finish().map_err(failed)?,
            Packer::Done => return Ok(()),
        };
        file.flush().map_err(failed)?;
        self.part.take().map_or(Ok(()), Part::complete).map_err(failed)
    }
}

/// Writes a file that is not a recording atomically: on an error the previous file is unchanged. A
/// destination that is not a file is written directly.
///
/// # Errors
/// The file system's; the caller adds the path.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_by(path, |file| file.write_all(content))
}

/// Like [`write_whole`], for content that `write` generates; returns its result.
///
/// # Errors
/// The file system's, and those of `write`.
pub fn write_whole_by<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let Some((part, mut file)) = Part::create(path)? else {
        return write(&mut File::options().write(true).open(path)?);
    };
    let said = write(&mut file)?;
    // Some file systems only now find out that there is no room; and after a power failure the name
    // must not be that of an empty file.
    file.sync_all()?;
    part.complete()?;
    Ok(said)
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
            // The end of the file ends the last frame.
            Packer::Zstd(_) | Packer::Done => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// The name in small letters, without the ending for its packing.
pub(super) fn packing(path: &Path) -> (String, Packing) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    for (ending, packing) in [(".gz", Packing::Gzip), (".zst", Packing::Zstd)] {
        if let Some(plain) = name.strip_suffix(ending) {
            return (plain.to_owned(), packing);
        }
    }
    (name, Packing::None)
}

/// The temporary files of this process while it writes `output`, for a caller that ends the process
/// immediately: first the file that becomes `output`. Empty for a destination that is written
/// directly.
pub fn temporaries_of(output: &Path) -> Vec<PathBuf> {
    let part = names(output).ok().flatten().map(|(part, _)| part);
    part.into_iter().flat_map(|part| [Some(part), beside(output, ROWS).ok()]).flatten().collect()
}

/// Suffix of a file that is unlinked as soon as it is open.
pub(super) const ROWS: &str = "rows";

/// The temporary name and the final name; `None` if the destination is not to be replaced by a
/// file.
fn names(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let is_special = |present: fs::Metadata| !present.is_file() && !present.is_dir();
    // /dev/stdout may be a file, but one that another process has opened.
    let is_device = path.starts_with("/dev") || path.starts_with("/proc");
    if is_standard(path) || is_device || fs::metadata(path).is_ok_and(is_special) {
        return Ok(None);
    }
    // The file that a link leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    Ok(Some((beside(&path, "part")?, path)))
}

pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// No other process writes to the name. A part stands for a name that would be too long.
pub(super) fn beside(path: &Path, extension: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let ending = format!(".{}.{extension}", std::process::id());
    let room = LONGEST_NAME - ".".len() - ending.len();
    let mut hidden = OsString::from(".");
    if name.len() <= room {
        hidden.push(name);
    } else {
        // Names that begin alike stay apart.
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let hash = format!("~{:016x}", hasher.finish());
        let mut short = name.to_string_lossy().into_owned();
        let mut length = room - hash.len();
        while !short.is_char_boundary(length) {
            length -= 1;
        }
        short.truncate(length);
        hidden.push(short + &hash);
    }
    hidden.push(ending);
    Ok(path.with_file_name(hidden))
}

/// One frame for each piece of text, because the compressor accepts only whole inputs.
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

/// What Linux and most of its file systems take, bytes.
const LONGEST_NAME: usize = 255;

/// System calls do not count from here on.
const BUFFER: usize = 256 << 10;

/// Frames begin without memory of the last, which costs a few kilobytes each.
const FRAME: usize = 4 << 20;

#[cfg(test)]
mod tests;
