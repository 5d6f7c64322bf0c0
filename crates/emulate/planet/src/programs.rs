//! Background programs of a planet: their records, exit statuses and logs.
//!
//! Each has a record `/srv/.programs/N.json` and a log `/srv/HOST/log/N.log`, written by its
//! watcher ([`crate::detach`]).

use std::{
    fs::File,
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{FileExt, MetadataExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
    sys::inotify::{AddWatchFlags, InitFlags, Inotify},
};
use serde::{Deserialize, Serialize};

use crate::{
    clock::monotonic,
    control::Planet,
    error::{Doing, Error},
    host_files::{FOLDERS, RECORDS},
    status::{End, Overview, Program},
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub host: String,
    pub command: Vec<String>,
    pub started: Duration,
    pub ended: Option<(Duration, End)>,
}

impl Planet {
    /// The background programs, by number.
    pub fn programs(&self) -> Result<Vec<Program>, Error> {
        let doing = || format!("look for the programs of planet \"{}\"", self.name());
        let now = monotonic();
        let mut programs = Vec::new();
        let numbers = match numbers(&self.path(RECORDS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            numbers => numbers.doing(doing)?,
        };
        for number in numbers {
            programs.extend(self.program(number, now).doing(doing)?);
        }
        Ok(programs)
    }

    /// The status of the planet, and its background programs.
    pub fn overview(&self) -> Result<Overview, Error> {
        Ok(Overview { status: self.status()?, programs: self.programs()? })
    }

    fn program(&self, number: u64, now: Duration) -> io::Result<Option<Program>> {
        let mut text = Vec::new();
        let record = File::open(self.path(&record_path(number)))?;
        record.take(LONGEST_RECORD).read_to_end(&mut text)?;
        // The record is empty between its creation and its first write.
        let Ok(record) = serde_json::from_slice::<Record>(&text) else { return Ok(None) };
        let mut program = Program {
            number,
            host: record.host,
            command: record.command,
            ran_s: now.saturating_sub(record.started).as_secs_f64(),
            end: None,
        };
        if let Some((when, end)) = record.ended {
            program.ran_s = when.saturating_sub(record.started).as_secs_f64();
            program.end = Some(end);
        } else if Flock::lock(self.open_log(&program)?, FlockArg::LockSharedNonblock).is_ok() {
            // The watcher holds the lock as long as it runs.
            program.end = Some(End::Unseen);
        }
        Ok(Some(program))
    }

    /// The log of a program, which may still grow.
    pub fn log(&self, program: &Program) -> Result<Log, Error> {
        let file = self.open_log(program).doing(|| format!("open the log of program {}", program.number))?;
        Ok(Log { file, offset: 0 })
    }

    fn open_log(&self, program: &Program) -> io::Result<File> {
        File::open(self.path(&log_path(&program.host, program.number)))
    }

    /// Watches for new programs, and for new output of [followed](News::follow) programs.
    pub fn news(&self) -> Result<News, Error> {
        let watch = || {
            let notices = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
            // A record is written to a temporary file and renamed.
            notices.add_watch(&self.path(RECORDS), AddWatchFlags::IN_MOVED_TO)?;
            nix::Result::Ok(notices)
        };
        let notices = watch().doing(|| format!("watch the programs of planet \"{}\"", self.name()))?;
        Ok(News { notices, planet: self.clone() })
    }
}

/// The output of a program: interleaved standard output and error.
#[derive(Debug)]
pub struct Log {
    file: File,
    offset: u64,
}

/// A part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Bytes read into the buffer; 0 at the current end of the log.
    Text(usize),
    /// Discarded bytes: a log keeps its end only.
    Gone(u64),
}

impl Log {
    /// Continues at the position of the last call.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Piece> {
        let kept_from = self.file.metadata()?.size().saturating_sub(KEPT);
        if self.offset < kept_from {
            let gone = kept_from - self.offset;
            self.offset = kept_from;
            return Ok(Piece::Gone(gone));
        }
        let length = self.file.read_at(buffer, self.offset)?;
        self.offset += length as u64;
        Ok(Piece::Text(length))
    }
}

/// A descriptor that is readable when there are changes.
#[derive(Debug)]
pub struct News {
    notices: Inotify,
    planet: Planet,
}

impl News {
    /// Also watches the log of this program. Call it before the log is read.
    pub fn follow(&self, program: &Program) -> Result<(), Error> {
        let path = self.planet.path(&log_path(&program.host, program.number));
        let watch = self.notices.add_watch(&path, AddWatchFlags::IN_MODIFY);
        watch.map(drop).doing(|| format!("watch the log of program {}", program.number))
    }

    /// Consumes the pending notifications.
    pub fn take(&self) -> Result<(), Error> {
        loop {
            match self.notices.read_events() {
                Ok(_) => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error).doing(|| "watch programs".to_owned()),
            }
        }
    }
}

impl AsFd for News {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notices.as_fd()
    }
}

pub(crate) fn numbers(records: &Path) -> io::Result<Vec<u64>> {
    let number = |entry: io::Result<std::fs::DirEntry>| {
        let name = PathBuf::from(entry.ok()?.file_name());
        let is_record = name.extension().is_some_and(|extension| extension == "json");
        is_record.then(|| name.file_stem()?.to_str()?.parse().ok())?
    };
    let mut numbers: Vec<_> = std::fs::read_dir(records)?.filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

pub(crate) fn record_path(number: u64) -> String {
    format!("{RECORDS}/{number}.json")
}

pub(crate) fn log_path(host: &str, number: u64) -> String {
    format!("{FOLDERS}/{host}/log/{number}.log")
}

pub(crate) const KEPT: u64 = 16 << 20;

const LONGEST_RECORD: u64 = 16 << 20;
