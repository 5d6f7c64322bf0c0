//! The programs that run in the background of a planet: what they are, how they ended, and what they have printed.
//!
//! Each has a number, a record `/srv/.programs/N.json` and a log `/srv/HOST/log/N.log`, written by who watches it
//! ([`crate::detach`]). Both are files of the planet, and so are gone with it.

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
    furnish::{FOLDERS, RECORDS},
    status::{End, Overview, Program},
};

/// What is noted of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub host: String,
    pub command: Vec<String>,
    /// On the machine's monotonic clock.
    pub started: Duration,
    /// When and how it ended.
    pub ended: Option<(Duration, End)>,
}

impl Planet {
    /// The programs that were started in the background, in order.
    pub fn programs(&self) -> Result<Vec<Program>, Error> {
        let doing = || format!("look for the programs of planet \"{}\"", self.name());
        let now = monotonic();
        let mut programs = Vec::new();
        let numbers = match numbers(&self.path(RECORDS)) {
            // On a machine without a folder for them no program can have been started.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            numbers => numbers.doing(doing)?,
        };
        for number in numbers {
            programs.extend(self.program(number, now).doing(doing)?);
        }
        Ok(programs)
    }

    /// How it is, and what runs in its background.
    pub fn overview(&self) -> Result<Overview, Error> {
        Ok(Overview { status: self.status()?, programs: self.programs()? })
    }

    /// A program by its number, if there is one.
    fn program(&self, number: u64, now: Duration) -> io::Result<Option<Program>> {
        let mut text = Vec::new();
        let record = File::open(self.path(&record_path(number)))?;
        record.take(LONGEST_RECORD).read_to_end(&mut text)?;
        // It is empty between the moment its number is taken and the moment it is written.
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
            // Who watches it holds the lock as long as it lives.
            program.end = Some(End::Unseen);
        }
        Ok(Some(program))
    }

    /// What a program has printed and will.
    pub fn log(&self, program: &Program) -> Result<Log, Error> {
        let file = self.open_log(program).doing(|| format!("open the log of program {}", program.number))?;
        Ok(Log { file, offset: 0 })
    }

    fn open_log(&self, program: &Program) -> io::Result<File> {
        File::open(self.path(&log_path(&program.host, program.number)))
    }

    /// Watches for new programs, and for news of those that are [followed](News::follow).
    pub fn news(&self) -> Result<News, Error> {
        let watch = || {
            let notices = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
            // A record is written under another name first.
            notices.add_watch(&self.path(RECORDS), AddWatchFlags::IN_MOVED_TO)?;
            nix::Result::Ok(notices)
        };
        let notices = watch().doing(|| format!("watch the programs of planet \"{}\"", self.name()))?;
        Ok(News { notices, planet: self.clone() })
    }
}

/// What a program has printed: standard output and error, as they came.
#[derive(Debug)]
pub struct Log {
    file: File,
    offset: u64,
}

/// A piece of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// So many bytes were put into the buffer; 0: there are no more yet.
    Text(usize),
    /// So many bytes are gone: a log keeps its end only.
    Gone(u64),
}

impl Log {
    /// Reads on where the last call has stopped.
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

/// Is readable when there is something new to see.
#[derive(Debug)]
pub struct News {
    notices: Inotify,
    planet: Planet,
}

impl News {
    /// Watches the log of this program too. To be called before it is read, and as often as one likes.
    pub fn follow(&self, program: &Program) -> Result<(), Error> {
        let path = self.planet.path(&log_path(&program.host, program.number));
        let watch = self.notices.add_watch(&path, AddWatchFlags::IN_MODIFY);
        watch.map(drop).doing(|| format!("watch the log of program {}", program.number))
    }

    /// Takes note, so that only what is new from here on makes it readable again.
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

/// The numbers in use, in order.
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

/// How much of a log is kept.
pub(crate) const KEPT: u64 = 16 << 20;

/// A command line has up to 2 MiB, which JSON may make six times as long.
const LONGEST_RECORD: u64 = 16 << 20;
