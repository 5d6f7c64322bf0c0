//! File of an access log, with rotation.

use std::{
    fs, io,
    io::Write as _,
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use http_stack::clock;
use recording::{End, Header, SCHEMA};

use crate::config::LogFormat;

pub(super) struct LogFile {
    path: PathBuf,
    /// Only recordings have a header and an end.
    header: Option<Header>,
    file: fs::File,
    length: u64,
}

impl LogFile {
    pub(super) fn create(path: &Path, format: LogFormat, centre: &str) -> io::Result<Self> {
        match format {
            LogFormat::Recording => Self::with(path, Some(header(centre))),
            LogFormat::Combined => Self::with(path, None),
        }
    }

    fn with(path: &Path, header: Option<Header>) -> io::Result<Self> {
        let (file, length) = match &header {
            _ if path.as_os_str() == STDOUT => {
                (fs::File::from(io::stdout().as_fd().try_clone_to_owned()?), 0)
            }
            Some(_) => (Self::new_file(path)?, 0),
            None => {
                let file = fs::OpenOptions::new().append(true).create(true).open(path)?;
                let length = file.metadata()?.len();
                (file, length)
            }
        };
        let mut log = Self { path: path.to_owned(), header, file, length };
        if let Some(header) = log.header.clone() {
            log.line(&header)?;
        }
        Ok(log)
    }

    /// Renames the recording of an earlier process.
    fn new_file(path: &Path) -> io::Result<fs::File> {
        if fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() > 0) {
            fs::rename(path, dated_name(path))?;
        }
        fs::File::create(path)
    }

    pub(super) fn rotate(&self) -> io::Result<Option<Self>> {
        if self.path.as_os_str() == STDOUT {
            return Ok(None);
        }
        let own = self.file.metadata()?;
        let metadata = fs::metadata(&self.path);
        if metadata.is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (own.dev(), own.ino())) {
            return Ok(None);
        }
        Self::with(&self.path, self.header.clone()).map(Some)
    }

    /// On an error, truncates the file to the previous length.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(lines) {
            // A pipe cannot be truncated: its reader receives a partial line.
            let _ = self.file.set_len(self.length);
            let _ = io::Seek::seek(&mut self.file, io::SeekFrom::Start(self.length));
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    pub(super) fn end(&mut self, end: &End) -> io::Result<()> {
        if self.header.is_none() {
            return Ok(());
        }
        self.line(&serde_json::json!({ "end": end }))
    }

    fn line(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.append(&line)
    }
}

/// Times in all files of a log are relative to the start of the log.
fn header(centre: &str) -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        tool: "longhaul edge".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: "monotonic".to_owned(),
        start: Some(clock::wall()),
        conditions: [("data_centre".to_owned(), centre.to_owned())].into(),
        ..Header::default()
    }
}

/// The new name of `access.jsonl` is `access.2026-11-24T03-34-12.123Z.jsonl`.
fn dated_name(path: &Path) -> PathBuf {
    let now = clock::wall().replace(':', "-");
    let extension = path.extension().map_or_else(String::new, |end| format!(".{}", end.to_string_lossy()));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{now}{extension}"))
}

/// The path that means standard output.
pub(crate) const STDOUT: &str = "-";
